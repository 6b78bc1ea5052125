package loop

import (
	"context"
	"errors"
	"fmt"

	"git-runr/gitstore"
)

// What a run that is completed came to.
const (
	ResultPass       = "pass"             // a review passed it
	ResultWithIssues = "pass_with_issues" // a person accepted it
	ResultUnreviewed = "unreviewed"       // its workflow has no review, or none after the last change
)

// outcome is what a run comes to whose steps are all done.
func (r Run) outcome() string {
	if round := r.lastSaid(); round != nil && round.Commit == r.Head() {
		return ResultPass
	}
	return ResultUnreviewed
}

// Result is what a run came to, in the shape of seed 004.
type Result struct {
	Status         string   `json:"status"` // one of a completed run's, skipped or abort; "" while it runs
	Files          []string `json:"files"`
	Review         *Report  `json:"review"`
	ExecutorResult string   `json:"executor_result,omitempty"`
}

// ResultOf is run's result. executor is the newest implementer's own report.
func ResultOf(run Run, executor string) Result {
	result := Result{Status: run.Result, Files: []string{}, ExecutorResult: executor}
	if run.Status == RunComplete {
		result.Files = run.Files()
	}
	if round := run.lastRound(); round != nil {
		result.Review = &round.Report
	}
	return result
}

// Land brings a completed run's result to the branch that is checked out, as one
// commit or as the run made them. Nothing else ever lands.
func (s *Store) Land(ctx context.Context, run Run, squash bool) (Run, error) {
	if refused := run.allow(RunLanded); refused != nil {
		return run, refused
	}
	if run.Plan.InPlace {
		return run, &StateError{What: "run " + run.ID, Status: "in your checkout already", Cannot: "landed"}
	}
	if run.Head() == run.Plan.Base {
		return run, fmt.Errorf("run %s: %w", run.ID, gitstore.ErrNoChange)
	}
	landed, err := s.land(ctx, run, squash)
	if err != nil {
		return run, err
	}
	run, err = s.recordRun(ctx, run, draft{
		Type: RunLanded, Source: "cli", Payload: landed, Title: fmt.Sprintf("%s onto %s", landed.Commit.Short(), orElse(landed.Branch, "a detached HEAD")),
	})
	if err != nil {
		return run, err
	}
	if err := s.settleAsked(ctx, run, fmt.Sprintf("run %s landed as %s", run.ID, landed.Commit.Short())); err != nil {
		return run, err
	}
	return run, s.dropBranch(ctx, run)
}

func (s *Store) land(ctx context.Context, run Run, squash bool) (Landed, error) {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return Landed{}, err
	}
	spec := gitstore.LandSpec{
		Result: run.Commit, Base: run.Plan.Base, Squash: squash, Author: author, When: s.Now(),
		Message: fmt.Sprintf("%s\n\nRunr-Run: %s\n", oneLine(orElse(run.Plan.Entity.Name(), "run "+run.ID)), run.ID),
	}
	if c := run.Plan.Context; c != nil && c.Snapshot != "" {
		started, err := s.Repo.ReadSnapshot(ctx, c.Snapshot)
		if err != nil {
			return Landed{}, fmt.Errorf("land: %w", err)
		}
		spec.Started = &started
	}
	result := Landed{Squash: squash, Branch: run.Plan.Target}
	if s.Repo.Bare {
		done, err := s.Repo.LandRef(ctx, "refs/heads/"+run.Plan.Target, spec)
		result.Commit, result.Onto = done.Commit, done.Old
		return result, err
	}
	tree, err := s.Repo.Checkout()
	if err != nil {
		return result, err
	}
	if result.Branch, err = s.Branch(ctx); err != nil {
		return result, err
	}
	done, err := tree.Land(ctx, spec)
	result.Commit, result.Onto = done.Commit, done.Old
	return result, err
}

// dropBranch removes the run's branch; its commits stay, for diff and undo.
func (s *Store) dropBranch(ctx context.Context, run Run) error {
	head, err := s.Repo.Ref(ctx, "refs/heads/"+run.Plan.Branch)
	if err != nil || head == "" {
		return err
	}
	if err := s.Repo.Pin(ctx, "run "+run.ID, head); err != nil {
		return err
	}
	return s.Repo.SwapRef(ctx, "refs/heads/"+run.Plan.Branch, "", head)
}

// Abort ends a run for good and removes its worktree. Its commits stay on its
// branch until the branch is deleted.
func (s *Store) Abort(ctx context.Context, run Run) (Run, error) {
	unlock, free, err := s.Repo.TryLock("run-" + run.ID)
	if err != nil {
		return run, err
	}
	if !free {
		return run, fmt.Errorf("run %s is being carried out by another process: %w", run.ID, gitstore.ErrBusy)
	}
	defer unlock()
	run, err = s.recordRun(ctx, run, draft{Type: RunAborted, Source: "cli", Payload: struct{}{}, Title: "by " + run.StartedBy})
	if err == nil {
		err = s.settleAsked(ctx, run, "run "+run.ID+" was aborted")
	}
	if err != nil || run.Plan.InPlace {
		return run, err
	}
	return run, s.Repo.RemoveWorktree(ctx, s.TreeDir(run.ID))
}

// Answer decides on a run that gave up: commit accepts it with its open findings,
// skip leaves it, stop leaves it stopped.
func (s *Store) Answer(ctx context.Context, run Run, choice Choice) (Run, error) {
	if run.Status != RunReviewing && run.Status != RunStop {
		return run, &StateError{What: "run " + run.ID, Status: string(run.Status), Cannot: "answered"}
	}
	if choice == ChoiceStop {
		return run, nil
	}
	unlock, free, err := s.Repo.TryLock("run-" + run.ID)
	if err != nil || !free {
		return run, errors.Join(err, fmt.Errorf("run %s: %w", run.ID, gitstore.ErrBusy))
	}
	defer unlock()
	t := &turn{Runner: &Runner{Store: s, Progress: quiet{}}, ctx: ctx, run: run}
	if err := t.answered(choice, "command line"); err != nil {
		return run, err
	}
	t.cleanUp()
	if choice == ChoiceSkip {
		return t.run, s.settleAsked(ctx, t.run, "run "+run.ID+" was skipped")
	}
	return t.run, nil
}

// Resume takes up a run that stopped; the counters start afresh.
func (r *Runner) Resume(ctx context.Context, run Run) (Run, error) {
	if run.Status != RunRunning { // else its process died: there is nothing to take back
		var err error
		if run, err = r.Store.recordRun(ctx, run, draft{Type: RunResumed, Source: "cli", Payload: struct{}{}, Title: "from " + string(run.Status)}); err != nil {
			return run, err
		}
	}
	return r.Continue(ctx, run)
}

// quiet is a Progress that says nothing.
type quiet struct{}

func (quiet) Step(string, string) {}
func (quiet) Line(string)         {}

// Live reports whether a process is carrying run out on this machine now.
func (s *Store) Live(run string) bool {
	unlock, free, err := s.Repo.TryLock("run-" + run)
	if err != nil {
		return false // a repository that cannot be written to has no run going on in it
	}
	if free {
		unlock()
	}
	return !free
}
