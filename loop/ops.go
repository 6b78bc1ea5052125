package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// Result is what a run came to, in the shape that orchestrators read.
type Result struct {
	Status         string        `json:"status"` // one of a completed run's, skipped or abort; "" while it runs
	Files          []string      `json:"files"`
	Review         *reply.Report `json:"review"`
	ExecutorResult string        `json:"executor_result,omitempty"`
}

// ResultOf is run's result. executor is the newest implementer's own report.
func ResultOf(run record.Run, executor string) Result {
	result := Result{Status: run.Result, Files: []string{}, ExecutorResult: executor}
	if run.Status == record.RunCompleted {
		result.Files = run.Files()
	}
	if round := run.LastRound(); round != nil {
		result.Review = &round.Report
	}
	return result
}

// LandSpec says how to land.
type LandSpec struct {
	Squash         bool   // as one commit
	Onto           string // branch; "": the one that is checked out
	AllowDeletions bool   // also when that removes most of its files
}

// Land brings a completed run's result to a branch. Nothing else ever lands. Undo
// takes it back. Before, Settle has been called.
func Land(ctx context.Context, s *record.Store, run record.Run, spec LandSpec) (record.Run, gitstore.Landed, error) {
	none := gitstore.Landed{}
	run, err := sayUnlanded(ctx, s, run)
	if err != nil {
		return run, none, err
	}
	if refused := run.Allow(record.EventRunLanded.Name); refused != nil {
		return run, none, refused
	}
	if run.Plan.InPlace {
		return run, none, &record.StateError{What: "run " + run.ID, Status: "in your checkout already", Cannot: "landed"}
	}
	if run.Head() == run.Plan.Base {
		return run, none, fmt.Errorf("run %s: %w", run.ID, gitstore.ErrNoChange)
	}
	done, branch, err := land(ctx, s, run, spec)
	if err != nil {
		return run, none, err
	}
	landed := record.Landed{Commit: done.Commit, Onto: done.Old, Branch: branch, Squash: spec.Squash}
	landed.Carried = s.Carried(ctx, run, landed)
	run, err = recordRun(ctx, s, run, record.EventRunLanded.New("cli", landed.TitleOf(), landed))
	if err != nil {
		return run, done, err
	}
	return run, done, afterLanding(ctx, s, run)
}

// sayUnlanded records that the landing of a run was taken back, where a killed undo
// could not say so any more.
func sayUnlanded(ctx context.Context, s *record.Store, run record.Run) (record.Run, error) {
	if run.Landed == nil {
		return run, nil
	}
	last, err := newest(ctx, s.Repo, run.ID)
	if err != nil || last == nil || !last.Back {
		return run, err
	}
	if err := recordLanding(ctx, s, *last); err != nil {
		return run, err
	}
	return s.Run(ctx, run.ID)
}

// land also gives the name of the branch, "" for a detached HEAD.
func land(ctx context.Context, s *record.Store, run record.Run, how LandSpec) (done gitstore.Landed, branch string, err error) {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return done, "", err
	}
	spec := gitstore.LandSpec{
		Result: run.Commit, Base: run.Plan.Base, Squash: how.Squash, Author: author, When: s.Now(), AllowDeletions: how.AllowDeletions,
		Message: fmt.Sprintf("%s\n\nRunr-Run: %s\n", prose.OneLine(cmp.Or(run.Plan.Entity.Name(), "run "+run.ID)), run.ID),
	}
	here, err := s.Branch(ctx)
	if err != nil {
		return done, "", err
	}
	branch = cmp.Or(how.Onto, here)
	if s.Repo.Bare {
		branch, here = cmp.Or(how.Onto, run.Plan.Target), ""
	}
	spec.Op = gitstore.Operation{Kind: gitstore.OpLand, Run: run.ID, What: "on " + cmp.Or(branch, "a detached HEAD")}
	if branch != here {
		if id, err := s.Repo.Ref(ctx, "refs/heads/"+branch); err != nil || id == "" {
			return done, branch, errors.Join(err, fmt.Errorf("there is no branch %q: %w", branch, gitstore.ErrNotFound))
		}
		done, err = s.Repo.LandRef(ctx, "refs/heads/"+branch, spec)
		return done, branch, err
	}
	tree, err := s.Repo.Checkout()
	if err != nil {
		return done, branch, err
	}
	free, err := holdCheckout(s, tree)
	if err != nil {
		return done, branch, err
	}
	defer free()
	if spec.Started, err = startedFrom(ctx, s, tree, run); err != nil {
		return done, branch, fmt.Errorf("land: %w", err)
	}
	done, err = tree.Land(ctx, spec)
	return done, branch, err
}

// LandConflicts reports whether a result conflicts with what is checked out.
func LandConflicts(ctx context.Context, s *record.Store, id string) bool {
	run, err := s.Run(ctx, id)
	if err != nil {
		return false
	}
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return false
	}
	err = s.Repo.LandConflicts(ctx, head, gitstore.LandSpec{Result: run.Commit, Base: run.Plan.Base})
	return errors.Is(err, gitstore.ErrConflict)
}

// startedFrom is what of the user's checkout the run's work began from, nil for none:
// an executor's files as they were, and nothing that was beside them.
func startedFrom(ctx context.Context, s *record.Store, tree *gitstore.Worktree, run record.Run) (*gitstore.Snapshot, error) {
	c := run.Plan.Context
	if c == nil || c.Snapshot == "" {
		return nil, nil
	}
	started, err := s.Repo.ReadSnapshot(ctx, c.Snapshot)
	if err == nil {
		started.Tree, err = tree.TreeWith(ctx, run.Plan.Base, started.Tree, among(c.Files))
	}
	return &started, err
}

// afterLanding ends what a run that has landed is not asked for any more.
func afterLanding(ctx context.Context, s *record.Store, run record.Run) error {
	if err := settleAsked(ctx, s, run, fmt.Sprintf("run %s landed as %s", run.ID, run.Landed.Commit.Short())); err != nil {
		return err
	}
	return dropBranch(ctx, s, run)
}

// dropBranch removes the run's branch; its commits stay, for diff and undo.
func dropBranch(ctx context.Context, s *record.Store, run record.Run) error {
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
// branch until the branch is deleted; left is a snapshot of what else was in the
// worktree, "" for nothing.
func Abort(ctx context.Context, s *record.Store, run record.Run) (after record.Run, left gitstore.ID, err error) {
	unlock, err := HoldRun(s, run.ID)
	if err != nil {
		return run, "", err
	}
	defer unlock()
	run, err = recordRun(ctx, s, run, record.EventRunAborted.New("cli", "by "+run.StartedBy, struct{}{}))
	if err == nil {
		err = settleAsked(ctx, s, run, "run "+run.ID+" was aborted")
	}
	if err != nil || run.Plan.InPlace {
		return run, "", err
	}
	left, err = removeTree(ctx, s, run)
	return run, left, err
}

// Answer decides on a run that gave up: commit accepts it with its open findings,
// skip leaves it, stop leaves it stopped. left is as in Abort.
func AnswerRun(ctx context.Context, s *record.Store, run record.Run, choice record.Choice) (after record.Run, left gitstore.ID, err error) {
	if run.Status != record.RunReviewing && run.Status != record.RunStopped {
		return run, "", &record.StateError{What: "run " + run.ID, Status: string(run.Status), Cannot: "answered"}
	}
	if choice == record.ChoiceStop {
		return run, "", nil
	}
	unlock, err := HoldRun(s, run.ID)
	if err != nil {
		return run, "", err
	}
	defer unlock()
	t := &turn{Runner: &Runner{Store: s, Progress: quiet{}}, ctx: ctx, run: run}
	if err := t.answered(choice, "command line"); err != nil {
		return run, "", err
	}
	if left, err = t.cleanUp(); err == nil && choice == record.ChoiceSkip {
		err = settleAsked(ctx, s, t.run, "run "+run.ID+" was skipped")
	}
	return t.run, left, err
}

// Resume takes up a run that stopped; the counters start afresh.
func (r *Runner) Resume(ctx context.Context, run record.Run) (record.Run, error) {
	if run.Status != record.RunRunning { // else its process died: there is nothing to take back
		var err error
		if run, err = recordRun(ctx, r.Store, run, record.EventRunResumed.New("cli", "from "+string(run.Status), struct{}{})); err != nil {
			return run, err
		}
	}
	return r.Continue(ctx, run)
}

// quiet is a Progress that says nothing.
type quiet struct{}

func (quiet) Step(string, string) {}
func (quiet) Line(string)         {}
func (quiet) Say(string)          {}

// Live reports whether a process is carrying run out on this machine now.
func Live(s *record.Store, run string) bool {
	unlock, free, err := s.Repo.TryLock(runLock(run))
	if err != nil {
		return false // a repository that cannot be written to has no run going on in it
	}
	if free {
		unlock()
	}
	return !free
}
