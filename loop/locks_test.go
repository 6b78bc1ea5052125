package loop

import (
	"context"
	"errors"
	"os"
	"testing"

	"git-runr/gitstore"
	"git-runr/loop/internal/runtest"
	"git-runr/loop/record"
	"git-runr/loop/workspace"
)

// What writes to a checkout waits for nobody and overtakes nobody: while a run works there
// it is refused.
func TestHeldCheckoutIsLeftAlone(t *testing.T) {
	store := runtest.NewStore(t)
	head := runtest.Commit(t, store, "one")
	tree, err := store.Repo.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	free, err := workspace.HoldCheckout(store, tree)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	run := record.Run{ID: "20260107120000-aaaaaa", Status: record.RunCompleted, Commit: head, Plan: record.RunPlan{Base: head}}
	for name, do := range map[string]func(context.Context) error{
		"land":    func(ctx context.Context) error { _, _, err := land(ctx, store, run, LandSpec{}); return err },
		"undo":    func(ctx context.Context) error { _, err := Undo(ctx, store, ""); return err },
		"restore": func(ctx context.Context) error { _, err := Restore(ctx, store, "HEAD", nil, false); return err },
		"a run in place": func(context.Context) error {
			_, free, err := workspace.LockCheckout(store, run)
			free()
			return err
		},
	} {
		if err := do(t.Context()); !errors.Is(err, gitstore.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One process at a time carries a run on, or decides on it.
func TestHeldRunIsLeftAlone(t *testing.T) {
	store := runtest.NewStore(t)
	runtest.Commit(t, store, "one")
	run := record.Run{ID: "20260107120000-aaaaaa", Status: record.RunReviewing}
	unlock, err := workspace.HoldRun(store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	runner := &Runner{Store: store, Progress: quiet{}}
	for name, do := range map[string]func(context.Context) error{
		"continue": func(ctx context.Context) error { _, err := runner.Continue(ctx, run); return err },
		"intervene": func(ctx context.Context) error {
			_, _, err := runner.Intervene(ctx, run, InterventionSpec{})
			return err
		},
		"abort": func(ctx context.Context) error { _, _, err := Abort(ctx, store, run); return err },
		"answer": func(ctx context.Context) error {
			_, _, err := AnswerRun(ctx, store, run, record.ChoiceSkip)
			return err
		},
		"undo": func(ctx context.Context) error {
			_, err := undoOne(ctx, store, store.Repo, nil, gitstore.Recorded{Operation: gitstore.Operation{Kind: gitstore.OpLand, Run: run.ID}, Branch: "refs/heads/x"})
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
	if err := dropRun(t.Context(), store, RunGarbage{Run: run.Summary(), Files: files}); err != nil || present(files) == "" {
		t.Errorf("gc takes what a run is at work with: %v", err)
	}
	if !workspace.Live(store, run.ID) {
		t.Error("nobody carries the run out")
	}
}

// A checkout that a review is read in is no rubbish; it goes when the review is over.
func TestCheckoutInUseStays(t *testing.T) {
	store := runtest.NewStore(t)
	head := runtest.Commit(t, store, "one")
	dir := ""
	err := inCheckout(t.Context(), store, head, func(_ context.Context, tree *gitstore.Worktree) error {
		dir = tree.Dir
		dropped, err := dropCheckouts(t.Context(), store, false)
		if len(dropped) > 0 || present(dir) == "" {
			t.Errorf("dropped %q", dropped)
		}
		return err
	})
	if err != nil || present(dir) != "" {
		t.Errorf("%q is there, %v", present(dir), err)
	}
}
