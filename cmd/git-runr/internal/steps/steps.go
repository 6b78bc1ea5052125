// Package steps takes the steps of a review that are more than an event of this clone:
// clones decide together who has a review, and the notes follow what was submitted or
// closed. The command line, its page and the tools of agents take them here.
package steps

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/store"
)

// Taker takes the steps of the reviews of one repository. All its fields are required;
// the functions may be called from several goroutines at once. The errors of its methods
// are those of the method of Store for the same step: a *record.StateError with a Holder,
// and the review, where somebody else has it.
type Taker struct {
	Store *store.Store
	// Claim claims a review where all clones decide it. provisional says why the claim
	// counts in this clone only; "" when it counts in all.
	Claim func(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error)
	// Held refuses a step on a review that somebody else has where all clones decide it:
	// asked there, or as it was last heard.
	Held func(ctx context.Context, id string, by record.Hold, ask bool) (record.Review, error)
	// Unclaim gives back what Claim took elsewhere, once the claim here is gone.
	Unclaim func(review record.Review, by record.Hold)
	// Closing says what ends by itself once something was submitted or answered.
	Closing closing.Rule
	// Closed brings the notes up to date with what was submitted, closed or reopened.
	Closed func()
}

// Submit is Store.SubmitPerson.
func (t Taker) Submit(ctx context.Context, id string, p record.Person) (record.Review, error) {
	defer t.Store.Together()()
	review, err := t.Store.SubmitPerson(ctx, id, p)
	if err != nil {
		return review, err
	}
	defer t.Closed() // once, for what was submitted and for what ended by it
	return closing.Close(ctx, t.Store, review, t.Closing)
}

// Release is Store.ReleaseReview, in all clones.
func (t Taker) Release(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	review, err := t.letGo(ctx, id, by, func() (record.Review, error) { return t.Store.ReleaseReview(ctx, id, by) })
	return t.close(ctx, review, err)
}

// Resolve is Store.ResolveReview, in all clones.
func (t Taker) Resolve(ctx context.Context, id string, by record.Hold, note string) (record.Review, error) {
	return t.closed(t.letGo(ctx, id, by, func() (record.Review, error) { return t.Store.ResolveReview(ctx, id, by, note) }))
}

// Answer is Store.AnswerFinding, unless somebody in another clone has the review, or what is said to be fixed is
// still there by the rule that found it. What was carried into a review is answered in the round that it belongs to.
func (t Taker) Answer(ctx context.Context, id string, given record.Answer, force bool) (record.Review, error) {
	asked, err := t.Store.Review(ctx, id)
	if err != nil {
		return asked, err
	}
	review, err := t.Store.ThreadOf(ctx, asked, given.Finding)
	if err != nil {
		return review, err
	}
	if held, err := t.Held(ctx, review.ID, record.Hold{Actor: given.Actor, Force: force}, false); err != nil {
		return held, err
	}
	if given, err = review.Confirmation(given); err != nil {
		return review, err
	}
	if given, err = (&reviewing.Verifier{Store: t.Store, Rules: builtin.Reviewer{Repo: t.Store.Repo}}).Look(ctx, review, given); err != nil {
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

// close is closing.Close of what a step came to.
func (t Taker) close(ctx context.Context, review record.Review, err error) (record.Review, error) {
	if err != nil {
		return review, err
	}
	if review, err = closing.Close(ctx, t.Store, review, t.Closing); !review.ClosedAt.IsZero() {
		return t.closed(review, err)
	}
	return review, err
}

// Reopen is Store.ReopenReview.
func (t Taker) Reopen(ctx context.Context, id, actor string) (record.Review, error) {
	return t.closed(t.Store.ReopenReview(ctx, id, actor))
}

// Pin keeps what was asked to be reviewed from git's gc. What HEAD names is safe for
// weeks, and the worker pins it; anything else may be on no branch.
func Pin(ctx context.Context, store *store.Store, made record.Review) error {
	head, err := store.Repo.Head(ctx)
	if err == nil && head == made.Request.Subject.Tree {
		return nil
	}
	return store.PinReview(ctx, made)
}

// letGo does a step that ends a claim.
func (t Taker) letGo(ctx context.Context, id string, by record.Hold, step func() (record.Review, error)) (record.Review, error) {
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

// awaitEvery is how often Await looks.
const awaitEvery = 300 * time.Millisecond

// Await reads again and again until done says that what was read need not be waited for, or ctx ends.
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
