package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/reply"
)

// Person is a person's submission: a decision, a message and comments.
type Person struct {
	Actor    string
	Agent    bool // an agent submits this; a person who was asked still has to answer
	Decision Decision
	Message  string
	Comments []Comment
	Key      string // identifies the submission if it is sent again; "": it is sent once
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
		Reviewer: p.Actor, Decision: p.Decision, Key: p.Key, Comments: slices.Clone(p.Comments),
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
