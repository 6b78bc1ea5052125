package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Garbage is what gc leaves out of lists, and what of old runs it removes from this
// clone. No event is ever removed.
type Garbage struct {
	ClosedBefore time.Time              `json:"closed_before"` // reviews closed before are in no list
	Reviews      []record.ReviewSummary `json:"reviews"`       // that leave the lists now, newest submitted first
	Runs         []RunGarbage           `json:"runs"`
	Undo         []string               `json:"undo"`      // refs of what then cannot be undone any more
	Checkouts    []string               `json:"checkouts"` // directories that killed reviews left
	Typed        []string               `json:"typed"`     // files of texts that were typed for those reviews and runs, and not handed in
	// Lost are worktrees of other repositories that are gone, and hold nothing that a person
	// or an agent made. Kept hold files: their repository may have been moved.
	Lost []gitstore.LostTree `json:"lost"`
	Kept []gitstore.LostTree `json:"kept"`
}

// What can be undone is kept for UndoDays, and the newest UndoKept are kept however
// old they are.
const (
	UndoDays = 30
	UndoKept = 50
)

// RunGarbage is what this clone keeps of a run that is over: its worktree, its
// transcripts and the snapshots of its attempts. Their paths and refs, "" or none
// where there is nothing.
type RunGarbage struct {
	Run       record.RunSummary `json:"run"`
	Worktree  string            `json:"worktree,omitempty"`
	Files     string            `json:"files,omitempty"` // directory of its transcripts
	Snapshots []string          `json:"snapshots"`       // refs
}

// cutoff is the file that says what gc has left out of lists.
type cutoff struct {
	ClosedBefore time.Time `json:"closed_before"`
	Tidied       time.Time `json:"tidied_at,omitzero"` // when Tidy was last begun
}

func cutoffPath(s *store.Store) string { return filepath.Join(s.Repo.StateDir(), "gc.json") }

// ClosedSince is for Filter: what was closed before, git runr gc has dropped from
// the lists. The zero Time while it never has.
func ClosedSince(s *store.Store) (time.Time, error) {
	c, err := readCutoff(s)
	return c.ClosedBefore, err
}

func readCutoff(s *store.Store) (c cutoff, err error) {
	data, err := safefile.ReadFile(cutoffPath(s))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return cutoff{}, fmt.Errorf("read %s: %w", cutoffPath(s), err)
	}
	if json.Unmarshal(data, &c) != nil {
		return cutoff{}, nil // nothing is dropped before the next gc
	}
	return c, nil
}

func writeCutoff(s *store.Store, c cutoff) error {
	data, err := json.Marshal(c)
	if err == nil {
		err = safefile.WriteFile(cutoffPath(s), append(data, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", cutoffPath(s), err)
	}
	return nil
}

// FindGarbage looks for reviews that were closed, and for runs that were over,
// before then. Nothing is changed.
func FindGarbage(ctx context.Context, s *store.Store, then time.Time) (Garbage, error) {
	since, err := ClosedSince(s)
	if err != nil {
		return Garbage{}, err
	}
	g, err := findGarbage(ctx, s, then)
	if err != nil {
		return g, err
	}
	g.Reviews, _, err = s.Reviews(ctx, store.Filter{ClosedSince: since, ClosedBefore: g.ClosedBefore, Review: func(r record.ReviewSummary) bool {
		return !r.ClosedAt.IsZero() && r.ClosedAt.Before(g.ClosedBefore)
	}})
	return g, err
}

// findGarbage is FindGarbage without the reviews, of which nothing is to be dropped but that
// they are listed.
func findGarbage(ctx context.Context, s *store.Store, then time.Time) (Garbage, error) {
	since, err := ClosedSince(s)
	if err != nil {
		return Garbage{}, err
	}
	g := Garbage{ClosedBefore: then.UTC().Truncate(time.Millisecond), Runs: []RunGarbage{}}
	if since.After(g.ClosedBefore) { // what was dropped stays dropped
		g.ClosedBefore = since
	}
	if g.Runs, err = runGarbage(ctx, s, then); err != nil {
		return g, err
	}
	if g.Typed, err = typedTexts(ctx, s, g.ClosedBefore); err != nil {
		return g, err
	}
	g.Undo, err = s.Repo.OldOperations(ctx, s.Now().AddDate(0, 0, -UndoDays), UndoKept)
	if err != nil {
		return g, err
	}
	if g.Checkouts, err = checking.DropCheckouts(ctx, s, true); err != nil {
		return g, err
	}
	g.Lost, err = s.Repo.LostTrees()
	inUse := func(lost gitstore.LostTree) bool {
		return !lost.Empty && !strings.HasPrefix(filepath.Base(lost.Dir), checking.CheckoutPrefix)
	}
	g.Kept = slices.DeleteFunc(slices.Clone(g.Lost), func(lost gitstore.LostTree) bool { return !inUse(lost) })
	g.Lost = slices.DeleteFunc(g.Lost, inUse)
	return g, err
}

// runGarbage is what is left of runs that were over before then.
func runGarbage(ctx context.Context, s *store.Store, then time.Time) ([]RunGarbage, error) {
	found := []RunGarbage{}
	refs, err := s.Repo.Refs(ctx, "refs/runr-local/snapshots/")
	if err != nil {
		return found, fmt.Errorf("list snapshots: %w", err)
	}
	over := func(status string) bool { return record.RunStatus(status).Over() }
	runs, _, err := s.Runs(ctx, store.Filter{Status: over})
	if err != nil {
		return found, err
	}
	for _, run := range runs {
		if !run.UpdatedAt.Before(then) {
			continue
		}
		g := RunGarbage{Run: run, Worktree: present(workspace.TreeDir(s, run.ID)), Files: present(workspace.FilesDir(s, run.ID)), Snapshots: []string{}}
		given, err := givenSnapshots(ctx, s, run.ID, refs)
		if err != nil {
			return found, err
		}
		for ref := range refs {
			if strings.HasPrefix(ref, workspace.SnapshotRefs(run.ID)) || given != "" && strings.HasPrefix(ref, given) {
				g.Snapshots = append(g.Snapshots, ref)
			}
		}
		slices.Sort(g.Snapshots)
		if g.Worktree+g.Files == "" && len(g.Snapshots) == 0 {
			continue
		}
		needed, err := needed(ctx, s, run)
		if err != nil {
			return found, err
		}
		if !needed {
			found = append(found, g)
		}
	}
	return found, nil
}

// typedTexts are the files of texts for reviews that were closed, and runs that were over, before then.
func typedTexts(ctx context.Context, s *store.Store, then time.Time) ([]string, error) {
	old := []string{}
	files, _ := filepath.Glob(filepath.Join(s.TypedDir(), "*-*-*"))
	for _, file := range files {
		name := filepath.Base(file)
		id := name[:strings.LastIndexByte(name, '-')]
		review, err := s.ReviewByID(ctx, id)
		over := err == nil && !review.ClosedAt.IsZero() && review.ClosedAt.Before(then)
		if errors.As(err, new(*record.NotFoundError)) {
			var run record.Run
			run, err = s.RunByID(ctx, id)
			over = err == nil && run.Status.Over() && run.UpdatedAt.Before(then)
		}
		if err != nil && !errors.As(err, new(*record.NotFoundError)) {
			return old, err
		}
		if over {
			old = append(old, file)
		}
	}
	return old, nil
}

// givenSnapshots is how the refs begin of the snapshots of the checkout that a run's
// work was taken from; "" when there are none.
func givenSnapshots(ctx context.Context, s *store.Store, id string, refs map[string]gitstore.ID) (string, error) {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(refs)), func(ref string) bool { return strings.HasPrefix(ref, workspace.ContextRefs) }) {
		return "", nil
	}
	run, err := s.Run(ctx, id)
	if err != nil || run.Plan.Context == nil {
		return "", err
	}
	return workspace.ContextRefs + string(run.Plan.Context.Commit), nil
}

// present is path if something is there, else "".
func present(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// needed reports whether a run that is over may still be asked for what it left:
// it can land, or a process is at it.
func needed(ctx context.Context, s *store.Store, line record.RunSummary) (bool, error) {
	if workspace.Live(s, line.ID) {
		return true, nil
	}
	if line.Status != record.RunCompleted || line.Landed {
		return false, nil
	}
	run, err := s.Run(ctx, line.ID)
	return !run.Plan.InPlace, err // what was done in the checkout is there already
}

// CollectGarbage drops what FindGarbage found.
func CollectGarbage(ctx context.Context, s *store.Store, g Garbage) error {
	unlock, err := s.Repo.Lock(ctx, "gc")
	if err != nil {
		return err
	}
	defer unlock()
	return collect(ctx, s, g)
}

// collect is CollectGarbage for the one who holds its lock. What only removes files goes first, and an error stops
// none of it: on a full disk that makes the room for the rest, which moves refs and writes.
func collect(ctx context.Context, s *store.Store, g Garbage) error {
	var failed []error
	for _, run := range g.Runs {
		if err := dropRun(ctx, s, run); err != nil {
			failed = append(failed, fmt.Errorf("run %s: %w", run.Run.ID, err))
		}
	}
	for _, file := range g.Typed {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("drop what was typed: %w", err))
		}
	}
	_, err := checking.DropCheckouts(ctx, s, false)
	failed = append(failed, err)
	for _, lost := range g.Lost {
		failed = append(failed, s.Repo.DropLostTree(lost))
	}
	checking.DropKeptChecks(s, g.ClosedBefore)
	if err := cmp.Or(failed...); err != nil {
		return err
	}
	if err := s.Repo.DropRefs(ctx, g.Undo); err != nil {
		return err
	}
	if err := s.Repo.DropKept(ctx); err != nil {
		return err
	}
	if _, err := s.Repo.RelinkWorktrees(); err != nil {
		return err
	}
	c, err := readCutoff(s)
	if err != nil {
		return err
	}
	c.ClosedBefore = g.ClosedBefore
	return writeCutoff(s, c)
}

func dropRun(ctx context.Context, s *store.Store, g RunGarbage) error {
	unlock, free, err := s.Repo.TryLock(workspace.LockName(g.Run.ID))
	if err != nil || !free { // somebody began to look after it meanwhile
		return err
	}
	defer unlock()
	if g.Worktree != "" {
		if err := s.Repo.RemoveWorktree(ctx, workspace.TreeDir(s, g.Run.ID)); err != nil {
			return err
		}
	}
	if g.Files != "" {
		if err := os.RemoveAll(workspace.FilesDir(s, g.Run.ID)); err != nil {
			return fmt.Errorf("drop transcripts: %w", err)
		}
	}
	if err := s.Repo.DropRefs(ctx, g.Snapshots); err != nil {
		return err
	}
	s.Repo.DropLock(workspace.LockName(g.Run.ID))
	return nil
}
