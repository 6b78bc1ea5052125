package loop

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Only one process at a time can continue a run or decide on it.
func TestHeldRunIsLeftAlone(t *testing.T) {
	store := runtest.NewStore(t)
	runtest.Commit(t, store, "one")
	run := record.Run{ID: "20260107120000-aaaaaa", Status: record.RunReviewing}
	unlock, err := workspace.HoldRun(store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	runnerOf := &runner.Runner{Store: store, Progress: checking.Quiet{}}
	for name, do := range map[string]func(context.Context) error{
		"continue": func(ctx context.Context) error { _, err := runnerOf.Continue(ctx, run); return err },
		"intervene": func(ctx context.Context) error {
			_, _, err := runnerOf.Intervene(ctx, run, runner.InterventionSpec{})
			return err
		},
		"abort": func(ctx context.Context) error { _, _, err := runner.Abort(ctx, store, run); return err },
		"answer": func(ctx context.Context) error {
			_, _, err := runner.AnswerRun(ctx, store, run, runplan.ChoiceSkip)
			return err
		},
	} {
		if err := do(t.Context()); !errors.Is(err, gitstore.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files := workspace.FilesDir(store, run.ID)
	if err := os.MkdirAll(files, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := dropRun(t.Context(), store, RunGarbage{Run: run.Summary(), Files: files}); err != nil ||
		present(files) == "" {
		t.Errorf("gc takes what a run is at work with: %v", err)
	}
	if !workspace.Live(store, run.ID) {
		t.Error("nobody carries the run out")
	}
}

// A checkout in which a review runs is not removed as a leftover; it is removed at the end of the review.
func TestCheckoutInUseStays(t *testing.T) {
	store := runtest.NewStore(t)
	head := runtest.Commit(t, store, "one")
	dir := ""
	err := checking.InCheckout(t.Context(), store, head, func(_ context.Context, tree *gitstore.Worktree) error {
		dir = tree.Dir
		dropped, err := checking.DropCheckouts(t.Context(), store, false)
		if len(dropped) > 0 || present(dir) == "" {
			t.Errorf("dropped %q", dropped)
		}
		return err
	})
	if err != nil || present(dir) != "" {
		t.Errorf("%q is there, %v", present(dir), err)
	}
}
