package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// Person is what a person submits: a decision, a message and comments.
type Person struct {
	Actor    string
	Agent    bool // what is submitted is an agent's word: a person who was asked is still waited for
	Decision Decision
	Message  string
	Comments []Comment
	Key      string // the same for the same submission sent again; "": it is sent once
}

// Newest is the newest submission of a reviewer; ok is false without one.
func (r Review) Newest(reviewer string) (sub Submission, ok bool) {
	for _, sub := range slices.Backward(r.Submissions) {
		if sub.Reviewer == reviewer {
			return sub, true
		}
	}
	return Submission{}, false
}

// Check refuses a submission that says nothing.
func (p Person) Check() error {
	verdict := p.Decision == Approve || p.Decision == RequestChanges
	if !verdict && p.Decision != CommentOnly && p.Decision != "" {
		return &InputError{fmt.Sprintf("decision %q is none of approve, request_changes, comment", p.Decision)}
	}
	if p.Agent && p.Decision == Approve {
		return &InputError{"only people approve"}
	}
	if !verdict && len(p.Comments) == 0 && strings.TrimSpace(p.Message) == "" {
		return &InputError{"there is nothing to submit: no comment, no message and no verdict"}
	}
	for i, c := range p.Comments {
		if strings.TrimSpace(c.Comment) == "" {
			return &InputError{fmt.Sprintf("comment %d says nothing", i+1)}
		}
	}
	return CheckActor(p.Actor)
}

// Submission is the person's answer in the form that all reviewers' have.
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
	switch p.Decision {
	case Approve:
		sub.Outcome, sub.Report.Verdict, sub.Report.Approved = OutcomePassed, reply.Pass, true
	case RequestChanges:
		sub.Outcome, sub.Report.Verdict = OutcomeFailed, reply.NeedsFix
		sub.Report.Requests = personRequests(p)
	default:
		sub.Decision, sub.Outcome, sub.Report.Verdict = CommentOnly, OutcomeCommented, reply.PassWithNotes
	}
	sub.Report.Effective = sub.Report.Verdict
	if p.Decision == Approve && len(p.Comments) > 0 {
		sub.Report.Effective = reply.PassWithNotes
	}
	return sub
}

// personRequests are what a person who requests changes asks for beside the
// comments, which are findings of their own.
func personRequests(p Person) []string {
	if len(p.Comments) == 0 && strings.TrimSpace(p.Message) != "" {
		return []string{strings.TrimSpace(p.Message)}
	}
	return []string{}
}

// Sent reports whether reviewer's submission of that key is recorded; none is without one.
func (r Review) Sent(reviewer, key string) bool {
	return key != "" && slices.ContainsFunc(r.Submissions, func(s Submission) bool { return s.Key == key && s.Reviewer == reviewer })
}

// Hold is by whom and for how long a review is claimed.
type Hold struct {
	Actor string
	Lease time.Duration // 0: until it is released
	Force bool          // although somebody else holds it
	Claim gitstore.ID   // the claim under which it is done, or its first digits; "": whichever stands
	Quiet bool          // of a resolution: no line in the notes, which say it already
	// Shared is of a claim: the remote decided it.
	Shared bool
}

// Payload is by of a claim, as its event has it.
func (by Hold) Payload() ActorPayload {
	return ActorPayload{Actor: by.Actor, Force: by.Force, Lease: duration.Duration(by.Lease), Claim: by.Claim, Shared: by.Shared}
}

// Claimable is a *StateError where by may not claim the review, in the clone of writer.
func (r Review) Claimable(by Hold, writer string, now time.Time) error {
	claim := by.Payload()
	claim.writer = writer
	return r.allow(EventReviewClaimed.Name, claim, now)
}

// Admit decides whether d may be recorded of the review now, in the clone of writer. settled reports that d would
// change nothing that counts, so that nothing has to be recorded. The error is a *StateError that says why d may not happen.
func (r Review) Admit(d NewEvent, writer string, now time.Time) (settled bool, err error) {
	var by ActorPayload
	if acts, ok := d.Payload.(interface{ by() (ActorPayload, bool) }); ok {
		by, _ = acts.by()
	}
	by.writer = writer
	if r.settled(d, by) {
		return true, nil
	}
	return false, r.allow(d.Type, by, now)
}

// MayComment returns a *StateError where actor cannot submit comments on the review.
func (r Review) MayComment(actor string, now time.Time) error {
	return r.allow(EventReviewSubmitted.Name, ActorPayload{Actor: actor}, now)
}

// settled reports whether an event would change nothing that counts.
func (r Review) settled(d NewEvent, by ActorPayload) bool {
	switch p := d.Payload.(type) {
	case Submission:
		return r.Sent(p.Reviewer, p.Key)
	case Move:
		return r.hasMoved(p)
	case ActorPayload:
		return d.Type == EventReviewResolved.Name && r.Status == ReviewResolved || d.Type == EventReviewCancelled.Name && r.Status == ReviewCancelled ||
			d.Type == EventReviewClaimed.Name && r.Status == ReviewClaimed && p.Lease == 0 && r.Claim.sameAs(by)
	}
	return false
}

// sameAs reports whether a claim for good by by is the one that stands.
func (c *Claim) sameAs(by ActorPayload) bool {
	return c.By == by.Actor && c.Writer == by.writer && c.Until.IsZero() && (c.Shared || !by.Shared) && (by.Claim == "" || c.Is(by.Claim))
}

func SubmissionTitle(sub Submission) string {
	if sub.Outcome == OutcomeNothing {
		return "nothing to review"
	}
	if sub.Decision != "" {
		return fmt.Sprintf("%s by %s, %s", sub.Decision, sub.Reviewer, prose.Count(len(sub.Comments), "comment"))
	}
	return ReportTitle(sub.Report, sub.Reviewer, sub.By(sub.Reviewer))
}

// Check refuses an answer that says too little.
func (a Answer) Check() error {
	switch {
	case !slices.Contains([]AnswerKind{AnswerFixed, AnswerRefuted, AnswerDeferred, AnswerGone, AnswerOpen}, a.Kind):
		return &InputError{fmt.Sprintf("answer %q is none of fixed, refuted, deferred, gone, open", a.Kind)}
	case (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit == "":
		return &InputError{fmt.Sprintf("an answer of %s wants the commit", a.Kind)}
	case a.Kind == AnswerRefuted && strings.TrimSpace(a.Reason) == "":
		return &InputError{"an answer of refuted wants the reason"}
	}
	return CheckActor(a.Actor)
}
