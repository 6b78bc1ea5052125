package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Garbage is what gc hides from lists, and what it removes from this clone of old runs. No event is ever removed.
type Garbage struct {
	ClosedBefore time.Time              `json:"closed_before"` // reviews closed earlier are not listed
	Reviews      []record.ReviewSummary `json:"reviews"`       // that leave the lists now, newest submitted first
	Runs         []RunGarbage           `json:"runs"`
	Undo         []string               `json:"undo"`      // refs of operations that can no longer be undone afterwards
	Checkouts    []string               `json:"checkouts"` // directories left by killed reviews
	Typed        []string               `json:"typed"`     // files of texts typed for those, but never submitted
	// Lost are worktrees of repositories that no longer exist; they hold nothing that a person or an agent made. Kept
	// are such worktrees that hold files: their repository may have been moved.
	Lost []gitstore.LostTree `json:"lost"`
	Kept []gitstore.LostTree `json:"kept"`
}

// Operations can be undone for UndoDays; the newest UndoKept can always be undone.
const (
	UndoDays = 30
	UndoKept = 50
)

// RunGarbage is what this clone keeps of a finished run: its worktree, its transcripts and the snapshots of its
// attempts, as paths and refs. A field is empty if there is nothing to remove.
type RunGarbage struct {
	Run       record.RunSummary `json:"run"`
	Worktree  string            `json:"worktree,omitempty"`
	Files     string            `json:"files,omitempty"` // directory of its transcripts
	Snapshots []string          `json:"snapshots"`       // refs
}

// cutoff is the content of the file that records what gc has hidden from lists.
type cutoff struct {
	ClosedBefore time.Time `json:"closed_before"`
	Tidied       time.Time `json:"tidied_at,omitzero"` // when Tidy last started
}

func cutoffPath(s *store.Store) string { return filepath.Join(s.Repo.StateDir(), "gc.json") }

// ClosedSince returns the time for Filter: git runr gc has hidden reviews that were closed earlier. It is the zero Time
// if gc never ran.
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
		return cutoff{}, nil // nothing is hidden until the next gc
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

// FindGarbage finds reviews closed and runs ended before cutoff. It changes nothing.
func FindGarbage(ctx context.Context, s *store.Store, cutoff time.Time) (Garbage, error) {
	g, since, err := findGarbage(ctx, s, cutoff)
	if err != nil {
		return g, err
	}
	g.Reviews, _, err = s.Reviews(ctx, store.Filter{ClosedSince: since, ClosedBefore: g.ClosedBefore,
		Review: func(r record.ReviewSummary) bool {
			return !r.ClosedAt.IsZero() && r.ClosedAt.Before(g.ClosedBefore)
		}})
	return g, err
}

// findGarbage is FindGarbage without the reviews: gc only hides those from lists. since is as in ClosedSince.
func findGarbage(ctx context.Context, s *store.Store, cutoff time.Time) (g Garbage, since time.Time, err error) {
	if since, err = ClosedSince(s); err != nil {
		return g, since, err
	}
	g.ClosedBefore = cutoff.UTC().Truncate(time.Millisecond)
	if since.After(g.ClosedBefore) { // what was hidden stays hidden
		g.ClosedBefore = since
	}
	if g.Runs, err = runGarbage(ctx, s, cutoff); err != nil {
		return g, since, err
	}
	if g.Typed, err = typedTexts(ctx, s, g.ClosedBefore); err != nil {
		return g, since, err
	}
	if g.Undo, err = s.Repo.OldOperations(ctx, s.Now().AddDate(0, 0, -UndoDays), UndoKept); err != nil {
		return g, since, err
	}
	if g.Checkouts, err = checking.DropCheckouts(ctx, s, true); err != nil {
		return g, since, err
	}
	g.Lost, err = s.Repo.LostTrees()
	holdsFiles := func(lost gitstore.LostTree) bool {
		return !lost.Empty && !strings.HasPrefix(filepath.Base(lost.Dir), checking.CheckoutPrefix)
	}
	g.Kept = slices.DeleteFunc(slices.Clone(g.Lost), func(lost gitstore.LostTree) bool { return !holdsFiles(lost) })
	g.Lost = slices.DeleteFunc(g.Lost, holdsFiles)
	return g, since, err
}

// runGarbage returns what is left of runs that ended before cutoff.
func runGarbage(ctx context.Context, s *store.Store, cutoff time.Time) ([]RunGarbage, error) {
	found := []RunGarbage{}
	snapshots, err := s.Repo.Refs(ctx, "refs/runr-local/snapshots/")
	if err != nil {
		return found, fmt.Errorf("list snapshots: %w", err)
	}
	refs := each.Keys(snapshots)
	over := func(status string) bool { return record.RunStatus(status).Over() }
	runs, _, err := s.Runs(ctx, store.Filter{Status: over})
	if err != nil {
		return found, err
	}
	for _, run := range runs {
		if !run.UpdatedAt.Before(cutoff) {
			continue
		}
		g := RunGarbage{Run: run, Worktree: present(workspace.TreeDir(s, run.ID)),
			Files: present(workspace.FilesDir(s, run.ID)), Snapshots: []string{}}
		given, err := givenSnapshots(ctx, s, run.ID, refs)
		if err != nil {
			return found, err
		}
		for _, ref := range refs {
			if strings.HasPrefix(ref, workspace.SnapshotRefs(run.ID)) || given != "" && strings.HasPrefix(ref, given) {
				g.Snapshots = append(g.Snapshots, ref)
			}
		}
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

// typedTexts returns the files of texts typed for reviews closed and runs ended before cutoff.
func typedTexts(ctx context.Context, s *store.Store, cutoff time.Time) ([]string, error) {
	old := []string{}
	files, _ := filepath.Glob(filepath.Join(s.TypedDir(), "*-*-*"))
	for _, file := range files {
		name := filepath.Base(file)
		id := name[:strings.LastIndexByte(name, '-')]
		review, err := s.ReviewByID(ctx, id)
		over := err == nil && !review.ClosedAt.IsZero() && review.ClosedAt.Before(cutoff)
		if errors.As(err, new(*record.NotFoundError)) {
			var run record.Run
			run, err = s.RunByID(ctx, id)
			over = err == nil && run.Status.Over() && run.UpdatedAt.Before(cutoff)
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

// givenSnapshots returns the ref prefix of the snapshots of the checkout from which the run took over finished work, or
// "" if there are none.
func givenSnapshots(ctx context.Context, s *store.Store, id string, refs []string) (string, error) {
	if !slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, workspace.ContextRefs) }) {
		return "", nil
	}
	run, err := s.Run(ctx, id)
	if err != nil || run.Plan.Context == nil {
		return "", err
	}
	return workspace.ContextRefs + string(run.Plan.Context.Commit), nil
}

// present returns path if a file or directory exists there, else "".
func present(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// needed reports whether a finished run still needs what it left: it can land, or a process is working on it.
func needed(ctx context.Context, s *store.Store, line record.RunSummary) (bool, error) {
	if workspace.Live(s, line.ID) {
		return true, nil
	}
	if line.Status != record.RunCompleted || line.Landed {
		return false, nil
	}
	run, err := s.Run(ctx, line.ID)
	return !run.Plan.InPlace, err // work done in the checkout is there already
}

// ErrStillListed reports that everything else was removed, but old reviews could not be hidden from lists, for example
// because the disk is full.
var ErrStillListed = errors.New("the reviews stay in the lists")

// CollectGarbage removes what FindGarbage found.
func CollectGarbage(ctx context.Context, s *store.Store, g Garbage) error {
	unlock, err := s.Repo.Lock(ctx, "gc")
	if err != nil {
		return err
	}
	defer unlock()
	return collect(ctx, s, g)
}

// collect is CollectGarbage for a caller that holds the "gc" lock. It removes plain files first and goes on after an
// error: on a full disk that frees space for the rest, which moves refs and writes.
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
	if err := writeCutoff(s, c); err != nil {
		return fmt.Errorf("%w: %w", ErrStillListed, err)
	}
	return nil
}

func dropRun(ctx context.Context, s *store.Store, g RunGarbage) error {
	unlock, free, err := s.Repo.TryLock(workspace.LockName(g.Run.ID))
	if err != nil || !free { // another process has taken the run meanwhile
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

const (
	tidyEvery = 24 * time.Hour
	tidyMost  = 200 // reviews closed in one call
)

// Tidy does the cleanup that nobody should have to think of, at most once a day and only if no other process is doing
// it: it removes what ended longer than retention ago, as git runr gc does, and closes this clone's reviews that need
// nobody any more. It leaves worktrees alone. One that is still there after its run ended holds what is nowhere else,
// such as a repository that a person made in it, and only a person removes that.
func Tidy(ctx context.Context, s *store.Store, retention time.Duration, how closing.Rule) error {
	unlock, free, err := s.Repo.TryLock("gc")
	if err != nil || !free {
		return err
	}
	defer unlock()
	c, err := readCutoff(s)
	now := s.EventTime()
	if err != nil || now.Sub(c.Tidied).Abs() < tidyEvery {
		return err
	}
	c.Tidied = now // even if the rest fails: one try a day is enough
	if err := writeCutoff(s, c); err != nil {
		return err
	}
	garbage, _, err := findGarbage(ctx, s, now.Add(-retention))
	if err != nil {
		return err
	}
	for i := range garbage.Runs {
		garbage.Runs[i].Worktree = ""
	}
	if err := collect(ctx, s, garbage); err != nil {
		return err
	}
	return closeLeft(ctx, s, how)
}

// closeLeft closes passed reviews of this clone that are still open: they are older than this rule, or their reviewers
// were in several clones.
func closeLeft(ctx context.Context, s *store.Store, how closing.Rule) error {
	left, _, err := s.Reviews(ctx, store.Filter{Status: record.WaitingStatus, Limit: tidyMost, Some: true,
		Review: func(r record.ReviewSummary) bool {
			return s.Repo.Owns(r.Writer) && r.Status != record.ReviewOpen && r.CommentCount == 0 && len(r.Waiting) == 0
		}})
	if err != nil {
		return err
	}
	for _, line := range left {
		review, err := s.Review(ctx, line.ID)
		if err == nil && !review.Reopened {
			_, err = closing.Close(ctx, s, review, how)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
