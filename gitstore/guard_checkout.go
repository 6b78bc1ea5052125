package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// WatchCheckout makes the guard watch the files of the user's checkout, unless the agent works there.
func (g *Guard) WatchCheckout(ctx context.Context) {
	w, err := g.repo.UserCheckout(ctx)
	if err != nil || w.GitDir == g.GitDir {
		return
	}
	g.checkout, g.loose = w, looseFiles(ctx, w)
}

// looseFiles returns the states of the files in a checkout that differ from its index, by path.
func looseFiles(ctx context.Context, w *Worktree) map[string]string {
	paths, err := w.unstaged(ctx, gitdir.Call{Worktree: w.Dir})
	if err != nil {
		return nil // as for an index that is damaged
	}
	files := map[string]string{}
	for _, path := range paths {
		files[path] = w.stateOf(path)
	}
	return files
}

// stateOf returns a string that changes when the file at a path does.
func (w *Worktree) stateOf(path string) string {
	full := filepath.Join(w.Dir, path)
	info, err := os.Lstat(full)
	if err != nil {
		return "missing"
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), inodeChanged(full))
}

// LooseFiles returns the paths of files in the user's checkout that changed since WatchCheckout, sorted. It only
// compares the files that differed from the index before if somebody staged or committed meanwhile, or if git may run
// nothing, such as filters of a configuration that was changed.
func (g *Guard) LooseFiles(ctx context.Context, mayRun bool) (changed []string) {
	w := g.checkout
	for path, was := range g.loose {
		if w.stateOf(path) != was {
			changed = append(changed, path)
		}
	}
	if mayRun && w != nil && g.Staged[w.GitDir] == g.readIndexes(ctx)[w.GitDir] {
		for path := range looseFiles(ctx, w) {
			if _, known := g.loose[path]; !known {
				changed = append(changed, path)
			}
		}
	}
	slices.Sort(changed)
	return changed
}
