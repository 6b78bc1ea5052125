package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// afterRead completes a decoded submission.
func (s *Submission) afterRead(Event) { s.Looked.read(s.Reviewer, &s.Report) }

// Submission is one reviewer's answer to a request.
type Submission struct {
	Reviewer string       `json:"reviewer"`
	Looked   Looked       `json:"looked,omitempty"` // who the reviewer is; filled in when it is decoded
	Voice                 // only a person's
	Report   reply.Report `json:"report"`
	Outcome  Outcome      `json:"outcome"`
	Decision Decision     `json:"decision,omitempty"` // for a person
	Key      string       `json:"key,omitempty"`      // identifies the submission if it is sent twice
	Comments []Comment    `json:"comments,omitempty"`
	Commit   gitstore.ID  `json:"commit,omitempty"`
	Tree     gitstore.ID  `json:"tree,omitempty"` // the tree that the reviewer saw
	// for a range: commits with changes that are no longer visible at its end
	Unseen    []gitstore.ID     `json:"unseen_commits,omitempty"`
	Change    string            `json:"change,omitempty"` // what was seen, named by gitstore.ChangeIDs
	Census    Census            `json:"census"`
	Checks    []CheckResult     `json:"checks,omitempty"`
	At        time.Time         `json:"at,omitzero"` // filled in by the fold
	Duration  duration.Duration `json:"duration_ms,omitzero"`
	SkippedBy []string          `json:"not_checked,omitempty"` // checks that were not run, and why
	Told      *Instructions     `json:"instructions,omitempty"`
	spend.Spent
	// the event that records it and keeps its attachments; filled in by the fold
	Event gitstore.ID `json:"event,omitempty"`
}

// Said returns the reviewer's result, followed by the checks that keep the change from passing. Rules consider
// checks in their own result.
func (s Submission) Said() string {
	if s.Reviewer == Builtin {
		return s.Report.Says()
	}
	return saidBeside(s.Reviewer, s.Report, s.Checks)
}

// takesBack reports whether s may withdraw an earlier submission of the same reviewer.
func (s Submission) takesBack(earlier Submission) bool {
	return SameActor(s.Reviewer, earlier.Reviewer) && s.Voice.takesBack(earlier.Voice, s.Reviewer)
}

// sawWhole reports whether an agent or rules saw the change, or there is none to see.
func (s Submission) sawWhole() bool {
	return s.Outcome != OutcomePartial && (s.Outcome != OutcomeNothing || s.Census.Files == 0)
}

// SawAll reports whether the reviewer, and nobody else in that name, gave a verdict, and no file was left out.
func (s Submission) SawAll() bool {
	return len(s.Census.LeftOut) == 0 && !s.byAnother(s.Reviewer) &&
		(s.Outcome == OutcomePassed || s.Outcome == OutcomeFailed)
}

// Decision is a person's verdict.
type Decision string

const (
	Approve        Decision = "approve"
	RequestChanges Decision = "request_changes"
	CommentOnly    Decision = "comment"
)

// Words describes a decision to people.
func (d Decision) Words() string {
	return map[Decision]string{Approve: "approved", RequestChanges: "changes requested", CommentOnly: "commented"}[d]
}

// Outcome is the result of a review, for exit statuses and lists.
type Outcome string

const (
	OutcomePassed    Outcome = "passed"
	OutcomeFailed    Outcome = "failed"
	OutcomeCommented Outcome = "commented" // neither: a person commented without a verdict
	OutcomePartial   Outcome = "partial"   // what was shown passed, but a part could not be shown
	OutcomeNothing   Outcome = "nothing_to_review"
)

// outcomeRank orders outcomes from the best to the worst.
var outcomeRank = map[Outcome]int{OutcomeNothing: 1, OutcomeCommented: 2, OutcomePassed: 3, OutcomePartial: 4,
	OutcomeFailed: 5}

// Findings returns the report's findings and the comments.
func (s Submission) Findings() []reply.Finding {
	all := slices.Clone(s.Report.Findings)
	for _, c := range s.Comments {
		all = append(all, findingOf(c, s.Decision))
	}
	return all
}

// findingOf returns the comment as a finding with the comment's id.
func findingOf(c Comment, d Decision) reply.Finding {
	unsaid := reply.Warning
	if d == Approve {
		unsaid = reply.Note
	}
	f := reply.Finding{ID: c.ID, Severity: cmp.Or(c.Severity, unsaid), File: c.File, Line: c.StartLine, Issue: c.Comment}
	if c.EndLine > c.StartLine {
		f.EndLine = c.EndLine
	}
	return f
}

// asComment makes the message of a person who asks for changes without comments a comment on the whole, so that it has
// an id and can be answered.
func (s *Submission) asComment() {
	if s.Decision != RequestChanges || len(s.Findings()) > 0 {
		return
	}
	text := cmp.Or(strings.TrimSpace(s.Report.Summary), "(changes requested without a word)")
	s.Comments, s.Report.Summary, s.Report.Requests = []Comment{{Comment: text}}, "", []string{}
}

// Words returns the submission in its reviewer's own words: an agent's answer, or a person's message and comments.
func (s Submission) Words() reply.Words {
	said := append([]string{cmp.Or(s.Report.Text, s.Report.Summary)}, comment.Blocks(s.Comments)...)
	return reply.Words{By: s.Reviewer, Text: prose.CutMiddle(strings.TrimSpace(strings.Join(said, "\n\n")), reply.MaxText)}
}

// Requests returns what the submission asks for besides its findings. For a person who gave a message and neither a
// verdict nor comments, that is the message.
func (s Submission) Requests() []string {
	if s.Outcome == OutcomeCommented && len(s.Comments) == 0 {
		return slices.Concat(s.Report.Requests, reply.FirstWords(markdown.Split(s.Report.Summary)))
	}
	return s.Report.Requests
}

func (s Submission) by() (who ActorPayload, held bool) {
	who = ActorPayload{Actor: s.Reviewer}
	if s.Decision == "" {
		who.tree = s.Tree
	}
	return who, false
}

func (s Submission) took(Event) (string, spend.Spent) { return s.Reviewer, s.Spent }
