// Package steps implements the steps on a review that involve more than one event in this clone: clones agree on who
// holds a review, and notes are updated after a submission or closing. The command line, the web page and the tools
// for agents use it.
package steps

import (
	"context"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/people"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/store"
)

// Taker takes steps on the reviews of one repository. All fields are required; its functions may be called
// concurrently. Methods return the errors of the Store method for the same step: a *record.StateError with a Holder,
// and the review, if somebody else holds it.
type Taker struct {
	Store   *store.Store
	Secrets *builtin.Secrets // with which the built-in reviewer looks at what is answered as fixed
	// NotHere says why reviews may not be in this clone, or "": share.NotHere.
	NotHere func(ctx context.Context) string
	// Claim claims a review for all clones. provisional says why the claim counts only in this clone, or is "".
	Claim func(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error)
	// Held returns an error if somebody else holds the review. With ask it asks the remote that decides, else it uses
	// the last known state.
	Held func(ctx context.Context, id string, by record.Hold, ask bool) (record.Review, error)
	// Unclaim releases the claim on the remote after the claim here has ended.
	Unclaim func(review record.Review, by record.Hold)
	// Closing is the rule for what closes by itself after a submission or an answer.
	Closing closing.Rule
	// Closed updates the notes after a review was submitted, closed or reopened.
	Closed func()
}

// Submit calls Store.SubmitPerson and closes what needs nobody any more.
func (t Taker) Submit(ctx context.Context, id string, p record.Person) (record.Review, error) {
	defer t.Store.Together()()
	p, err := t.mapped(ctx, id, p)
	if err != nil {
		return record.Review{}, err
	}
	review, err := t.Store.SubmitPerson(ctx, id, p)
	if err != nil {
		return review, err
	}
	defer t.Closed() // once for the submission and all that it closed
	return closing.Close(ctx, t.Store, review, t.Closing)
}

// mapped fills in p.Mapped of an approval. It needs .mailmap of the base, which it reads here because a fold of events
// reads no files.
func (t Taker) mapped(ctx context.Context, id string, p record.Person) (record.Person, error) {
	if p.Decision != record.Approve {
		return p, nil
	}
	review, err := t.Store.Review(ctx, id)
	if err != nil {
		return p, nil // SubmitPerson says what is wrong
	}
	base := lineage.BaseOfSubject(t.Store.Repo, review.Request.Subject)
	if _, err := t.Store.Repo.File(ctx, base, ".mailmap"); err != nil {
		return p, nil // there is none, or the base is not in this clone; a gate reads it again
	}
	user, err := t.Store.Repo.Identity(ctx)
	if err != nil {
		return p, err
	}
	speakers := []string{p.Actor, user.String()}
	who, err := t.Store.Repo.Mailmapped(ctx, base, each.Of(append(speakers, review.Authors()...), gitstore.ParseIdentity))
	for i, speaker := range speakers {
		isAuthor := func(author gitstore.Identity) bool { return people.MayBeOne(author, who[i]) }
		if err == nil && slices.ContainsFunc(who[len(speakers):], isAuthor) {
			p.Mapped = append(p.Mapped, speaker)
		}
	}
	return p, err
}

// Release calls Store.ReleaseReview for all clones.
func (t Taker) Release(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	review, err := t.letGo(ctx, id, by, func() (record.Review, error) { return t.Store.ReleaseReview(ctx, id, by) })
	return t.close(ctx, review, err)
}

// Resolve calls Store.ResolveReview for all clones.
func (t Taker) Resolve(ctx context.Context, id string, by record.Hold, note string) (record.Review, error) {
	return t.closed(t.letGo(ctx, id, by, func() (record.Review, error) {
		return t.Store.ResolveReview(ctx, id, by, note)
	}))
}

// Answer calls Store.AnswerFinding. It refuses if somebody in another clone holds the review, or if the rule that
// found a finding still finds what is answered as fixed. A finding carried from an earlier round is answered in that
// round.
func (t Taker) Answer(ctx context.Context, id string, given record.Answer, force bool) (record.Review, error) {
	asked, err := t.Store.ReviewAbout(ctx, id, given.Finding)
	if err == nil {
		err = record.CheckNamed(given.Actor)
	}
	if err != nil {
		return asked, err
	}
	review, finding, missing := t.Store.ThreadOf(ctx, asked, given.Finding)
	if held, err := t.Held(ctx, review.ID, record.Hold{Actor: given.Actor, Force: force}, false); err != nil {
		return held, err
	}
	if missing != nil {
		return review, missing
	}
	given.Finding = finding
	if given, err = t.confirmation(ctx, review, given); err == nil {
		err = review.Answerable()
	}
	if err != nil {
		return review, err
	}
	rules := builtin.Reviewer{Repo: t.Store.Repo, Secrets: t.Secrets}
	if given, err = (&reviewing.Verifier{Store: t.Store, Rules: rules}).Look(ctx, review, given); err != nil {
		return review, err
	}
	review, err = t.Store.AnswerFinding(ctx, review.ID, given, force)
	claim := review.Claim
	review, err = t.close(ctx, review, err)
	if claim != nil && err == nil && review.Status == record.ReviewResolved {
		t.Unclaim(review, record.Hold{Actor: claim.By, Claim: claim.ID})
	}
	if asked.ID != review.ID && err == nil {
		_, err = t.close(ctx, asked, nil)
	}
	return review, err
}

// confirmation returns review.Confirmation of an answer that the user of this repository gives.
func (t Taker) confirmation(ctx context.Context, review record.Review, given record.Answer) (record.Answer, error) {
	if given.Kind != record.AnswerConfirmed {
		return given, nil
	}
	user, err := t.Store.Repo.Identity(ctx)
	if err != nil {
		return given, err
	}
	repo := t.Store.Repo
	given.Voice = review.VoiceIn(repo.WriterFor(repo.Audience(review.Writer)), given.Actor, user.String())
	given, err = review.Confirmation(given)
	given.Voice = record.Voice{}          // the event has it
	if err == nil && given.Commit != "" { // nobody can confirm a fix that is not in this clone
		_, err = repo.ReadCommit(ctx, given.Commit)
	}
	return given, err
}

// close calls closing.Close after a step that returned review and err.
func (t Taker) close(ctx context.Context, review record.Review, err error) (record.Review, error) {
	if err != nil {
		return review, err
	}
	if review, err = closing.Close(ctx, t.Store, review, t.Closing); !review.ClosedAt.IsZero() {
		return t.closed(review, err)
	}
	return review, err
}

// Reopen calls Store.ReopenReview.
func (t Taker) Reopen(ctx context.Context, id, actor string) (record.Review, error) {
	return t.closed(t.Store.ReopenReview(ctx, id, actor))
}

// Pin protects the code under review from git's gc. The code of HEAD is safe for weeks, and the worker pins it; any
// other code may be on no branch.
func Pin(ctx context.Context, store *store.Store, made record.Review) error {
	head, err := store.Repo.Head(ctx)
	if err == nil && head == made.Request.Subject.Tree {
		return nil
	}
	return store.PinReview(ctx, made)
}

// letGo takes a step that ends a claim.
func (t Taker) letGo(ctx context.Context, id string, by record.Hold,
	step func() (record.Review, error)) (record.Review, error) {
	if review, err := t.Held(ctx, id, by, true); err != nil {
		return review, err
	}
	review, err := step()
	if err == nil {
		t.Unclaim(review, by)
	}
	return review, err
}

func (t Taker) closed(review record.Review, err error) (record.Review, error) {
	if err == nil {
		t.Closed()
	}
	return review, err
}

// awaitEvery is the interval at which Await reads.
const awaitEvery = 300 * time.Millisecond

// Await calls read repeatedly until done accepts the result, or ctx ends.
func Await[T any](ctx context.Context, read func(context.Context) (T, error), done func(T) bool) (T, error) {
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		got, err := read(ctx)
		if err != nil || done(got) {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-tick.C:
		}
	}
}
