package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/record"
)

// RecordChecked records request and sub, for which record.FoundNothing must be true, as one event.
func (s *Store) RecordChecked(ctx context.Context, request record.ReviewRequest, sub record.Submission,
	source string) (record.Review, error) {
	whole := sub.Checks
	p := record.NewChecked(request, sub)
	p.Change = s.ChangeID(ctx, request.Subject)
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return record.Review{}, err
	}
	if p.Author == author.String() {
		p.Author = ""
	}
	return s.beginReview(ctx, request, "record what was checked",
		record.EventReviewChecked.New(source, p.Commit.Short()+" "+p.Title, p).AttachChecks(whole))
}

// beginReview records d, with which a review of request begins. what is the operation, for errors.
func (s *Store) beginReview(ctx context.Context, request record.ReviewRequest, what string,
	d record.NewEvent) (record.Review, error) {
	to, err := s.AudienceOf(ctx, request)
	if err != nil {
		return record.Review{}, fmt.Errorf("%s: %w", what, err)
	}
	event, err := s.Append(ctx, to, func(v *View) (record.NewEvent, error) {
		var err error
		d.Review, err = record.NewID(v.Now, v.Writer, v.Clock, request)
		d.Run, d.Status = request.Run, record.Review{}.StatusAfter
		return d, err
	})
	if err != nil {
		return record.Review{}, fmt.Errorf("%s: %w", what, err)
	}
	review, bad := record.FoldReview([]record.Event{event})
	return s.seen(review), errors.Join(bad...)
}

// RequestReview records a request and returns at once; no reviewer is started. source says where it comes from: cli,
// hook or mcp.
func (s *Store) RequestReview(ctx context.Context, request record.ReviewRequest, source string) (record.Review, error) {
	request.Subject.Title = change.CutTitle(request.Subject.Title)
	if request.Run == "" { // a run's commit messages name the attempt
		s.AddMessages(ctx, &request.Subject)
	}
	subject := request.Subject
	return s.beginReview(ctx, request, "request review", record.EventReviewRequested.New(source,
		strings.TrimSpace(subject.Spec+" "+subject.Commit.Short()+" "+subject.Title), request))
}

// SubmitReview records one reviewer's answer. raw is the unparsed answer. It returns a *StateError if an agent has
// answered on the tree before, here or in another clone.
func (s *Store) SubmitReview(ctx context.Context, id string, sub record.Submission, raw string) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	return s.submit(ctx, review, sub, raw)
}

func (s *Store) submit(ctx context.Context, review record.Review, sub record.Submission,
	raw string) (record.Review, error) {
	if sub.Outcome != record.OutcomeNothing {
		sub.Change, sub.Unseen = s.ChangeID(ctx, review.Request.Subject),
			s.Unseen(ctx, review.Request.Subject, sub.Census.Hides)
		if err := s.dropSeenBefore(ctx, review, &sub); err != nil {
			return review, err
		}
	}
	whole := sub.Checks
	sub.Checks, sub.Limits = record.WithoutOutput(whole), review.Limits(sub)
	event := record.EventReviewSubmitted.New(sub.Reviewer, record.SubmissionTitle(sub), sub)
	return s.reviewEvent(ctx, review.ID, event.Attach("review.md", raw).AttachChecks(whole))
}

// dropSeenBefore takes from sub.Unseen the commits that its reviewer gave a verdict on in an earlier round.
func (s *Store) dropSeenBefore(ctx context.Context, review record.Review, sub *record.Submission) error {
	if len(sub.Unseen) == 0 || review.Request.Follows == "" {
		return nil
	}
	rounds, err := s.Conversation(ctx, review)
	if err != nil {
		return err
	}
	for _, r := range rounds[:rounds.Place(review.ID)] {
		subject := r.Request.Subject
		row := []gitstore.ID{subject.Commit}
		if subject.Kind == record.SubjectRange {
			if row, err = s.Repo.Between(ctx, subject.Base, subject.Commit, maxSeenBefore); err != nil {
				continue // the earlier round is not here
			}
		}
		for _, earlier := range r.Submissions {
			if record.SameActor(earlier.Reviewer, sub.Reviewer) && earlier.SawAll() && len(subject.Paths) == 0 {
				sub.Unseen = slices.DeleteFunc(sub.Unseen, func(id gitstore.ID) bool {
					return slices.Contains(row, id) && !slices.Contains(earlier.Unseen, id)
				})
			}
		}
	}
	return nil
}

// maxSeenBefore is the maximum number of commits of an earlier round that count as seen.
const maxSeenBefore = 1000

// SubmitPerson records a person's answer and drops the drafts that it was made from. It records an answer once, even if
// it is sent again under its key or repeats the person's newest one, and each comment once by its id.
func (s *Store) SubmitPerson(ctx context.Context, id string, p record.Person) (record.Review, error) {
	review, unlock, err := s.lockDrafts(ctx, id)
	if err != nil {
		return review, err
	}
	defer unlock()
	if err := p.Check(); err != nil {
		return review, err
	}
	if p.Comments = s.unsaid(review, p); !s.repeats(ctx, review, p) {
		if err := p.Check(); err != nil && !review.Sent(p.Actor, p.Key) {
			return review, err
		}
		if err := review.MaySay(""); err != nil && (p.Message != "" || len(p.Comments) > 0) {
			return review, err
		}
		if err := s.Here(ctx, review); p.Decision != record.CommentOnly && err != nil {
			return review, fmt.Errorf("submit a verdict: %w", err)
		}
		if review, err = s.submit(ctx, review, p.Submission(review), ""); err != nil {
			return review, err
		}
	}
	return review, s.dropDraft(review, p.Actor)
}

// Here returns a *gitstore.MissingError if what is under review is not in this clone, and a *record.InputError if it is
// not what the commit has that the request names: only a forged request shows one thing and names another. Nobody can
// fetch what was never committed.
func (s *Store) Here(ctx context.Context, review record.Review) error {
	subject := review.Request.Subject
	err := s.Repo.Named(subject.Tree)
	if err == nil {
		var tree, named gitstore.ID
		if tree, err = s.Repo.TreeOf(ctx, subject.Tree); err == nil && subject.OfCommits() && subject.Tree != subject.Commit {
			if named, err = s.Repo.TreeOf(ctx, subject.Commit); err == nil && named != tree {
				return &record.InputError{Why: fmt.Sprintf("the request names commit %s and shows other contents than that "+
					"commit has: it is forged or damaged", subject.Commit.Short())}
			}
		}
	}
	missing, kind := new(gitstore.MissingError), review.Request.Subject.Kind
	if (kind == record.SubjectWorktree || kind == record.SubjectStaged) && errors.As(err, &missing) {
		missing.What, missing.Try = "its changes were never committed, and are only in the clone of "+review.RequestedBy, ""
	}
	return err
}

// unsaid returns the comments of p that no other submission of the same draft has recorded meanwhile.
func (s *Store) unsaid(review record.Review, p record.Person) []record.Comment {
	said := map[string]string{}
	for _, sub := range review.Submissions {
		for _, c := range sub.Comments {
			if record.SameActor(sub.Reviewer, p.Actor) {
				said[c.ID] = c.Comment
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Comments), func(c record.Comment) bool {
		text, sent := said[c.ID]
		return sent && text == s.redacted(c.Comment)
	})
}

// repeats reports whether p, after unsaid, adds nothing to the person's newest submission on the same code, in a review
// that is not closed.
func (s *Store) repeats(ctx context.Context, review record.Review, p record.Person) bool {
	newest, ok := review.Newest(p.Actor)
	message := s.redacted(p.Message)
	isMessage := func(c record.Comment) bool { return c.Comment == strings.TrimSpace(message) }
	same := newest.Decision == cmp.Or(p.Decision, record.CommentOnly) &&
		(message == "" || message == newest.Report.Summary || slices.ContainsFunc(newest.Comments, isMessage))
	user, err := s.Repo.Identity(ctx)
	inName := newest.Recorder != "" && record.ByAnother(newest.Reviewer, newest.Recorder) || // a person may say it again
		!s.Repo.Owns(newest.Writer) || err != nil || record.ByAnother(p.Actor, user.String())
	return ok && same && !inName && len(p.Comments) == 0 && review.ClosedAt.IsZero() && newest.Commit == review.At()
}

// ClaimReview claims a submitted review for by.Actor, or renews the actor's claim. It returns a *StateError with a
// Holder if somebody else holds it.
func (s *Store) ClaimReview(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	return s.actorEvent(ctx, id, record.EventReviewClaimed, by.Payload())
}

// ReleaseReview releases a claim.
func (s *Store) ReleaseReview(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	return s.actorEvent(ctx, id, record.EventReviewReleased,
		record.ActorPayload{Actor: by.Actor, Force: by.Force, Claim: by.Claim})
}

// ResolveReview closes a submitted review as dealt with. A second resolution changes nothing.
func (s *Store) ResolveReview(ctx context.Context, id string, by record.Hold, note string) (record.Review, error) {
	return s.actorEvent(ctx, id, record.EventReviewResolved,
		record.ActorPayload{Actor: by.Actor, Force: by.Force, Note: note, Claim: by.Claim, Quiet: by.Quiet})
}

// CancelReview withdraws an open request.
func (s *Store) CancelReview(ctx context.Context, id, actor, note string) (record.Review, error) {
	return s.actorEvent(ctx, id, record.EventReviewCancelled, record.ActorPayload{Actor: actor, Note: note})
}

// ReopenReview reverses a resolution or a cancellation.
func (s *Store) ReopenReview(ctx context.Context, id, actor string) (record.Review, error) {
	return s.actorEvent(ctx, id, record.EventReviewReopened, record.ActorPayload{Actor: actor})
}

// AnswerFinding records an answer to one finding or comment. It returns a *NotFoundError if the review has none with
// that id.
func (s *Store) AnswerFinding(ctx context.Context, id string, answer record.Answer, force bool) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := answer.Check(); err != nil {
		return review, err
	}
	if answer.Finding, _, err = review.FindFinding(answer.Finding); err != nil {
		return review, err
	}
	if err := s.checkFix(ctx, review, answer); err != nil {
		return review, err
	}
	answer = review.AsItCounts(answer)
	said := answer
	if user, err := s.Repo.Identity(ctx); err == nil {
		said.Voice = review.VoiceIn(s.Repo.WriterFor(s.Repo.Audience(review.Writer)), answer.Actor, user.String())
	}
	title := answer.Finding + " " + review.Saying(said)
	event := record.EventReviewAnswered.New("cli", title, record.FindingAnswer{Answer: answer, Force: force})
	return s.reviewEvent(ctx, review.ID, event)
}

// checkFix returns an *InputError if the fixing commit is not later than the reviewed one. It checks nothing if one of
// them is not here.
func (s *Store) checkFix(ctx context.Context, review record.Review, answer record.Answer) error {
	reviewed := review.Request.Subject.Commit
	if answer.Kind != record.AnswerFixed || reviewed == "" {
		return nil
	}
	for _, id := range []gitstore.ID{reviewed, answer.Commit} {
		if _, err := s.Repo.ReadCommit(ctx, id); err != nil {
			return ctx.Err()
		}
	}
	before, err := s.Repo.IsAncestor(ctx, answer.Commit, reviewed)
	if err != nil || !before {
		return err
	}
	return &record.InputError{Why: fmt.Sprintf("%s cannot have fixed what was found in %s, for it is no later",
		answer.Commit.Short(), reviewed.Short())}
}

// actorEvent records what an actor does to a review.
func (s *Store) actorEvent(ctx context.Context, id string, t record.EventType[record.ActorPayload],
	by record.ActorPayload) (record.Review, error) {
	if !record.ValidID(id) {
		review, err := s.Review(ctx, id)
		if err != nil {
			return review, err
		}
		id = review.ID
	}
	if err := record.CheckActor(by.Actor); err != nil {
		return record.Review{}, err
	}
	by.Actor = s.redacted(by.Actor) // as it will be recorded, since claims are compared by that
	return s.eventOn(ctx, id, func(before record.Review) record.NewEvent {
		if (t == record.EventReviewResolved || t == record.EventReviewReopened) && !by.Quiet {
			by.Commit = before.At()
		}
		return t.New("cli", "by "+by.Actor, by)
	})
}

// errSettled ends a decision that has nothing to record.
var errSettled = errors.New("nothing to record")

// JudgeReview records the judge's rulings. raw is its unparsed answer.
func (s *Store) JudgeReview(ctx context.Context, id string, j record.Judgement, raw string) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewJudged.New(record.JudgeTurn(j.By),
		fmt.Sprintf("by %s, %s", j.By, j.Count()), j).Attach("review.md", raw))
}

// PinReview protects the reviewed content from git's gc in this clone.
func (s *Store) PinReview(ctx context.Context, review record.Review) error {
	return s.Repo.Pin(ctx, "review "+review.ID, review.Request.Subject.Tree)
}

// FailReview records that the reviewer could not be run; the review stays open.
func (s *Store) FailReview(ctx context.Context, id, reviewer string, failure record.Failure) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewFailed.New(reviewer, failure.Reason+" "+failure.Detail, failure))
}

// beganBy returns the writer in whose log a review begins, or "" if all logs have the same audience.
func (s *Store) beganBy(ctx context.Context, id string) (writer string, err error) {
	if s.Repo.OneAudience() {
		return "", nil
	}
	err = s.ofTyped(ctx, kindReview, id, func(_ *index, r *row) error {
		line, err := loadLine[record.ReviewSummary](r)
		writer = line.Writer
		return err
	})
	return writer, err
}

// reviewEvent records d for a review if the review's newest state allows it.
func (s *Store) reviewEvent(ctx context.Context, id string, d record.NewEvent) (record.Review, error) {
	return s.eventOn(ctx, id, func(record.Review) record.NewEvent { return d })
}

// eventOn records the event that of returns for the newest state of a review, if that state allows it.
func (s *Store) eventOn(ctx context.Context, id string, of func(record.Review) record.NewEvent) (record.Review, error) {
	var before record.Review
	writer, err := s.beganBy(ctx, id)
	if err != nil {
		return before, err
	}
	event, err := s.Append(ctx, s.Repo.Audience(writer), func(v *View) (record.NewEvent, error) {
		st, err := v.state(entity{kindReview, id})
		if err != nil {
			return record.NewEvent{}, err
		}
		before = st.review
		d := of(before)
		settled, err := before.Admit(d, v.Writer, v.Now)
		if settled {
			err = errSettled
		}
		if err != nil {
			return record.NewEvent{}, err
		}
		d.Review, d.Run, d.Status = id, before.Request.Run, before.StatusAfter
		return d, nil
	})
	if errors.Is(err, errSettled) {
		return before, nil
	}
	if err != nil {
		return before, err
	}
	err = before.Apply(event)
	return s.seen(before), err
}

// MoveReview records where the code of a review went, unless that is recorded already.
func (s *Store) MoveReview(ctx context.Context, id string, m record.Move) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewMoved.New("follow", m.Title(), m))
}

// VerifyReview records the result of a verification. raw is the agent's unparsed answer.
func (s *Store) VerifyReview(ctx context.Context, id string, v record.Verification, raw string) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewVerified.New("cli", fmt.Sprintf("by %s", v), v).Attach("review.md",
		raw))
}

// Reply records a reply in a thread of a review of any status. It returns a *record.NotFoundError if the review has no
// such finding.
func (s *Store) Reply(ctx context.Context, id string, reply record.Reply) (record.Review, error) {
	review, err := s.ReviewAbout(ctx, id, reply.Finding)
	if err != nil {
		return review, err
	}
	if err := reply.Check(); err != nil {
		return review, err
	}
	if review, reply.Finding, err = s.ThreadOf(ctx, review, reply.Finding); err != nil {
		return review, err
	}
	if err := review.MaySay(reply.Finding); err != nil {
		return review, err
	}
	event := record.EventReviewReplied.New("cli", "by "+reply.Actor, reply)
	return s.reviewEvent(ctx, review.ID, event)
}

// GiveReview hands an unanswered review to other people. It returns a *record.StateError if the review was answered or
// somebody else has claimed it.
func (s *Store) GiveReview(ctx context.Context, id string, given record.Given) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := record.CheckActor(given.Actor); err != nil {
		return review, err
	}
	return s.reviewEvent(ctx, review.ID, record.EventReviewGiven.New("cli", "to "+strings.Join(given.People, ", "), given))
}

// notShared lists the events of a private review that mean nothing elsewhere.
var notShared = []string{record.EventReviewClaimed.Name, record.EventReviewReleased.Name,
	record.EventReviewRedacted.Name}

// SharedAs is the prefix of the note of a private review that was shared. The id of the copy follows.
const SharedAs = "shared as "

// ShareReview copies a private review into the log for an audience: requests, answers and replies, without redacted
// texts. It returns the copy, which has its own id, and closes the private review.
func (s *Store) ShareReview(ctx context.Context, id string, to gitstore.Audience, actor string) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if s.Repo.Audience(review.Writer) != (gitstore.Audience{Private: true}) {
		return review, &record.InputError{Why: fmt.Sprintf("review %s is not private", review.ID)}
	}
	if err := record.CheckActor(actor); err != nil {
		return review, err
	}
	events, err := s.ReviewEvents(ctx, review.ID)
	if err != nil {
		return review, err
	}
	copied := ""
	for _, e := range events {
		if !strings.HasPrefix(e.Type, "review_") || slices.Contains(notShared, e.Type) {
			continue
		}
		if copied, err = s.shareEvent(ctx, to, review, e, copied); err != nil {
			return review, err
		}
	}
	by := record.ActorPayload{Actor: actor, Note: SharedAs + copied, Force: true}
	switch review.Status {
	case record.ReviewOpen:
		_, err = s.actorEvent(ctx, review.ID, record.EventReviewCancelled, by)
	case record.ReviewSubmitted, record.ReviewClaimed:
		_, err = s.actorEvent(ctx, review.ID, record.EventReviewResolved, by)
	}
	if err != nil {
		return review, err
	}
	return s.ReviewByID(ctx, copied)
}

// shareEvent copies one event of a private review. The first call, with an empty id, makes the copy's id.
func (s *Store) shareEvent(ctx context.Context, to gitstore.Audience, review record.Review, e record.Event,
	id string) (string, error) {
	entry, err := s.Repo.Entry(ctx, e.ID)
	if err != nil {
		return id, err
	}
	attachments := map[string][]byte{}
	if len(review.Redactions) == 0 {
		if attachments, err = s.attachments(ctx, e.ID); err != nil {
			return id, err
		}
	}
	_, err = s.appendCopy(ctx, to, e, entry, attachments, func(again *record.Event) (err error) {
		if id == "" {
			id, err = record.NewID(s.EventTime(), again.Writer, again.Clock, review.Request)
		}
		again.Review, again.Run = id, ""
		return err
	})
	return id, err
}
