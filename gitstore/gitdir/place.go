package gitdir

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Place is where a repository lies, and what it was when it was opened.
type Place struct {
	GitDir    string // of this worktree, absolute
	CommonDir string // shared by all worktrees, absolute; GitDir in the main one
	WorkTree  string // top of the checkout, absolute; "" when bare or inside the git directory
	Prefix    string // where the command was started, below WorkTree: "" or "dir/sub/"
	IndexFile string // the index that GIT_INDEX_FILE names, absolute; "" when it is GitDir's own
	Bare      bool
	Config    Config // as it was when the repository was opened
	Format    string // of object names: sha1 or sha256
	Reftable  bool   // refs are not files
}

// Dir is an open repository as the place where git runs. Its methods may be called
// from several goroutines.
type Dir struct {
	*Place
	Explain func(error) error // makes more of an error of git's; nil for nothing
	Gate    *Gate             // of all places of the repository
}

// Gate says which calls of git run.
type Gate struct {
	Shut   atomic.Bool                                 // none: the repository is not there any more
	Before atomic.Pointer[func(context.Context) error] // says why calls that are not plain do not run; nil: nothing does
}

// Pass returns why c is not to run, nil where it may.
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

// At is the same repository seen from another place of it: a linked worktree.
func (d *Dir) At(place Place) *Dir { return &Dir{Place: &place, Explain: d.Explain, Gate: d.Gate} }

// StateDir is where the tool keeps files of its own: caches, transcripts, locks.
// Nothing in it is the truth about an event. It is shared by all worktrees.
func (p *Place) StateDir() string { return filepath.Join(p.CommonDir, "runr") }

// AlterationsFile holds what changed while agents worked, until somebody accepts it or it is put back.
func (p *Place) AlterationsFile() string { return filepath.Join(p.StateDir(), "guard.json") }

// SHA256 reports whether the repository names its objects by SHA-256.
func (p *Place) SHA256() bool { return p.Format == "sha256" }

// Remotes lists the names of the remotes that are configured with a URL, sorted.
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

// FromTop is a path, as it is meant where the command was started, from the top of the working tree, with
// slashes. It may lead out of that.
func (p *Place) FromTop(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Prefix, path)
	} else if rel, err := filepath.Rel(p.WorkTree, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}
