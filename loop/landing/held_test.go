package landing

import (
	"context"
	"errors"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

// While a run works in a checkout, commands that write to the checkout fail at once with ErrBusy.
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
	run := record.Run{ID: "20260107120000-aaaaaa", Status: record.RunCompleted, Commit: head,
		Plan: runplan.Plan{Base: head}}
	for name, do := range map[string]func(context.Context) error{
		"land":    func(ctx context.Context) error { _, _, err := land(ctx, store, run, Spec{}); return err },
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

// Operations of a run that another process is working on cannot be undone.
func TestHeldRunIsNotUndone(t *testing.T) {
	store := runtest.NewStore(t)
	runtest.Commit(t, store, "one")
	unlock, err := workspace.HoldRun(store, runtest.Run)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	op := gitstore.Recorded{Operation: gitstore.Operation{Kind: gitstore.OpLand, Run: runtest.Run}, Branch: "refs/heads/x"}
	if _, err := undoOne(t.Context(), store, store.Repo, nil, op); !errors.Is(err, gitstore.ErrBusy) {
		t.Errorf("undo: %v", err)
	}
}

// Landing and aborting never move or delete a branch that is not the run's own, whatever branch the log names. A log
// may come from anywhere.
func TestRunMovesNoBranchButItsOwn(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	main := runtest.Commit(t, s, "the user's")
	for _, ref := range []string{"refs/heads/precious", "refs/heads/runr/" + runtest.Run} {
		if err := s.Repo.SwapRef(ctx, ref, main, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, named := range []string{"precious", "runr/../precious", "", "runr/other"} {
		started := runtest.EventAt(1, record.EventRunStarted.Name, runplan.Plan{Branch: named, Base: main})
		started.Run = runtest.Run
		run, bad := record.FoldRun([]record.Event{started})
		if len(bad) > 0 || run.Plan.Branch != "runr/"+runtest.Run {
			t.Errorf("%q is taken for %q, %v", named, run.Plan.Branch, bad)
		}
		if err := dropBranch(ctx, s, run); err != nil {
			t.Errorf("%q: %v", named, err)
		}
	}
	if id, err := s.Repo.Ref(ctx, "refs/heads/precious"); err != nil || id != main {
		t.Errorf("the branch is at %q, %v", id, err)
	}
}
