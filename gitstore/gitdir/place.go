package gitdir

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Place is where a repository is, with its configuration at the time it was opened.
type Place struct {
	GitDir    string // of this worktree, absolute
	CommonDir string // shared by all worktrees, absolute; GitDir in the main one
	WorkTree  string // top of the checkout, absolute; "" when bare or inside the git directory
	Prefix    string // where the command was started, below WorkTree: "" or "dir/sub/"
	IndexFile string // the index that GIT_INDEX_FILE names, absolute; "" when it is GitDir's own
	Bare      bool
	Config    Config // as it was when the repository was opened
	Format    string // of object names: sha1 or sha256
	Reftable  bool   // refs are not stored as files
}

// Dir is an open repository in which git can run. Its methods may be called from several
// goroutines.
type Dir struct {
	*Place
	Explain func(error) error // improves an error of git; nil: unchanged
	Gate    *Gate             // shared by all worktrees of the repository
	turns   *turns            // of this process at the locks; also shared
}

// Gate decides which calls of git may run.
type Gate struct {
	Shut   atomic.Bool                                 // no call may run: see Repo.Stop
	Before atomic.Pointer[func(context.Context) error] // returns why calls that are not plain must not run; nil: all may
}

// Pass returns why c must not run, or nil.
func (g *Gate) Pass(ctx context.Context, c Call) error {
	if g == nil {
		return nil
	}
	if g.Shut.Load() {
		return ErrTampered
	}
	if before := g.Before.Load(); before != nil && !c.plain() {
		return (*before)(ctx)
	}
	return nil
}

// At returns the same repository for another worktree.
func (d *Dir) At(place Place) *Dir {
	return &Dir{Place: &place, Explain: d.Explain, Gate: d.Gate, turns: d.turns}
}

// StateDir returns the directory of the tool's own files: caches, transcripts, locks.
// No event depends on it. All worktrees share it.
func (p *Place) StateDir() string { return filepath.Join(p.CommonDir, "runr") }

// AlterationsFile returns the file that records changes made while agents worked, until they are accepted or put back.
func (p *Place) AlterationsFile() string { return filepath.Join(p.StateDir(), "guard.json") }

// SHA256 reports whether the repository names its objects by SHA-256.
func (p *Place) SHA256() bool { return p.Format == "sha256" }

// Remotes returns the names of the remotes that have a URL, sorted.
func (p *Place) Remotes() []string {
	var names []string
	for key := range p.Config {
		name, isRemote := strings.CutPrefix(key, "remote.")
		name, isURL := strings.CutSuffix(name, ".url")
		if isRemote && isURL && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// FromTop turns a path, relative to where the command was started, into one relative to the top of the working
// tree, with slashes. The result may lead out of the tree.
func (p *Place) FromTop(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Prefix, path)
	} else if rel, err := filepath.Rel(p.WorkTree, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}
