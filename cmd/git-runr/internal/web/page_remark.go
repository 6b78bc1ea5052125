package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// remark is a finding, a comment or a draft comment as the page shows it.
type remark struct {
	*shown.Remark
	Body, Fix template.HTML
	Elsewhere bool // its lines are not among the shown ones
	Review    string
	CanAnswer bool
	CanHand   bool       // it can be handed to a run
	Proposals []proposal // changes that it suggests
	Runs      []record.RunSummary
	Replies   []replyView
}

// replyView is a reply in a thread.
type replyView struct {
	record.Reply
	Body template.HTML
}

// replies returns the replies in the thread of a finding, or for "" those to the review as a whole.
func (p *pages) replies(ctx context.Context, review record.Review, finding string) []replyView {
	return each.Of(review.RepliesTo(finding), func(said record.Reply) replyView {
		return replyView{said, markdownHTML(said.Text, quotedLines{commit: p.commits(ctx)})}
	})
}

// Version returns a text that changes whenever the remark's thread does.
func (r remark) Version() string {
	return fmt.Sprintf("%d-%d-%d-%s-%s", len(r.Replies), len(r.Answers), len(r.Runs), r.State(), r.Applied())
}

// First returns the first line, for lists.
func (r remark) First() string { return firstLine(r.Text) }

// Later says where its lines are in the newest version, if they moved.
func (r remark) Later() string { return shown.Later(r.Now) }

func newRemark(review record.Review, said *shown.Remark, commit func(string) string) *remark {
	quoted := quotedLines{said.Made.File, said.Made.StartLine, said.Quote, commit}
	r := &remark{Remark: said, Review: review.ID, Body: markdownHTML(said.Text, quoted)}
	if said.Fix != "" {
		r.Fix = markdownHTML(said.Fix, quoted)
	}
	r.CanAnswer = !r.Draft && (review.Status == record.ReviewSubmitted || review.Status == record.ReviewClaimed)
	return r
}

// submissionView is one reviewer's answer.
type submissionView struct {
	record.Submission
	Summary template.HTML
	Words   template.HTML // the answer itself, if it says more
	Remarks []*remark
	Above   int // findings that are shown with a reviewer who reported them first
}

// Badge describes the reviewer's result.
func (s submissionView) Badge() string {
	if words := s.Decision.Words(); words != "" {
		return words
	}
	if s.Outcome == record.OutcomeNothing {
		return "nothing to review"
	}
	if s.Report.Effective == reply.Checked {
		return record.Says(s.Reviewer, s.Report.Says(), len(s.Report.Findings))
	}
	badge := strings.ToLower(strings.ReplaceAll(s.Said(), "_", " "))
	if s.Outcome == record.OutcomePartial {
		badge += ", not of all"
	}
	return badge
}

// Class returns the CSS class for the result; "quiet" if only rules looked.
func (s submissionView) Class() string {
	if s.Report.Effective == reply.Checked {
		return "quiet"
	}
	return outcomeClass(s.Outcome)
}

func outcomeClass(o record.Outcome) string {
	return cmp.Or(map[record.Outcome]string{record.OutcomePassed: "good", record.OutcomeFailed: "bad"}[o], "quiet")
}

// submissions returns the answers of a review with their remarks. remarks must correspond to said.Remarks.
func submissions(said *shown.Review, remarks []*remark, commit func(string) string) []submissionView {
	views := make([]submissionView, len(said.Submissions))
	for i, sub := range said.Submissions {
		v := submissionView{Submission: sub, Summary: markdownHTML(sub.Report.Summary, quotedLines{commit: commit})}
		if prose := sub.Report.Prose(); prose != "" {
			v.Words = markdownHTML(prose, quotedLines{commit: commit})
		}
		n := len(said.Of(i))
		v.Remarks, remarks = remarks[:n:n], remarks[n:]
		v.Above = len(sub.Report.Findings) + len(sub.Comments) - n
		views[i] = v
	}
	return views
}

// firstLine returns the beginning of a text, for a list.
func firstLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	if strings.HasPrefix(line, "```") {
		if _, rest, _ = strings.Cut(rest, "\n```"); strings.TrimSpace(rest) != "" && more {
			return firstLine(rest)
		}
		line = "suggestion"
	}
	return prose.CutColumns(safetext.Line(strings.Join(strings.Fields(line), " ")), 120)
}
