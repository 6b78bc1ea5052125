package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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
	"github.com/git-runr/git-runr/loop/workspace"
)

// Worker runs the reviews that were requested from agents. The logs alone decide what there is to do. A process holds a
// lock in this clone for each review and, if another clone could do it too, a lease on the remote.
type Worker struct {
	Store    *store.Store                                       // required
	Reviewer func(name string) (role.Reviewer, *record.Failure) // required
	// Checks returns the checks to run for a change, and why others do not run. nil means none.
	Checks   func(ctx context.Context, review record.Review, change reviewing.Change) (run []runplan.Check, not []string)
	Checker  checking.Checker  // required with Checks
	Retry    bool              // also run reviewers that failed before
	Exclude  []string          // git globs left out of every review
	Progress checking.Progress // required
	// ExcludedBy is as in role.Limits.
	ExcludedBy string
	// Parallel is the number of reviewers that may run at once in this clone; 0 means one. Jobs is the maximum in this
	// process; 0 means Parallel.
	Parallel, Jobs int
	// Remote is where leases are taken and released; "" means that there are none.
	Remote string
	// ForAll also runs what other writers requested from agents that are available here, and shares the results with
	// Sync. It requires Sync and Remote.
	ForAll      bool
	Sync        func(ctx context.Context) error
	Closing     closing.Rule                                    // which reviews close without a person
	Heard       func(ctx context.Context, review record.Review) // if not nil, called for every answered review
	Generated   bool                                            // review generated and vendored files as well
	Instructed  bool                                            // pass on instructions: see reviewing.Inquiry
	KeepChecked bool                                            // see store.Store.KeepChecked
	// Ask requests a review of a commit that no hook saw; nil means that none is requested.
	Ask   func(ctx context.Context, commit gitstore.ID) error
	Terms reviewing.Terms
	// Awaited means that somebody waits for the result: the worker waits for a quota within Terms. Other workers go on
	// with the next review and come back to this one.
	Awaited bool
}

// Worked counts what a worker did.
type Worked struct {
	Reviews int  // answered by agents
	Failed  int  // with a failed agent
	Busy    bool // other processes have all slots of this clone
}

// Work runs every review that can run now, oldest first and in parallel, until none is left. A reviewer that failed is
// run again when it is due, if it is worth retrying, or if Retry is set. Queue shows what is left.
func (w *Worker) Work(ctx context.Context) (Worked, error) {
	if err := w.begin(ctx); err != nil {
		return Worked{}, err
	}
	s := &scheduler{Worker: w, slots: newSlots(w), seen: map[string]bool{}, later: map[string]bool{},
		ended: make(chan ended)}
	leases, err := share.Leases(ctx, w.Store, w.Remote)
	if err != nil {
		return Worked{}, err
	}
	for review := range leases {
		s.seen[review] = true
	}
	err = s.run(ctx)
	if err := w.confirm(ctx, s.answered); err != nil && ctx.Err() == nil {
		w.Progress.Say("What was found is not verified: " + err.Error())
	}
	return s.worked, errors.Join(append(s.refusals, err)...)
}

// begin cleans up after killed workers and updates what there is to do.
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
		_ = share.FetchLeases(ctx, w.Store, w.Remote) // taking the review reveals an unknown lease
	}
	if err := w.follow(ctx); err != nil {
		return err
	}
	return w.dropLeases(ctx)
}

// follow moves reviews to where their code went. An error is reported and stops no review: the next worker follows
// again.
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

// Review runs every agent that has not answered yet, in parallel, and records the answers or failures. It returns
// gitstore.ErrBusy if another process of this clone works on the review, and a *share.LeasedError if another clone
// does. If a newer request for the same change was answered meanwhile, which cancels this one, it returns the newer
// one.
func (w *Worker) Review(ctx context.Context, review record.Review) (record.Review, error) {
	done, _, err := w.take(ctx, review, w.ownSlots())
	if err != nil && !errors.As(err, new(*record.StateError)) {
		return done, err
	}
	asked, failed := w.Store.Review(ctx, review.ID)
	if failed != nil || asked.Status != record.ReviewCancelled {
		return done, cmp.Or(err, failed)
	}
	newer, failed := closing.SupersededBy(ctx, w.Store, asked)
	if failed != nil || newer.ID == "" {
		return done, cmp.Or(err, failed)
	}
	w.Progress.Say("review " + review.ID + " was cancelled: " + newer.ID + " is of the same change, and is shown instead")
	return newer, nil
}

// take is Review with a slot for each agent.
func (w *Worker) take(ctx context.Context, review record.Review,
	places enter) (_ record.Review, done outcome, err error) {
	unlock, err := w.lock(review.ID)
	if err != nil {
		return review, done, err
	}
	defer unlock()
	review, turns, err := w.open(ctx, review.ID)
	if err != nil || len(turns) == 0 {
		return review, done, err
	}
	if _, err := w.Store.Repo.Identity(ctx); err != nil { // nothing that an agent is paid for could be recorded
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
	for seen := map[string]bool{}; ; { // the judge's turn comes after the others
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

// errSameChange means that a reviewer is examining the same change for an older review, whose result may cover this
// one.
var errSameChange = fmt.Errorf("the same change is being reviewed: %w", gitstore.ErrBusy)

// sameChangeReviewed reports whether a hook requested review and its reviewer is examining the same change for an older
// review.
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
		if !workspace.Held(w.Store, reviewLock(r.ID)) {
			continue
		}
		older, err := w.Store.Review(ctx, r.ID)
		if err != nil {
			return false, err
		}
		if change = cmp.Or(change, w.Store.ChangeID(ctx, review.Request.Subject)); change != "" &&
			w.Store.ChangeID(ctx, older.Request.Subject) == change {
			return true, nil
		}
	}
	return false, nil
}

// open returns the current state of a review and the agents whose turn it is, none if the review is closed.
func (w *Worker) open(ctx context.Context, id string) (review record.Review, turns []string, err error) {
	review, err = w.Store.Review(ctx, id)
	if err == nil && record.WaitingStatus(string(review.Status)) {
		turns = w.dueAgents(review.Summary())
	}
	return review, turns, err
}

// do runs all agents whose turn it is, in parallel, except those in seen. It adds them to seen and returns their
// number.
func (w *Worker) do(ctx context.Context, id string, places enter,
	seen map[string]bool) (n int, done outcome, err error) {
	review, turns, err := w.open(ctx, id) // again: a lease may have brought new events
	turns = slices.DeleteFunc(turns, func(turn string) bool { return seen[turn] })
	if err != nil || len(turns) == 0 {
		return 0, done, err
	}
	s := newSession(w, id)
	defer s.status.close()
	var mu sync.Mutex // guards done and err
	var all sync.WaitGroup
	for _, name := range turns {
		leave, full := places(ctx)
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

// skip records, once, that the named agents cannot do a review because an object is missing; it may be there next time.
// It records nothing for a review requested elsewhere. It returns any other err.
func (w *Worker) skip(ctx context.Context, review record.Review, names []string, err error) (record.Review, error) {
	var object *gitstore.MissingError
	if !errors.As(err, &object) || w.foreign(review.Writer) {
		return review, fmt.Errorf("review %s: %w", review.ID, err)
	}
	failure := record.Failure{Reason: record.ReasonObjects, Detail: object.What, Try: object.Try,
		RetryAt: w.Store.EventTime()}
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

// retryWaits are the waits after each failure of a reviewer that is worth retrying, unless its provider asks for
// longer. After the last one only a person can have it retried.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// fail records why a reviewer gave no answer, and when it is retried automatically.
func (w *Worker) fail(ctx context.Context, review record.Review, name string, failure record.Failure) error {
	failure.Tries = 1
	for _, f := range review.Failures {
		if f.Reviewer == name && !w.foreign(f.Writer) && f.Transient && !w.Retry { // a person's retry starts anew
			failure.Tries = f.Tries + 1
		}
	}
	if failure.Transient && 0 < failure.Tries && failure.Tries <= len(retryWaits) {
		wait := max(retryWaits[failure.Tries-1], time.Duration(failure.RetryAfter))
		failure.RetryAt = w.Store.EventTime().Add(wait)
	}
	review, err := w.Store.FailReview(ctx, review.ID, name, failure)
	if err == nil { // the answers of the others may complete the review
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}
