package web

import (
	"context"
	"html/template"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// remark is a finding, a comment or a draft of one, as the page shows it.
type remark struct {
	ID        string
	Draft     bool
	Author    string
	At        time.Time
	Severity  reply.Severity
	Rule      string
	File      string
	Side      record.Side
	Start     int // lines; 0 for the whole file
	End       int
	Body, Fix template.HTML
	Source    string   // of a draft: what is edited
	First     string   // the first line, for lists
	Quote     []string // the lines that it speaks of
	Answers   []record.Answer
	Open      bool // as record.Review.IsOpen has it
	Elsewhere bool // its lines are not among those that the page shows
	Outdated  bool // its lines are gone from what is shown
	Why       string
	Was       string // where it was made, when that is elsewhere
	Later     string // where its lines are in the newest commit, when that is elsewhere
	Review    string
	CanAnswer bool
	CanHand   bool       // to a run
	Proposals []proposal // other lines that it suggests
	Runs      []record.RunSummary
	Disputed  bool // fewer reviewers than the quorum said it or something similar
	Similar   []string
	Ruling    record.RulingKind
	RulingBy  string // the judge
	RulingWhy string

	made record.Comment // as it was made
}

// Place is where the remark is, as people write it; "" for the whole review.
func (r remark) Place() string {
	return reply.Finding{File: safetext.Line(r.File), Line: r.Start, EndLine: r.End}.Place()
}

// State is what became of it: fixed, claimed fixed, refuted, deferred or open, "" for nothing yet.
func (r remark) State() string {
	if len(r.Answers) == 0 {
		return ""
	}
	return r.Answers[len(r.Answers)-1].Word()
}

// submissionView is one reviewer's answer.
type submissionView struct {
	record.Submission
	Summary template.HTML
	Words   template.HTML // the answer itself, where it says more
	Remarks []remark
	Above   int // findings that are shown with a reviewer who said them before
}

// Badge is the word for what the reviewer concluded, Class its colour.
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

// Class is quiet where only rules looked.
func (s submissionView) Class() string {
	if s.Report.Effective == reply.Checked {
		return "quiet"
	}
	return outcomeClass(s.Outcome)
}

func outcomeClass(o record.Outcome) string {
	switch o {
	case record.OutcomePassed:
		return "good"
	case record.OutcomeFailed:
		return "bad"
	}
	return "quiet"
}

// submissions are the answers of a review with their remarks; quotes are lines that findings
// speak of.
func submissions(review record.Review, quotes map[string][]string) []submissionView {
	views := make([]submissionView, len(review.Submissions))
	for i, sub := range review.Submissions {
		v := submissionView{Submission: sub, Summary: markdownHTML(sub.Report.Summary, quotedLines{})}
		if prose := sub.Report.Prose(); prose != "" {
			v.Words = markdownHTML(prose, quotedLines{})
		}
		for _, j := range review.SaidFirst(i) {
			v.Remarks = append(v.Remarks, newJoined(review, sub, j, quotes[j.ID]))
		}
		v.Above = len(sub.Report.Findings) - len(v.Remarks)
		for _, c := range sub.Comments {
			v.Remarks = append(v.Remarks, newComment(review, sub, c))
		}
		views[i] = v
	}
	return views
}

// newFinding is one of an agent's, on lines that quote holds where they are wanted.
func newFinding(review record.Review, sub record.Submission, f reply.Finding, quote []string) remark {
	quoted := quotedLines{f.File, f.Line, quote}
	r := remark{
		ID: f.ID, Author: sub.Reviewer, At: sub.At, Severity: f.Severity, Rule: f.Rule, File: f.File, Side: record.SideNew,
		Start: f.Line, End: max(f.Line, f.EndLine), First: firstLine(f.Issue), Review: review.ID,
		Body: markdownHTML(f.Issue, quoted),
		made: record.Comment{ID: f.ID, File: f.File, StartLine: f.Line, EndLine: f.EndLine, Side: record.SideNew, Commit: sub.Tree},
	}
	if f.Fix != "" {
		r.Fix = markdownHTML(f.Fix, quoted)
	}
	r.answers(review)
	return r
}

// newJoined is a finding with all who said it.
func newJoined(review record.Review, sub record.Submission, j record.Joined, quote []string) remark {
	r := newFinding(review, sub, j.Finding, quote)
	r.Author, r.Disputed, r.Similar = strings.Join(j.SaidBy, ", "), j.Disputed, j.Similar
	if j.Judged != nil {
		r.Ruling, r.RulingBy, r.RulingWhy = j.Judged.Kind, review.Request.Judge, j.Judged.Reason
	}
	return r
}

// Refuted reports whether the judge refuted it: it is folded away.
func (r remark) Refuted() bool { return r.Ruling == record.Refuted }

// newComment is one of a person's.
func newComment(review record.Review, sub record.Submission, c record.Comment) remark {
	r := remark{
		ID: c.ID, Author: sub.Reviewer, At: sub.At, Severity: c.Severity, File: c.File, Side: sideOf(c),
		Start: c.StartLine, End: max(c.StartLine, c.EndLine), First: firstLine(c.Comment), Quote: quoteOf(c), Review: review.ID,
		Body: markdownHTML(c.Comment, quotedLines{c.File, c.StartLine, quoteOf(c)}), made: c,
	}
	r.answers(review)
	return r
}

// newDraft is a comment that was not submitted yet.
func (p *pages) newDraft(review record.Review, c record.Comment) remark {
	r := newComment(review, record.Submission{Reviewer: p.Actor}, c)
	r.Draft, r.Source, r.CanAnswer = true, c.Comment, false
	return r
}

// settle finds where the remarks are in the change that is shown, and says of those
// that are elsewhere in the newest commit where that is.
func (p *pages) settle(ctx context.Context, subject record.Subject, remarks []*remark) error {
	head, err := p.repo.Head(ctx)
	if err != nil {
		head = "" // unborn: there is no newer version
	}
	var later []*remark
	for _, r := range remarks {
		if err := p.settleOne(ctx, subject, r); err != nil {
			return err
		}
		if r.File != "" && r.Side == record.SideNew && len(later) < maxPlaced {
			later = append(later, r)
		}
	}
	if head == "" || head == subject.Tree || len(later) == 0 {
		return nil
	}
	comments := make([]record.Comment, len(later))
	for i, r := range later {
		comments[i] = r.made
	}
	placed, err := locate.Places(ctx, p.Store, comments, head)
	if err != nil {
		return err
	}
	for i, at := range placed {
		later[i].now(at)
	}
	return nil
}

// maxPlaced is how many remarks are looked for in the newest commit.
const maxPlaced = 200

// settleOne moves a remark that was made on another version to where its lines are
// in the version that is shown.
func (p *pages) settleOne(ctx context.Context, subject record.Subject, r *remark) error {
	at, err := subject.Tree, error(nil)
	if r.Side == record.SideOld {
		at, err = p.Store.ComparedWith(ctx, subject)
	}
	made := r.made.Commit
	if err != nil || r.File == "" || made == "" || made == at || r.Side == record.SideNew && made == subject.Commit {
		return err
	}
	placed, err := locate.Place(ctx, p.Store, r.made, at)
	if err != nil {
		return err
	}
	if placed.Moved {
		r.Was = r.Place()
	}
	r.File, r.Start, r.End = placed.File, placed.StartLine, placed.EndLine
	if placed.Outdated {
		r.Outdated, r.Why = true, placed.Why
	}
	return nil
}

// now says where the remark's lines are in the newest commit, when that is elsewhere.
func (r *remark) now(at locate.Placed) {
	switch {
	case at.Outdated:
		r.Later = "outdated: " + at.Why
	case at.Moved:
		r.Later = "now " + reply.Finding{File: safetext.Line(at.File), Line: at.StartLine, EndLine: at.EndLine}.Place()
	}
}

func (r *remark) answers(review record.Review) {
	r.Answers, r.Open = review.AnswersTo(r.ID), review.IsOpen(reply.Finding{ID: r.ID, Severity: r.Severity})
	r.CanAnswer = review.Status == record.ReviewSubmitted || review.Status == record.ReviewClaimed
}

func sideOf(c record.Comment) record.Side {
	if c.Side == record.SideOld {
		return record.SideOld
	}
	return record.SideNew
}

// quoteOf are the lines that a comment quotes.
func quoteOf(c record.Comment) []string {
	if c.SelectedText == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(c.SelectedText, "\n"), "\n")
}

// firstLine is the start of a text, for a list.
func firstLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	if strings.HasPrefix(line, "```") {
		if _, rest, _ = strings.Cut(rest, "\n```"); strings.TrimSpace(rest) != "" && more {
			return firstLine(rest)
		}
		line = "suggestion"
	}
	line = safetext.Line(strings.Join(strings.Fields(line), " "))
	const limit = 120
	if runes := []rune(line); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return line
}
