package landing

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// completedRun returns a store whose repository is on main, and a completed run that adds the file work on its own
// branch.
func completedRun(t *testing.T) (*store.Store, record.Run) {
	t.Helper()
	s, ctx := runtest.NewStore(t), t.Context()
	dir := s.Repo.WorkTree
	testrepo.Shell(t, dir, `echo base >base; git add base; git commit -q -m base
		git switch -q -c made; echo work >work; git add work; git commit -q -m work; git switch -q main`)
	base, err := s.Repo.Ref(ctx, "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	commit, err := s.Repo.Ref(ctx, "refs/heads/made")
	if err != nil {
		t.Fatal(err)
	}
	plan := runtest.Plan()
	plan.Base = base
	run, err := s.BeginRun(ctx, "cli", "started", plan, func(now time.Time) (id, at time.Time) { return now, now })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Repo.SwapRef(ctx, run.Plan.BranchRef(), commit, ""); err != nil {
		t.Fatal(err)
	}
	for _, e := range []record.NewEvent{
		record.EventAttemptStarted.New("imp", "attempt", record.Attempt{Number: 1, From: base}),
		record.EventAttemptCompleted.New("imp", "attempt",
			record.Attempt{Number: 1, From: base, Commit: commit, Files: []string{"work"}}),
		record.EventRunCompleted.New("cli", "completed", record.CompletedPayload{Result: "pass", Commit: commit}),
	} {
		if run, err = s.NextRunEvent(ctx, run, e); err != nil {
			t.Fatal(err)
		}
	}
	if run.Status != record.RunCompleted || run.Commit != commit {
		t.Fatalf("the run is %s at %q", run.Status, run.Commit)
	}
	return s, run
}

// eventTypes returns the types of a run's events.
func eventTypes(t *testing.T, s *store.Store, run record.Run) []string {
	t.Helper()
	events, err := s.RunEvents(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]string, len(events))
	for i, e := range events {
		types[i] = e.Type
	}
	return types
}

// TestLandAndUndo lands a run, undoes the landing, and lands the run again. Each time the branch, the files and the
// run agree.
func TestLandAndUndo(t *testing.T) {
	s, run := completedRun(t)
	ctx, work := t.Context(), filepath.Join(s.Repo.WorkTree, "work")
	for range 2 {
		landed, done, err := Land(ctx, s, run, Spec{})
		if err != nil || done.Commit != run.Commit || landed.Landed == nil || landed.Landed.Branch != "main" {
			t.Fatalf("landed as %+v, %v", landed.Landed, err)
		}
		if tip, _ := s.Repo.Ref(ctx, run.Plan.BranchRef()); tip != "" || !testrepo.Exists(work) {
			t.Fatalf("the run's branch is at %q; the file is there: %t", tip, testrepo.Exists(work))
		}
		if _, _, err := Land(ctx, s, landed, Spec{}); !errors.As(err, new(*record.StateError)) {
			t.Fatalf("landed twice: %v", err)
		}
		undone, err := Undo(ctx, s, run.ID)
		if err != nil || undone.Took.Kind != gitstore.OpLand ||
			undone.Moved(ctx, s) != "main is at "+run.Plan.Base.Short()+" again" {
			t.Fatalf("undone: %+v, %v", undone.Took, err)
		}
		if added := undone.Added(ctx, s); !added["work"] || added["base"] {
			t.Errorf("the landing added %v", added)
		}
		if run, err = s.Run(ctx, run.ID); err != nil || run.Landed != nil {
			t.Fatalf("the run is landed as %+v, %v", run.Landed, err)
		}
		if tip, _ := s.Repo.Ref(ctx, run.Plan.BranchRef()); tip != run.Commit || testrepo.Exists(work) {
			t.Fatalf("the run's branch is at %q; the file is there: %t", tip, testrepo.Exists(work))
		}
	}
}

// TestUnlandedWithoutLanding: undoing a landing that the run does not record, or records as undone, adds no event.
func TestUnlandedWithoutLanding(t *testing.T) {
	s, run := completedRun(t)
	ctx, before := t.Context(), eventTypes(t, s, run)
	base, err := s.Repo.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	snap, err := base.Snapshot(ctx, "refs/runr-local/snapshots/x", "x")
	if err != nil {
		t.Fatal(err)
	}
	op := gitstore.Recorded{Operation: gitstore.Operation{Kind: gitstore.OpLand, Run: run.ID, Undoes: true},
		Before: snap.ID, After: snap.ID}
	if err := recordLanding(ctx, s, op); err != nil {
		t.Fatal(err)
	}
	if after := eventTypes(t, s, run); !slices.Equal(after, before) {
		t.Errorf("events before: %q, after: %q", before, after)
	}
	folded := run
	if err := folded.Apply(runtest.EventAt(90, record.EventRunUnlanded.Name,
		record.Landed{Commit: run.Commit})); err != nil {
		t.Fatal(err)
	}
	if len(folded.Lost) != len(run.Lost)+1 || folded.Lost[len(run.Lost)].Type != record.EventRunUnlanded.Name {
		t.Errorf("the fold counts it: %+v", folded.Lost)
	}
}

// TestUnlandedIsSaidLater: if an undo was killed after it moved the branch, the next landing first records the undo.
func TestUnlandedIsSaidLater(t *testing.T) {
	s, run := completedRun(t)
	ctx := t.Context()
	landed, _, err := Land(ctx, s, run, Spec{Squash: true})
	if err != nil || !landed.Landed.Squash {
		t.Fatalf("landed as %+v, %v", landed.Landed, err)
	}
	tree, err := s.Repo.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	op, err := newest(ctx, s.Repo, run.ID)
	if err != nil || op == nil {
		t.Fatalf("the operation is %v, %v", op, err)
	}
	if _, err := tree.Undo(ctx, *op); err != nil {
		t.Fatal(err)
	}
	if again, _, err := Land(ctx, s, landed, Spec{}); err != nil || again.Landed == nil || again.Landed.Squash {
		t.Fatalf("landed again as %+v, %v", again.Landed, err)
	}
	types := strings.Join(eventTypes(t, s, run), " ")
	if !strings.HasSuffix(types, "run_landed run_unlanded run_landed") {
		t.Errorf("events: %s", types)
	}
}

// TestLandRefuses: a landing that would lose something, or that has nothing to land, changes nothing. Where a command
// can help, the error names it.
func TestLandRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		do    string
		edit  func(*record.Run)
		spec  Spec
		want  error
		state bool
		line  string
	}{
		"dirty": {do: "echo mine >work", want: gitstore.ErrDirty, line: "commit, stash or move these files"},
		"conflict": {do: "echo other >work; git add work; git commit -q -m o", want: gitstore.ErrConflict,
			line: "git merge "},
		"no branch": {spec: Spec{Onto: "none"}, want: gitstore.ErrNotFound},
		"elsewhere": {do: "git branch b; git worktree add -q ../b b", spec: Spec{Onto: "b"}, want: gitstore.ErrConflict,
			line: "git -C "},
		"nothing":  {edit: func(r *record.Run) { r.Plan.Base = r.Head() }, want: gitstore.ErrNoChange},
		"in place": {edit: func(r *record.Run) { r.Plan.InPlace = true }, state: true},
		"running":  {edit: func(r *record.Run) { r.Status = record.RunRunning }, state: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, run := completedRun(t)
			if c.edit != nil {
				c.edit(&run)
			}
			if c.do != "" {
				testrepo.Shell(t, s.Repo.WorkTree, c.do)
			}
			before := testrepo.Git(t, s.Repo.WorkTree, "rev-parse", "main")
			types := eventTypes(t, s, run)
			_, _, err := Land(t.Context(), s, run, c.spec)
			if !errors.Is(err, c.want) && !c.state || c.state && !errors.As(err, new(*record.StateError)) {
				t.Errorf("the error is %v", err)
			}
			lines := strings.Join(InsteadOfLand(run, c.spec, err, nil), "\n")
			if !strings.Contains(lines, c.line) || c.line == "" && lines != "" {
				t.Errorf("lines: %q, want %q", lines, c.line)
			}
			if after := testrepo.Git(t, s.Repo.WorkTree, "rev-parse", "main"); after != before {
				t.Errorf("main moved from %s to %s", before, after)
			}
			if after := eventTypes(t, s, run); !slices.Equal(after, types) {
				t.Errorf("events: %q, before: %q", after, types)
			}
		})
	}
}

// TestRestoreOfARun finds a run's snapshots by its id, lists no other run's snapshots, and restores a file from one.
func TestRestoreOfARun(t *testing.T) {
	s, run := completedRun(t)
	ctx := t.Context()
	tree, err := s.Repo.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{run.ID + "/1-after", run.ID + "/1-before", "other/1-after"} {
		if _, err := tree.Snapshot(ctx, "refs/runr-local/snapshots/"+ref, "taken"); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Snapshots(ctx, s, run.ID)
	if err != nil || len(list) != 2 {
		t.Errorf("%d snapshots of the run, %v", len(list), err)
	}
	if _, err := FindSnapshot(ctx, s, run.ID+"/2"); !errors.Is(err, gitstore.ErrNotFound) {
		t.Errorf("a snapshot of an attempt that was not made: %v", err)
	}
	file := filepath.Join(s.Repo.WorkTree, "base")
	if err := os.WriteFile(file, []byte("lost\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	done, err := Restore(ctx, s, run.ID+"/1", []string{"base"}, false)
	if text := testrepo.ReadFile(t, s.Repo.WorkTree, "base"); err != nil || text != "base\n" || len(done.Restored) != 1 {
		t.Errorf("the file is %q, restored %q, %v", text, done.Restored, err)
	}
	if _, err := Undo(ctx, s, ""); err != nil || testrepo.ReadFile(t, s.Repo.WorkTree, "base") != "lost\n" {
		t.Errorf("the restore is not undone: %v", err)
	}
	if _, err := Undo(ctx, s, "none"); !errors.Is(err, gitstore.ErrNotFound) {
		t.Errorf("undo of a run that is not there: %v", err)
	}
}
