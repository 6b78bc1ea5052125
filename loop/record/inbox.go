package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// RequestReview records a request and returns at once: nobody is asked yet.
// source is who made it: cli, hook, mcp.
func (s *Store) RequestReview(ctx context.Context, request ReviewRequest, source string) (Review, error) {
	request.Subject.Title = change.CutTitle(request.Subject.Title)
	if request.Run == "" { // a run's commits say which attempt they are
		s.AddMessages(ctx, &request.Subject)
	}
	event, err := s.Append(ctx, func(v *View) (NewEvent, error) {
		id, err := NewID(v.Now, v.Writer, v.Clock, request)
		d := EventReviewRequested.New(source, strings.TrimSpace(request.Subject.Spec+" "+request.Subject.Commit.Short()+" "+request.Subject.Title), request)
		d.Review, d.Run, d.Status = id, request.Run, Review{}.statusAfter
		return d, err
	})
	if err != nil {
		return Review{}, fmt.Errorf("request review: %w", err)
	}
	review, bad := FoldReview([]Event{event})
	return review, errors.Join(bad...)
}

// SubmitReview records one reviewer's answer. raw is the answer as it came. It is a
// *StateError when an agent has answered on that tree before, here or in another clone.
func (s *Store) SubmitReview(ctx context.Context, id string, sub Submission, raw string) (Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	return s.submit(ctx, review, sub, raw)
}

func (s *Store) submit(ctx context.Context, review Review, sub Submission, raw string) (Review, error) {
	if sub.Outcome != OutcomeNothing {
		sub.Change, sub.Unseen = s.ChangeID(ctx, review.Request.Subject), s.Unseen(ctx, review.Request.Subject, sub.Census.Hides)
	}
	whole := sub.Checks
	sub.Checks = WithoutOutput(whole)
	event := EventReviewSubmitted.New(sub.Reviewer, submissionTitle(sub), sub)
	return s.reviewEvent(ctx, review.ID, event.Attach("review.md", raw).AttachChecks(whole))
}

// Person is what a person submits: a decision, a message and comments.
type Person struct {
	Actor    string
	Decision Decision
	Message  string
	Comments []Comment
	Key      string // the same for the same submission sent again; "": it is sent once
}

// SubmitPerson records a person's answer. One that is sent again under its key, or that says
// no more than the newest of this person, is recorded once; a comment is, by its id. It
// drops the drafts that it was made of.
func (s *Store) SubmitPerson(ctx context.Context, id string, p Person) (Review, error) {
	review, unlock, err := s.lockDrafts(ctx, id)
	if err != nil {
		return review, err
	}
	defer unlock()
	if err := p.check(); err != nil {
		return review, err
	}
	if p.Comments = s.unsaid(review, p); !s.repeats(review, p) {
		if err := p.check(); err != nil && !review.Sent(p.Actor, p.Key) {
			return review, err
		}
		if review, err = s.submit(ctx, review, p.Submission(review), ""); err != nil {
			return review, err
		}
	}
	return review, s.dropDraft(review, p.Actor)
}

// unsaid are the comments of p without those that another submission of the same draft has
// handed in meanwhile.
func (s *Store) unsaid(review Review, p Person) (rest []Comment) {
	said := map[string]string{}
	for _, sub := range review.Submissions {
		for _, c := range sub.Comments {
			if sub.Reviewer == p.Actor {
				said[c.ID] = c.Comment
			}
		}
	}
	for _, c := range p.Comments {
		if text, sent := said[c.ID]; !sent || text != s.redacted(c.Comment) {
			rest = append(rest, c)
		}
	}
	return rest
}

// repeats reports whether p, whose comments are all new, says of the same code what this
// person's newest submission says, which still stands.
func (s *Store) repeats(review Review, p Person) bool {
	newest, ok := review.Newest(p.Actor)
	same := newest.Decision == cmp.Or(p.Decision, CommentOnly) && (p.Message == "" || s.redacted(p.Message) == newest.Report.Summary)
	return ok && same && len(p.Comments) == 0 && review.ClosedAt.IsZero() && newest.Commit == review.At()
}

// redacted is free text as it will be recorded.
func (s *Store) redacted(text string) string {
	if s.Redact != nil {
		text = s.Redact(text)
	}
	if masked := s.masked.Load(); masked != nil {
		text = masked.Replace(text)
	}
	return text
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

// check refuses a submission that says nothing.
func (p Person) check() error {
	verdict := p.Decision == Approve || p.Decision == RequestChanges
	if !verdict && p.Decision != CommentOnly && p.Decision != "" {
		return &InputError{fmt.Sprintf("decision %q is none of approve, request_changes, comment", p.Decision)}
	}
	if !verdict && len(p.Comments) == 0 && strings.TrimSpace(p.Message) == "" {
		return &InputError{"there is nothing to submit: no comment, no message and no verdict"}
	}
	for i, c := range p.Comments {
		if strings.TrimSpace(c.Comment) == "" {
			return &InputError{fmt.Sprintf("comment %d says nothing", i+1)}
		}
	}
	return checkActor(p.Actor)
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

// ClaimReview takes a submitted review for by.Actor, or renews the claim that it
// has. It is a *StateError with a Holder when somebody else has it.
func (s *Store) ClaimReview(ctx context.Context, id string, by Hold) (Review, error) {
	return s.actorEvent(ctx, id, EventReviewClaimed, by.payload())
}

// payload is by of a claim, as its event has it.
func (by Hold) payload() actorPayload {
	return actorPayload{Actor: by.Actor, Force: by.Force, Lease: duration.Duration(by.Lease), Claim: by.Claim, Shared: by.Shared}
}

// Claimable is a *StateError where by may not claim the review, in the clone of writer.
func (r Review) Claimable(by Hold, writer string, now time.Time) error {
	claim := by.payload()
	claim.writer = writer
	return r.allow(EventReviewClaimed.Name, claim, now)
}

// ReleaseReview gives a claim back.
func (s *Store) ReleaseReview(ctx context.Context, id string, by Hold) (Review, error) {
	return s.actorEvent(ctx, id, EventReviewReleased, actorPayload{Actor: by.Actor, Force: by.Force, Claim: by.Claim})
}

// ResolveReview closes a submitted review as dealt with. Doing it twice is doing it
// once.
func (s *Store) ResolveReview(ctx context.Context, id string, by Hold, note string) (Review, error) {
	return s.actorEvent(ctx, id, EventReviewResolved, actorPayload{Actor: by.Actor, Force: by.Force, Note: note, Claim: by.Claim, quiet: by.Quiet})
}

// CancelReview withdraws an open request.
func (s *Store) CancelReview(ctx context.Context, id, actor, note string) (Review, error) {
	return s.actorEvent(ctx, id, EventReviewCancelled, actorPayload{Actor: actor, Note: note})
}

// ReopenReview takes a resolution or a cancellation back.
func (s *Store) ReopenReview(ctx context.Context, id, actor string) (Review, error) {
	return s.actorEvent(ctx, id, EventReviewReopened, actorPayload{Actor: actor})
}

// AnswerFinding records what became of one finding or comment. It is a
// *NotFoundError when the review has none of that id.
func (s *Store) AnswerFinding(ctx context.Context, id string, answer Answer, force bool) (Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := answer.check(); err != nil {
		return review, err
	}
	if _, found := review.Finding(answer.Finding); !found {
		return review, &NotFoundError{What: "finding", ID: answer.Finding, Where: "in review " + review.ID}
	}
	if err := s.checkFix(ctx, review, answer); err != nil {
		return review, err
	}
	event := EventReviewAnswered.New("cli", fmt.Sprintf("%s %s", answer.Finding, answer.Kind), findingAnswer{Answer: answer, Force: force})
	return s.reviewEvent(ctx, review.ID, event)
}

// checkFix refuses a fix that was there before what it is to mend, where both are here.
func (s *Store) checkFix(ctx context.Context, review Review, answer Answer) error {
	reviewed := review.Request.Subject.Commit
	if answer.Kind != AnswerFixed || reviewed == "" {
		return nil
	}
	for _, id := range []gitstore.ID{reviewed, answer.Commit} {
		if _, err := s.Repo.ReadCommit(ctx, id); err != nil {
			return ctx.Err()
		}
	}
	before, err := s.Repo.IsAncestor(ctx, answer.Commit, reviewed)
	if err == nil && before {
		err = &InputError{fmt.Sprintf("%s cannot have fixed what was found in %s, for it is no later", answer.Commit.Short(), reviewed.Short())}
	}
	return err
}

// actorEvent records what an actor does with a review.
func (s *Store) actorEvent(ctx context.Context, id string, t EventType[actorPayload], by actorPayload) (Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := checkActor(by.Actor); err != nil {
		return review, err
	}
	by.Actor = s.redacted(by.Actor) // as it will be recorded, for that is what a claim is compared with
	if (t == EventReviewResolved || t == EventReviewReopened) && !by.quiet {
		by.Commit = review.At()
	}
	return s.reviewEvent(ctx, review.ID, t.New("cli", "by "+by.Actor, by))
}

// Admit decides whether d may be recorded of the review now, in the clone of writer. settled reports that d would
// change nothing that counts, so that nothing has to be recorded. The error is a *StateError that says why d may not happen.
func (r Review) Admit(d NewEvent, writer string, now time.Time) (settled bool, err error) {
	var by actorPayload
	if acts, ok := d.Payload.(interface{ by() (actorPayload, bool) }); ok {
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
	return r.allow(EventReviewSubmitted.Name, actorPayload{Actor: actor}, now)
}

// settled reports whether an event would change nothing that counts.
func (r Review) settled(d NewEvent, by actorPayload) bool {
	switch p := d.Payload.(type) {
	case Submission:
		return r.Sent(p.Reviewer, p.Key)
	case Move:
		return r.hasMoved(p)
	case actorPayload:
		return d.Type == EventReviewResolved.Name && r.Status == ReviewResolved || d.Type == EventReviewCancelled.Name && r.Status == ReviewCancelled ||
			d.Type == EventReviewClaimed.Name && r.Status == ReviewClaimed && p.Lease == 0 && r.Claim.sameAs(by)
	}
	return false
}

// sameAs reports whether a claim for good by by is the one that stands.
func (c *Claim) sameAs(by actorPayload) bool {
	return c.By == by.Actor && c.Writer == by.writer && c.Until.IsZero() && (c.Shared || !by.Shared) && (by.Claim == "" || c.Is(by.Claim))
}

// errSettled ends a decision that has nothing to record.
var errSettled = errors.New("nothing to record")

func submissionTitle(sub Submission) string {
	if sub.Outcome == OutcomeNothing {
		return "nothing to review"
	}
	if sub.Decision != "" {
		return fmt.Sprintf("%s by %s, %s", sub.Decision, sub.Reviewer, prose.Count(len(sub.Comments), "comment"))
	}
	return ReportTitle(sub.Report, sub.Reviewer, sub.By(sub.Reviewer))
}

// JudgeReview records what the judge says of what was found. raw is its answer as it came.
func (s *Store) JudgeReview(ctx context.Context, id string, j Judgement, raw string) (Review, error) {
	return s.reviewEvent(ctx, id, EventReviewJudged.New(JudgeTurn(j.By), fmt.Sprintf("by %s, %s", j.By, j.Count()), j).Attach("review.md", raw))
}

// PinReview keeps what is under review from git's gc, in this clone.
func (s *Store) PinReview(ctx context.Context, review Review) error {
	return s.Repo.Pin(ctx, "review "+review.ID, review.Request.Subject.Tree)
}

// FailReview records that the reviewer could not be run; the review stays open.
func (s *Store) FailReview(ctx context.Context, id, reviewer string, failure Failure) (Review, error) {
	return s.reviewEvent(ctx, id, EventReviewFailed.New(reviewer, failure.Reason+" "+failure.Detail, failure))
}

// reviewEvent records d about a review if its newest state allows it.
func (s *Store) reviewEvent(ctx context.Context, id string, d NewEvent) (Review, error) {
	var before Review
	event, err := s.Append(ctx, func(v *View) (NewEvent, error) {
		st, err := v.state(entity{kindReview, id})
		if err != nil {
			return NewEvent{}, err
		}
		before = st.review
		settled, err := before.Admit(d, v.Writer, v.Now)
		if settled {
			err = errSettled
		}
		if err != nil {
			return NewEvent{}, err
		}
		d.Review, d.Run, d.Status = id, before.Request.Run, before.statusAfter
		return d, nil
	})
	if errors.Is(err, errSettled) {
		return before, nil
	}
	if err != nil {
		return before, err
	}
	return before, before.apply(event)
}

// Attachment reads what an event left behind, by its role: review.md, checks/test.log.
func (s *Store) Attachment(ctx context.Context, event gitstore.ID, role string) ([]byte, error) {
	return s.Repo.Attachment(ctx, event, role)
}

// check refuses an answer that says too little.
func (a Answer) check() error {
	switch {
	case !slices.Contains([]AnswerKind{AnswerFixed, AnswerRefuted, AnswerDeferred, AnswerGone, AnswerOpen}, a.Kind):
		return &InputError{fmt.Sprintf("answer %q is none of fixed, refuted, deferred, gone, open", a.Kind)}
	case (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit == "":
		return &InputError{fmt.Sprintf("an answer of %s wants the commit", a.Kind)}
	case a.Kind == AnswerRefuted && strings.TrimSpace(a.Reason) == "":
		return &InputError{"an answer of refuted wants the reason"}
	}
	return checkActor(a.Actor)
}
