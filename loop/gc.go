package loop

import (
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

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
)

// Garbage is what gc leaves out of lists, and what of old runs it removes from this
// clone. No event is ever removed.
type Garbage struct {
	ClosedBefore time.Time       `json:"closed_before"` // reviews closed before are in no list
	Reviews      []ReviewSummary `json:"reviews"`       // that leave the lists now, newest submitted first
	Runs         []RunGarbage    `json:"runs"`
	Undo         []string        `json:"undo"`      // refs of what then cannot be undone any more
	Checkouts    []string        `json:"checkouts"` // directories that killed reviews left
}

// What can be undone is kept for undoDays, and the newest undoKept are kept however
// old they are.
const (
	undoDays = 30
	undoKept = 50
)

// RunGarbage is what this clone keeps of a run that is over: its worktree, its
// transcripts and the snapshots of its attempts. Their paths and refs, "" or none
// where there is nothing.
type RunGarbage struct {
	Run       RunSummary `json:"run"`
	Worktree  string     `json:"worktree,omitempty"`
	Files     string     `json:"files,omitempty"` // directory of its transcripts
	Snapshots []string   `json:"snapshots"`       // refs
}

// cutoff is the file that says what gc has left out of lists.
type cutoff struct {
	ClosedBefore time.Time `json:"closed_before"`
}

func (s *Store) cutoffPath() string { return filepath.Join(s.Repo.StateDir(), "gc.json") }

// ClosedSince is for Filter: what was closed before, git runr gc has dropped from
// the lists. The zero Time while it never has.
func (s *Store) ClosedSince() (time.Time, error) {
	data, err := os.ReadFile(s.cutoffPath())
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	var c cutoff
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w", s.cutoffPath(), err)
	}
	return c.ClosedBefore, nil
}

// FindGarbage looks for reviews that were closed, and for runs that were over,
// before then. Nothing is changed.
func (s *Store) FindGarbage(ctx context.Context, then time.Time) (Garbage, error) {
	since, err := s.ClosedSince()
	if err != nil {
		return Garbage{}, err
	}
	g := Garbage{ClosedBefore: then.UTC().Truncate(time.Millisecond), Runs: []RunGarbage{}}
	if since.After(g.ClosedBefore) { // what was dropped stays dropped
		g.ClosedBefore = since
	}
	g.Reviews, _, err = s.Reviews(ctx, Filter{ClosedSince: since, Review: func(r ReviewSummary) bool {
		return !r.ClosedAt.IsZero() && r.ClosedAt.Before(g.ClosedBefore)
	}})
	if err != nil {
		return g, err
	}
	if g.Runs, err = s.runGarbage(ctx, then); err != nil {
		return g, err
	}
	g.Undo, err = s.Repo.OldOperations(ctx, s.Now().AddDate(0, 0, -undoDays), undoKept)
	if err != nil {
		return g, err
	}
	g.Checkouts, err = s.dropCheckouts(ctx, true)
	return g, err
}

// runGarbage is what is left of runs that were over before then.
func (s *Store) runGarbage(ctx context.Context, then time.Time) ([]RunGarbage, error) {
	found := []RunGarbage{}
	refs, err := s.Repo.Refs(ctx, "refs/runr-local/snapshots/")
	if err != nil {
		return found, fmt.Errorf("list snapshots: %w", err)
	}
	over := func(status string) bool {
		return slices.Contains([]RunStatus{RunComplete, RunSkipped, RunAbort}, RunStatus(status))
	}
	runs, _, err := s.Runs(ctx, Filter{Status: over})
	if err != nil {
		return found, err
	}
	for _, run := range runs {
		if !run.UpdatedAt.Before(then) {
			continue
		}
		g := RunGarbage{Run: run, Worktree: present(s.TreeDir(run.ID)), Files: present(s.FilesDir(run.ID)), Snapshots: []string{}}
		given, err := s.givenSnapshots(ctx, run.ID, refs)
		if err != nil {
			return found, err
		}
		for ref := range refs {
			if strings.HasPrefix(ref, snapshotRefs(run.ID)) || given != "" && strings.HasPrefix(ref, given) {
				g.Snapshots = append(g.Snapshots, ref)
			}
		}
		slices.Sort(g.Snapshots)
		if g.Worktree+g.Files == "" && len(g.Snapshots) == 0 {
			continue
		}
		needed, err := s.needed(ctx, run)
		if err != nil {
			return found, err
		}
		if !needed {
			found = append(found, g)
		}
	}
	return found, nil
}

// givenSnapshots is how the refs begin of the snapshots of the checkout that a run's
// work was taken from; "" when there are none.
func (s *Store) givenSnapshots(ctx context.Context, id string, refs map[string]gitstore.ID) (string, error) {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(refs)), func(ref string) bool { return strings.HasPrefix(ref, contextRefs) }) {
		return "", nil
	}
	run, err := s.Run(ctx, id)
	if err != nil || run.Plan.Context == nil {
		return "", err
	}
	return contextRefs + string(run.Plan.Context.Commit), nil
}

// contextRefs is how the refs begin of snapshots of checkouts that an executor's work
// was taken from; the commit of that work follows.
const contextRefs = "refs/runr-local/snapshots/context-"

func snapshotRefs(run string) string { return "refs/runr-local/snapshots/" + run + "/" }

// present is path if something is there, else "".
func present(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// needed reports whether a run that is over may still be asked for what it left:
// it can land, or a process is at it.
func (s *Store) needed(ctx context.Context, line RunSummary) (bool, error) {
	if s.Live(line.ID) {
		return true, nil
	}
	if line.Status != RunComplete || line.Landed {
		return false, nil
	}
	run, err := s.Run(ctx, line.ID)
	return !run.Plan.InPlace, err // what was done in the checkout is there already
}

// CollectGarbage drops what FindGarbage found.
func (s *Store) CollectGarbage(ctx context.Context, g Garbage) error {
	unlock, err := s.Repo.Lock(ctx, "gc")
	if err != nil {
		return err
	}
	defer unlock()
	for _, run := range g.Runs {
		if err := s.dropRun(ctx, run); err != nil {
			return fmt.Errorf("run %s: %w", run.Run.ID, err)
		}
	}
	if err := s.Repo.DropRefs(ctx, g.Undo); err != nil {
		return err
	}
	if _, err := s.dropCheckouts(ctx, false); err != nil {
		return err
	}
	data, err := json.Marshal(cutoff{g.ClosedBefore})
	if err == nil {
		err = safefile.WriteFile(s.cutoffPath(), append(data, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.cutoffPath(), err)
	}
	return nil
}

func (s *Store) dropRun(ctx context.Context, g RunGarbage) error {
	unlock, free, err := s.Repo.TryLock("run-" + g.Run.ID)
	if err != nil || !free { // somebody began to look after it meanwhile
		return err
	}
	defer unlock()
	if err := s.Repo.DropRefs(ctx, g.Snapshots); err != nil {
		return err
	}
	if g.Worktree != "" {
		if err := s.Repo.RemoveWorktree(ctx, s.TreeDir(g.Run.ID)); err != nil {
			return err
		}
	}
	if g.Files != "" {
		if err := os.RemoveAll(s.FilesDir(g.Run.ID)); err != nil {
			return fmt.Errorf("drop transcripts: %w", err)
		}
	}
	s.Repo.DropLock("run-" + g.Run.ID)
	return nil
}
