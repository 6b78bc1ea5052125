package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// Worker does the reviews that agents were asked for. What is to be done follows from the
// logs alone; who does it holds a lock in this clone and, where another clone could do it
// too, a lease on the remote.
type Worker struct {
	Store    *store.Store                                       // required
	Reviewer func(name string) (role.Reviewer, *record.Failure) // required
	// Checks are those to run for a change, and why others are not run. nil: none.
	Checks   func(ctx context.Context, review record.Review, change reviewing.Change) (run []runplan.Check, not []string)
	Checker  checking.Checker  // required with Checks
	Retry    bool              // also reviews whose reviewer could not be run before
	Exclude  []string          // git globs left out of every review
	Progress checking.Progress // required
	// ExcludedBy is as in role.Limits.
	ExcludedBy string
	// Parallel is how many reviewers are at work at once in this clone, and Jobs how many
	// of them this process has at most. 0 is one, and Parallel.
	Parallel, Jobs int
	// Remote is where leases are taken and given back; "" for none.
	Remote string
	// ForAll also does what other writers asked agents for that can be run here, and shares
	// what came of it by Sync, which is required then, as Remote is.
	ForAll      bool
	Sync        func(ctx context.Context) error
	Closing     closing.Rule                                    // what ends by itself
	Heard       func(ctx context.Context, review record.Review) // hears of every review that somebody answered; nil: nobody does
	Generated   bool                                            // look at generated and vendored files as well
	Instructed  bool                                            // tell reviewers what the project says to them: see reviewing.Inquiry
	KeepChecked bool                                            // what a hook's commit is checked with and finds nothing stays in this clone, see record.KeepChecked
	// Ask asks for a review of a commit that no hook saw; nil: nobody does.
	Ask   func(ctx context.Context, commit gitstore.ID) error
	Terms reviewing.Terms
	// Awaited says that somebody waits for what is done: a quota is waited for as Terms have it. Other workers go on
	// with the next review, and come back to this one.
	Awaited bool
}

// Worked is what a worker did.
type Worked struct {
	Reviews int  // that agents answered
	Failed  int  // of which an agent failed
	Busy    bool // others have all that may be at work at once in this clone
}

// Work does every review that can be done now, oldest first and side by side, until none
// is left. A reviewer that could not be run is tried again when it is due, if it may well
// answer then, and otherwise when Retry says so. What is left is Queue's to tell.
func (w *Worker) Work(ctx context.Context) (Worked, error) {
	if err := w.begin(ctx); err != nil {
		return Worked{}, err
	}
	s := &scheduler{Worker: w, slots: newSlots(w), seen: map[string]bool{}, later: map[string]bool{}, ended: make(chan ended)}
	leases, err := w.leases(ctx)
	if err != nil {
		return Worked{}, err
	}
	for review := range leases {
		s.seen[review] = true
	}
	err = s.run(ctx)
	w.confirm(ctx, s.answered)
	return s.worked, errors.Join(append(s.refusals, err)...)
}

// begin puts right what killed workers have left, and finds out what there is to do.
func (w *Worker) begin(ctx context.Context) error {
	if _, err := checking.DropCheckouts(ctx, w.Store, false); err != nil {
		return err
	}
	if err := dropStatuses(w.Store); err != nil {
		return err
	}
	if w.ForAll {
		if err := w.Sync(ctx); err != nil {
			return err
		}
		if err := w.fetchWanted(ctx); err != nil {
			return err
		}
		_ = share.FetchLeases(ctx, w.Store, w.Remote) // a lease that is not known is met when the review is taken
	}
	if err := w.follow(ctx); err != nil {
		return err
	}
	return w.dropLeases(ctx)
}

// follow has reviews go where their code went. That it cannot be done now is told, and no
// reason to do no review: the next worker does it.
func (w *Worker) follow(ctx context.Context) error {
	followed, err := lineage.Follow(ctx, w.Store)
	if err == nil && w.Ask != nil {
		for _, commit := range followed.Made {
			err = errors.Join(err, w.Ask(ctx, commit))
		}
	}
	if err == nil && followed.Carried+followed.Stale+followed.Gone > 0 {
		err = w.Store.Project(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		w.Progress.Say("What was rewritten is not followed: " + err.Error())
	}
	return nil
}

// Review has every agent that was asked and has not answered do its review, side by side,
// and records the answers, or why there are none. It is gitstore.ErrBusy when another
// process of this clone is at it, and a *share.LeasedError when another clone is.
func (w *Worker) Review(ctx context.Context, review record.Review) (record.Review, error) {
	review, _, err := w.take(ctx, review, w.ownSlots())
	return review, err
}

// take is Review by those who get a place each.
func (w *Worker) take(ctx context.Context, review record.Review, places slotSource) (_ record.Review, done outcome, err error) {
	unlock, err := w.lock(review.ID)
	if err != nil {
		return review, done, err
	}
	defer func() {
		dropStatus(w.Store, review.ID)
		unlock()
	}()
	review, turns, err := w.open(ctx, review.ID)
	if err != nil || len(turns) == 0 {
		return review, done, err
	}
	if _, err := w.Store.Repo.Identity(ctx); err != nil { // nothing of what an agent is paid for could be recorded
		return review, done, err
	}
	if same, err := w.sameChangeReviewed(ctx, review); err != nil || same {
		if err == nil {
			err = errSameChange
		}
		return review, done, err
	}
	if known, err := lineage.Known(ctx, w.Store, review); err != nil || known != "" {
		if err == nil {
			review, err = w.Store.CancelReview(ctx, review.ID, record.Itself, "the same change was reviewed: "+known)
		}
		return review, done, err
	}
	if err := w.Store.PinReview(ctx, review); err != nil {
		review, err = w.skip(ctx, review, turns, err)
		return review, done, err
	}
	release, err := w.lease(ctx, review)
	if err != nil {
		return review, done, err
	}
	for seen := map[string]bool{}; ; { // the judge's turn comes when the others are over
		turns, one, failed := w.do(ctx, review.ID, places, seen)
		done.answered, done.failed = done.answered+one.answered, done.failed+one.failed
		if err = failed; turns == 0 || err != nil {
			break
		}
	}
	err = errors.Join(err, release(ctx))
	review, again := w.Store.Review(ctx, review.ID)
	if err = errors.Join(err, again); err == nil {
		err = w.Store.Project(ctx)
	}
	if err == nil && done.answered > 0 && w.Heard != nil {
		w.Heard(ctx, review)
	}
	return review, done, err
}

// errSameChange says that a reviewer is looking at the same change for an older review,
// which may come to speak for this one.
var errSameChange = fmt.Errorf("the same change is being reviewed: %w", gitstore.ErrBusy)

// sameChangeReviewed reports whether review, which a hook asked for, is of the change that its reviewer
// is looking at now for an older one.
func (w *Worker) sameChangeReviewed(ctx context.Context, review record.Review) (bool, error) {
	if !lineage.AskedByItself(review) {
		return false, nil
	}
	waiting, err := w.waiting(ctx, func(r record.ReviewSummary) bool {
		older := cmp.Or(r.CreatedAt.Compare(review.CreatedAt), strings.Compare(r.ID, review.ID)) < 0
		return older && r.Commit != "" && r.Reviewer == review.Request.Reviewer
	})
	if err != nil {
		return false, err
	}
	change := ""
	for _, r := range waiting {
		if !held(w.Store.Repo, reviewLock(r.ID)) {
			continue
		}
		older, err := w.Store.Review(ctx, r.ID)
		if err != nil {
			return false, err
		}
		if change = cmp.Or(change, w.Store.ChangeID(ctx, review.Request.Subject)); change != "" && w.Store.ChangeID(ctx, older.Request.Subject) == change {
			return true, nil
		}
	}
	return false, nil
}

// open is a review as it is now, and the agents whose turn it is, none when it is closed.
func (w *Worker) open(ctx context.Context, id string) (review record.Review, turns []string, err error) {
	review, err = w.Store.Review(ctx, id)
	if err == nil && record.WaitingStatus(string(review.Status)) {
		turns = w.dueAgents(review.Summary())
	}
	return review, turns, err
}

// do has all agents whose turn it is review side by side, but for those in seen, and adds
// them to it; it gives how many that were.
func (w *Worker) do(ctx context.Context, id string, places slotSource, seen map[string]bool) (n int, done outcome, err error) {
	review, turns, err := w.open(ctx, id) // once more: a lease may have brought news
	turns = slices.DeleteFunc(turns, func(turn string) bool { return seen[turn] })
	if err != nil || len(turns) == 0 {
		return 0, done, err
	}
	s := &session{Worker: w, status: newStatusFile(w.Store, id)}
	defer s.status.close()
	var mu sync.Mutex // guards done and err
	var all sync.WaitGroup
	for _, name := range turns {
		leave, full := places.enter(ctx)
		if full != nil {
			all.Wait()
			return len(turns), done, errors.Join(err, full)
		}
		seen[name] = true
		all.Go(func() {
			defer leave()
			one, failed := s.review(ctx, review, name)
			mu.Lock()
			defer mu.Unlock()
			done.answered, done.failed = done.answered+one.answered, done.failed+one.failed
			err = errors.Join(err, failed)
		})
	}
	all.Wait()
	return len(turns), done, err
}

// skip records why a review cannot be done by those who were asked, once, where that
// is for want of an object, which may be there the next time. Of what others asked for it
// is no news that it is not here. Any other err is returned.
func (w *Worker) skip(ctx context.Context, review record.Review, names []string, err error) (record.Review, error) {
	var object *gitstore.MissingError
	if !errors.As(err, &object) || w.foreign(review.Writer) {
		return review, fmt.Errorf("review %s: %w", review.ID, err)
	}
	failure := record.Failure{Reason: record.ReasonObjects, Detail: object.What, Try: object.Try, RetryAt: w.Store.EventTime()}
	for _, name := range names {
		known := func(f record.Failure) bool {
			return f.Reviewer == name && f.Reason == failure.Reason && f.Detail == failure.Detail
		}
		if slices.ContainsFunc(review.Failures, known) {
			continue
		}
		if review, err = w.Store.FailReview(ctx, review.ID, name, failure); err != nil {
			return review, err
		}
	}
	return review, nil
}
