// Package workspace is where a run works in this clone, and who is at it: its worktree, its
// files, the refs of its snapshots, and the locks of a run and of a checkout.
package workspace

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/store"
)

// TreeDir is where a run's worktree is, while it has one.
func TreeDir(s *store.Store, run string) string { return s.Repo.WorktreeDir(run) }

// FilesDir is where a run keeps what is of this clone only: transcripts and the
// files of its diagnosis.
func FilesDir(s *store.Store, run string) string {
	return filepath.Join(s.Repo.StateDir(), "runs", run)
}

// RunNotes returns the file that notes the commands started for a run; see agent.Noted.
func RunNotes(s *store.Store, run string) string { return filepath.Join(FilesDir(s, run), "started") }

// CheckoutNotes returns the file that notes the commands started in a checkout of a review.
func CheckoutNotes(s *store.Store, name string) string {
	return filepath.Join(s.Repo.StateDir(), "checkouts", name+".started")
}

// WriteFiles writes files, by their slash paths, below dir.
func WriteFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		if err := safefile.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// SnapshotRefs is how the refs begin of the snapshots that were taken for a run.
func SnapshotRefs(run string) string { return "refs/runr-local/snapshots/" + run + "/" }

// ContextRefs is how the refs begin of snapshots of checkouts that an executor's work
// was taken from; the commit of that work follows.
const ContextRefs = "refs/runr-local/snapshots/context-"

// FreeRef is the ref of a run's snapshot of that name, or the first with -2, -3 and so
// on that does not exist.
func FreeRef(ctx context.Context, s *store.Store, run, name string) (string, error) {
	have, err := s.Repo.Refs(ctx, SnapshotRefs(run))
	ref := SnapshotRefs(run) + name
	free := ref
	for n := 2; have[free] != ""; n++ {
		free = fmt.Sprintf("%s-%d", ref, n)
	}
	return free, err
}
