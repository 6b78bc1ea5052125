package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// next returns the oldest commit that a hook noted for the built-in reviewer, else the oldest review that waits for an
// agent of this worker; not those in done.
func (w *Worker) next(ctx context.Context, done map[string]bool) (string, error) {
	all, err := intake.AllNoted(w.Store)
	noted, found := each.First(all, func(n intake.Noted) bool { return !done[string(n.Request.Subject.Commit)] })
	if err != nil || found {
		return string(noted.Request.Subject.Commit), err
	}
	waiting, err := w.waiting(ctx, func(r record.ReviewSummary) bool { return !done[r.ID] && len(w.dueAgents(r)) > 0 })
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	return waiting[0].ID, nil
}

// waiting returns the reviews that wait for an agent and satisfy fit, oldest first.
func (w *Worker) waiting(ctx context.Context, fit func(record.ReviewSummary) bool) ([]record.ReviewSummary, error) {
	found, _, err := w.Store.Reviews(ctx, store.Filter{Status: record.WaitingStatus, Waiting: true, Review: fit})
	slices.SortFunc(found, func(a, b record.ReviewSummary) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return found, err
}

// fetchWanted fetches missing commits of waiting reviews.
func (w *Worker) fetchWanted(ctx context.Context) error {
	waiting, err := w.waiting(ctx, func(r record.ReviewSummary) bool { return r.Commit != "" && len(w.dueAgents(r)) > 0 })
	if err != nil {
		return err
	}
	var wanted []gitstore.ID
	for _, r := range waiting {
		if _, err := w.Store.Repo.ReadCommit(ctx, r.Commit); errors.Is(err, gitstore.ErrNotFound) {
			wanted = each.Once(wanted, r.Commit)
		}
	}
	return w.Store.Repo.FetchCommits(ctx, w.Remote, wanted)
}

// mine returns the agents that a review waits for and that this worker runs now or later. For a review requested
// elsewhere these are the agents available here.
func (w *Worker) mine(r record.ReviewSummary) []string {
	foreign := w.foreign(r.Writer)
	if foreign && !w.ForAll {
		return nil
	}
	return each.Where(r.Waiting, func(name string) bool {
		if !record.IsAgent(name) || !foreign {
			return record.IsAgent(name)
		}
		agent, _ := record.AgentOf(name)
		_, failure := w.Reviewer(agent)
		return failure == nil
	})
}

// dueAgents returns the agents of mine that can run now.
func (w *Worker) dueAgents(r record.ReviewSummary) []string {
	now := w.Store.Now()
	return each.Where(w.mine(r), func(name string) bool {
		at, failed := w.retryAt(r, name)
		return !failed || w.Retry || !at.IsZero() && !now.Before(at)
	})
}

// retryAt reports whether an agent failed, and when to run it again: at is zero if only a person can ask for that. A
// failure in another clone counts only while it waits for a limit to pass.
func (w *Worker) retryAt(r record.ReviewSummary, name string) (at time.Time, failed bool) {
	for _, t := range r.FailedTurns {
		switch foreign := w.foreign(t.Writer); {
		case t.Reviewer != name:
		case !foreign:
			return t.RetryAt, true
		case t.RetryAt.After(w.Store.Now()):
			at, failed = t.RetryAt, true
		}
	}
	return at, failed
}

// State is the reason why an agent has not answered.
type State string

const (
	StateRunning   State = "running"   // it is running in this clone
	StateDue       State = "due"       // it waits for a worker
	StateLater     State = "later"     // it failed, and will be retried
	StateElsewhere State = "elsewhere" // another clone has the lease
	StateFailed    State = "failed"    // it failed, and only a person can have it retried
)

// Entry is an agent that a review waits for.
type Entry struct {
	Review   string            `json:"review_id"`        // "" until the review is recorded: see intake.Noted
	Commit   gitstore.ID       `json:"commit,omitempty"` // if there is no Review
	Reviewer string            `json:"reviewer"`
	Title    string            `json:"title"`
	State    State             `json:"state"`
	Since    time.Time         `json:"since,omitzero"`      // when it started running
	Elapsed  duration.Duration `json:"elapsed_ms,omitzero"` // time since then, filled in on request
	Line     string            `json:"last_line,omitempty"` // the last line that it wrote
	Until    time.Time         `json:"until,omitzero"`      // later: time of the retry; elsewhere: end of the lease
	By       string            `json:"leased_by,omitempty"` // elsewhere: whose clone it is
	Failure  *record.Failure   `json:"failure,omitempty"`   // later and failed
}

// Of returns what the agent examines: the review, or the commit if no review is recorded yet.
func (t Entry) Of() string { return cmp.Or(t.Review, t.Commit.Short()) }

// Wants reports whether the agent waits for a missing object, which a fetch may bring.
func (t Entry) Wants() bool { return t.Failure != nil && t.Failure.Reason == record.ReasonObjects }

// Queue returns the agents that reviews wait for and that this worker runs, oldest request first.
func (w *Worker) Queue(ctx context.Context) ([]Entry, error) {
	var queue []Entry
	waiting, err := w.waiting(ctx, func(r record.ReviewSummary) bool { return len(w.mine(r)) > 0 })
	if err != nil {
		return nil, err
	}
	leases, err := share.Leases(ctx, w.Store, w.Remote)
	if err != nil {
		return nil, err
	}
	for _, r := range waiting {
		at := readStatus(w.Store, r.ID)
		for _, name := range w.mine(r) {
			turn, err := w.entry(ctx, r, name, at, leases[r.ID])
			if err != nil {
				return nil, err
			}
			queue = append(queue, turn)
		}
	}
	all, err := intake.AllNoted(w.Store) // by hooks
	for _, noted := range all {
		subject := noted.Request.Subject
		turn := Entry{Commit: subject.Commit, Reviewer: record.Builtin, Title: subject.Title, State: StateDue}
		if working, running := readStatus(w.Store, string(subject.Commit))[record.Builtin]; running {
			turn.working(working)
		}
		queue = append(queue, turn)
	}
	return queue, err
}

func (t *Entry) working(at atWork) {
	t.State, t.Since, t.Line = StateRunning, at.Since, at.Line
	if t.Line == "" && len(at.Said) > 0 {
		t.Line = at.Said[0]
	}
}

func (w *Worker) entry(ctx context.Context, r record.ReviewSummary, name string, at map[string]atWork,
	leased *share.LeasedError) (Entry, error) {
	turn := Entry{Review: r.ID, Reviewer: name, Title: cmp.Or(r.Title, r.Spec), State: StateDue}
	retryAt, failed := w.retryAt(r, name)
	working, running := at[name]
	switch {
	case running:
		turn.working(working)
		return turn, nil
	case leased != nil:
		turn.State, turn.Until, turn.By = StateElsewhere, leased.Until, leased.By
		return turn, nil
	case !failed && !w.foreign(r.Writer): // running it shows whether something is missing
		return turn, nil
	}
	review, err := w.Store.Review(ctx, r.ID)
	if err != nil {
		return turn, err
	}
	if failed {
		turn.State, turn.Until = StateFailed, retryAt
		if !retryAt.IsZero() {
			turn.State = StateLater
		}
		turn.Failure = w.failure(review, name)
		return turn, nil
	}
	turn.Failure, err = w.missing(ctx, review)
	if turn.Failure != nil {
		turn.State = StateLater
	}
	return turn, err
}

// failure returns why an agent could not run: in this clone, or else in the clone that tried last.
func (w *Worker) failure(review record.Review, name string) (found *record.Failure) {
	for _, f := range review.Failures {
		if f.Reviewer == name && (found == nil || w.foreign(found.Writer)) {
			found = &f
		}
	}
	return found
}

// missing returns a failure if the commit of a review requested elsewhere is not in this clone, else nil.
func (w *Worker) missing(ctx context.Context, review record.Review) (*record.Failure, error) {
	_, err := w.Store.Repo.ReadCommit(ctx, review.Request.Subject.Tree)
	object := new(gitstore.MissingError)
	if !errors.As(err, &object) {
		return nil, err
	}
	return &record.Failure{Reason: record.ReasonObjects, Detail: "its commit is not here: " + object.What,
		Try: cmp.Or(object.Try, "git fetch "+w.Remote)}, nil
}
