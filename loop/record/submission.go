package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// afterRead completes a decoded submission.
func (s *Submission) afterRead(Event) { s.Looked.read(s.Reviewer, &s.Report, s.Census) }

// Submission is one reviewer's answer to a request.
type Submission struct {
	Reviewer string       `json:"reviewer"`
	Looked   Looked       `json:"looked,omitempty"` // who the reviewer is; filled in when it is decoded and folded
	Voice                 // only a person's
	Report   reply.Report `json:"report"`
	Outcome  Outcome      `json:"outcome"`
	Decision Decision     `json:"decision,omitempty"` // for a person
	Key      string       `json:"key,omitempty"`      // identifies the submission if it is sent twice
	Comments []Comment    `json:"comments,omitempty"`
	Commit   gitstore.ID  `json:"commit,omitempty"`
	Tree     gitstore.ID  `json:"tree,omitempty"`   // the tree, or the commit of it, that the reviewer saw
	Limits   string       `json:"limits,omitempty"` // for the notes: see Review.Limits
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
	// for an agent: the writer of the log that has the event, if another log has the request; filled in by the fold
	OtherLog string `json:"other_log,omitempty"`
	// who of the reviewer and the recorder is an author of the change by .mailmap of its base; for an approval
	Mapped []string `json:"authors_by_mailmap,omitempty"`
	// an author of the change recorded the approval of somebody who is none; filled in by the fold
	AuthorRecorded bool `json:"author_recorded,omitempty"`
}

// Said returns the reviewer's result, followed by the checks that keep the change from passing. Rules consider
// checks in their own result.
func (s Submission) Said() string {
	if s.Reviewer == Builtin {
		return s.Report.Says()
	}
	return saidBeside(lookedBy(s.Reviewer, s.Report, s.Census), s.Report, s.Checks)
}

// takesBack reports whether s may withdraw an earlier submission of the same reviewer.
func (s Submission) takesBack(earlier Submission) bool {
	return SameActor(s.Reviewer, earlier.Reviewer) && s.Voice.takesBack(earlier.Voice, s.Reviewer)
}

// sawWhole reports whether an agent or rules saw the change, or there is none to see.
func (s Submission) sawWhole() bool {
	return s.Outcome != OutcomePartial && (s.Outcome != OutcomeNothing || s.Census.Files == 0)
}

// Of is Voice.Of, which also says who of those it names wrote the change.
func (s Submission) Of(actor string) string { return known(actor, s.Beside(actor)) }

// Beside is Voice.Beside, which also says who of those it names wrote the change, and for an agent which other log has
// its answer.
func (s Submission) Beside(actor string) string {
	const author = "who wrote the change"
	switch said := s.Voice.Beside(actor); {
	case s.AuthorRecorded:
		return strings.Replace(said, s.Recorder, s.Recorder+", "+author, 1)
	case s.OtherLog != "":
		return fmt.Sprintf("writer %.7s", s.OtherLog)
	case s.Looked == LookedAuthor:
		return strings.TrimSuffix(author+", "+said, ", ")
	default:
		return said
	}
}

// Decided returns a person's verdict in words, "" for none. An author's approval, which does not count, says so.
func (s Submission) Decided() string {
	if s.Decision == Approve && s.Looked == LookedAuthor {
		return "approved by its author"
	}
	return s.Decision.Words()
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
		who.tree, who.fails = s.Tree, s.Outcome == OutcomeFailed
	}
	return who, false
}

func (s Submission) took(Event) (string, spend.Spent) { return s.Reviewer, s.Spent }

// Person is a person's submission: a decision, a message and comments.
type Person struct {
	Actor    string
	Agent    bool // an agent submits this; a person who was asked still has to answer
	Decision Decision
	Message  string
	Comments []Comment
	Key      string   // identifies the submission if it is sent again; "": it is sent once
	Mapped   []string // see Submission
}

// Empty reports whether there is no verdict, no comment and no message.
func (p Person) Empty() bool {
	return p.Decision != Approve && p.Decision != RequestChanges && len(p.Comments) == 0 &&
		strings.TrimSpace(p.Message) == ""
}

// Check returns an *InputError for an empty or invalid submission.
func (p Person) Check() error {
	if p.Decision != Approve && p.Decision != RequestChanges && p.Decision != CommentOnly && p.Decision != "" {
		return &InputError{fmt.Sprintf("unknown decision %q: use approve, request_changes or comment", p.Decision)}
	}
	if p.Agent && p.Decision == Approve {
		return &InputError{"only people approve"}
	}
	if p.Empty() {
		return &InputError{"there is nothing to submit: no comment, no message and no verdict"}
	}
	if p.Decision == Approve && slices.ContainsFunc(p.Comments, isCritical) {
		return &InputError{"an approval cannot have a critical comment: ask for changes, or give the comment another " +
			"severity"}
	}
	empty := func(c Comment) bool { return strings.TrimSpace(c.Comment) == "" }
	if i := slices.IndexFunc(p.Comments, empty); i >= 0 {
		return &InputError{fmt.Sprintf("comment %d is empty", i+1)}
	}
	return CheckNamed(p.Actor)
}

func isCritical(c Comment) bool { return c.Severity == reply.Critical }

// Submission converts p to the form that submissions of all reviewers have.
func (p Person) Submission(review Review) Submission {
	sub := Submission{
		Reviewer: p.Actor, Decision: p.Decision, Key: p.Key, Comments: slices.Clone(p.Comments), Mapped: p.Mapped,
		Commit: review.At(), Tree: review.Request.Subject.Tree, Report: EmptyReport(),
	}
	taken := comment.IDs(review.Comments())
	for i := range sub.Comments {
		sub.Comments[i].FillIn(p.Actor, taken)
	}
	sub.Report.Format, sub.Report.Summary = reply.FormatHuman, p.Message
	if p.Agent {
		sub.Report.Format = reply.FormatRemarks
	}
	critical := !p.Agent && p.Decision != Approve && slices.ContainsFunc(sub.Comments, isCritical)
	if critical {
		sub.Decision = RequestChanges // whoever calls something critical has to agree that it is settled
	}
	switch sub.Decision {
	case Approve:
		sub.Outcome, sub.Report.Verdict, sub.Report.Approved = OutcomePassed, reply.Pass, true
	case RequestChanges:
		sub.Outcome, sub.Report.Verdict = OutcomeFailed, reply.NeedsFix
	default:
		sub.Decision, sub.Outcome, sub.Report.Verdict = CommentOnly, OutcomeCommented, reply.PassWithNotes
	}
	sub.Report.Effective = sub.Report.Verdict
	if critical {
		sub.Report.Effective = reply.CriticalFail
	}
	if p.Decision == Approve && len(p.Comments) > 0 {
		sub.Report.Effective = reply.PassWithNotes
	}
	return sub
}

// checkedPayload is the payload of a whole review of one commit in which rules and checks found nothing. Almost
// every commit has one, so it stores only what cannot be derived.
type checkedPayload struct {
	Title   string        `json:"title,omitempty"`
	Base    gitstore.ID   `json:"base"`
	Commit  gitstore.ID   `json:"commit"`
	Branch  string        `json:"branch,omitempty"`
	Author  string        `json:"author,omitempty"` // the commit's author; "": whoever recorded the event
	Follows string        `json:"follows,omitempty"`
	Change  string        `json:"change,omitempty"`
	Files   int           `json:"files"`
	Lines   int           `json:"lines"`
	Census  *Census       `json:"census,omitempty"` // if something other than exactly these files and lines was shown
	Checks  []CheckResult `json:"checks,omitempty"`
	Skipped []string      `json:"not_checked,omitempty"`
	Summary string        `json:"summary,omitempty"` // of the checks' results
}

// EventReviewChecked opens a review and resolves it.
var EventReviewChecked = newEventType("review_checked", false, func(e Event, p checkedPayload) (gitstore.ID, string) {
	return submissionNote(e, p.submission())
})

// FoundNothing reports whether a submission to request can be recorded as EventReviewChecked: only
// rules looked, at a whole commit, and neither they nor the checks found anything to act on.
func FoundNothing(request ReviewRequest, sub Submission) bool {
	return request.ByRulesAlone() && sub.Reviewer == Builtin && sub.Outcome == OutcomePassed &&
		LookedRules.Of(sub.Report.Effective) == reply.Checked && sub.Report.Effective != reply.PassWithNotes &&
		len(sub.Report.Findings)+len(sub.Report.Requests) == 0 && !CheckRun{Results: sub.Checks}.Failed()
}

// ByRulesAlone reports whether a request asks only for rules to look at one whole commit.
func (r ReviewRequest) ByRulesAlone() bool {
	return r.Subject.Kind == SubjectCommit && r.Subject.Commit != "" && r.Subject.Tree == r.Subject.Commit &&
		r.Reviewer == Builtin && len(r.Others) == 0 && r.Message == "" && r.Run == "" && r.Panel == Panel{} && !r.Part()
}

func NewChecked(request ReviewRequest, sub Submission) checkedPayload {
	subject := request.Subject
	p := checkedPayload{
		Title: change.CutTitle(subject.Title), Base: subject.Base, Commit: subject.Commit, Branch: subject.Branch,
		Author: subject.Author, Follows: request.Follows, Files: sub.Census.Files, Lines: sub.Census.Lines,
		Checks: WithoutOutput(sub.Checks), Skipped: sub.SkippedBy,
	}
	if !reflect.DeepEqual(sub.Census, p.census()) {
		p.Census = &sub.Census
	}
	if len(sub.Checks) > 0 {
		p.Summary = sub.Report.Summary
	}
	return p
}

func (p checkedPayload) census() Census {
	if p.Census != nil {
		return *p.Census
	}
	return Census{Files: p.Files, Lines: p.Lines, SentFiles: p.Files, SentLines: p.Lines}
}

func (p checkedPayload) request(e Event) ReviewRequest {
	subject := Subject{
		Kind: SubjectCommit, Spec: p.Commit.Short(), Title: change.CutTitle(p.Title), Base: p.Base, Commit: p.Commit,
		Tree: p.Commit, Branch: p.Branch, Author: change.CutTitle(p.Author),
	}
	if p.Author == "" {
		subject.Author = e.Actor
	}
	return ReviewRequest{Subject: subject, Reviewer: Builtin, Follows: p.Follows}
}

func (p checkedPayload) submission() Submission {
	report := EmptyReport()
	report.Format, report.Verdict, report.Effective, report.Summary = "builtin", reply.Checked, reply.Checked, p.Summary
	if p.Summary == "" {
		report.Summary = "no problem in " + prose.Count(p.census().SentFiles, "file")
	}
	return Submission{
		Reviewer: Builtin, Looked: LookedRules, Report: report, Outcome: OutcomePassed, Commit: p.Commit, Tree: p.Commit,
		Change: p.Change, Census: p.census(), Checks: p.Checks, SkippedBy: p.Skipped,
	}
}

// FoundNothingNote is the resolution note of a review that only rules looked at.
const FoundNothingNote = "rules found nothing"

// AnsweredNote begins the resolution note of a review whose findings all have an answer.
const AnsweredNote = "every finding is answered"

// PassedNote begins the resolution note of a review that passed without notes.
const PassedNote = "passed without notes"
