// Package setup puts into a repository what makes git-runr work in it, and takes it out again: it remembers
// how the repository was, so that then it is as it was, to the byte.
package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Detect finds the checks that the project in a checkout seems to have, and what a fresh worktree of it lacks.
func Detect(ctx context.Context, repo *gitstore.Repo) (checks []runplan.Check, given runplan.Worktree, err error) {
	at := func(name string) string { return filepath.Join(repo.WorkTree, filepath.FromSlash(name)) }
	exists := func(name string) bool { _, err := os.Stat(at(name)); return err == nil }
	read := func(name string) ([]byte, error) { return os.ReadFile(at(name)) }
	given.Setup = builtin.DetectSetup(exists, read, config.Runnable)
	tree, err := repo.Checkout()
	if err == nil {
		given.Copy, err = tree.IgnoredBy(ctx, ".env*", "*/.env*", "*/*/.env*", "go.work*")
	}
	return append([]runplan.Check{}, builtin.DetectAll(exists, read, config.Runnable)...), given, err
}

// WriteConfig makes a checkout's .runr.toml, which must not be there, and remembers it.
func WriteConfig(repo *gitstore.Repo, checks []runplan.Check, given runplan.Worktree) error {
	text := []byte(config.Initial(checks, given))
	if err := safefile.Create(filepath.Join(repo.WorkTree, config.FileName), text, 0o666); err != nil {
		return err
	}
	b, _ := readBefore(repo)
	b.Wrote = safefile.Hash(text)
	return b.save(repo)
}

// displayRef is git's setting for what git log shows.
const displayRef = "notes.displayRef"

// ShowsNotes reports whether plain git log shows the notes.
func ShowsNotes(repo *gitstore.Repo) bool {
	return slices.Contains(repo.Config["notes.displayref"], store.NotesRef)
}

// ShowNotes lets plain git log show the notes, of which there may be none yet. Nothing
// is added to what git fetches.
func ShowNotes(ctx context.Context, records *store.Store) error {
	if err := records.BeginNotes(ctx); err != nil || ShowsNotes(records.Repo) {
		return err
	}
	return records.Repo.AddConfig(ctx, displayRef, store.NotesRef)
}

// Program is this program as path, a list of directories, names it, which outlives an upgrade, or
// else where its file is; "" where that cannot be told.
func Program(path string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	own, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "git-runr")
		if info, err := os.Stat(name); err == nil && filepath.IsAbs(name) && os.SameFile(info, own) {
			return name
		}
	}
	return self
}
