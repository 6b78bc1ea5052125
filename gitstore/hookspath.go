package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// HooksDir is the directory where git looks for the hooks of a repository.
type HooksDir struct {
	Path    string // absolute; os.DevNull if core.hooksPath is empty, which to git means no hooks
	Scope   string // where core.hooksPath is set, in git's words: system, global, local, worktree; "" if it is not set
	Tracked bool   // the index has files in it: it belongs to the project, not to this clone alone
	Project bool   // it is in the working tree and not ignored: files in it would be committed
	// Relative is core.hooksPath if it is relative to the top of each worktree.
	Relative string
}

// HooksDir returns the directory in which `git commit` in this worktree looks for hooks.
// It need not exist. A relative core.hooksPath is relative to the top of the working
// tree, or to the git directory of a bare repository.
func (r *Repo) HooksDir(ctx context.Context) (HooksDir, error) {
	value, scope, err := r.hooksPath(ctx)
	if err != nil {
		return HooksDir{}, fmt.Errorf("read core.hooksPath: %w", err)
	}
	dir := HooksDir{Path: value, Scope: scope}
	switch {
	case scope == "":
		dir.Path = filepath.Join(r.CommonDir, "hooks")
	case value == "":
		dir.Path = os.DevNull
	case filepath.IsAbs(value):
	case r.WorkTree != "":
		dir.Path = filepath.Join(r.WorkTree, value)
		if scope != "worktree" {
			dir.Relative = value
		}
	case r.Bare:
		dir.Path = filepath.Join(r.GitDir, value)
	default:
		return HooksDir{}, fmt.Errorf("core.hooksPath %q is relative to a working tree, and this is not in one", value)
	}
	if dir.Tracked, err = r.tracksIn(ctx, dir.Path); err != nil || dir.Tracked {
		return dir, err
	}
	dir.Project, err = r.wouldCommit(ctx, dir.Path)
	return dir, err
}

// wouldCommit reports whether git add would add a file in dir, an absolute path.
func (r *Repo) wouldCommit(ctx context.Context, dir string) (bool, error) {
	if r.WorkTree == "" || !gitdir.Below(dir, r.WorkTree) || gitdir.Below(dir, r.CommonDir) {
		return false, nil
	}
	_, err := r.dir.Call(ctx, gitdir.Call{Worktree: r.WorkTree,
		Args: []string{"--no-literal-pathspecs", "check-ignore", "-q", "--", filepath.Join(dir, "post-commit")}})
	if gitdir.ExitStatus(err) == 1 {
		return true, nil
	}
	return false, err
}

// OtherWorktrees returns the tops of all worktrees except this one and those that AddWorktree made.
func (r *Repo) OtherWorktrees(ctx context.Context) ([]string, error) {
	trees, err := r.listWorktrees(ctx)
	if err != nil {
		return nil, err
	}
	var tops []string
	for _, tree := range trees {
		top := tree["worktree"]
		real := gitdir.RealDir(top)
		reg, err := r.registration(real)
		own := err == nil && r.ownWorktree(real, reg.gitDir)
		if own || real == r.WorkTree || tree.has("bare") || tree.has("prunable") {
			continue
		}
		tops = append(tops, top)
	}
	return tops, nil
}

// hooksPath asks git for core.hooksPath and its scope. Config is of no use here: its
// last value is the one in fixedOptions, of scope "command".
func (r *Repo) hooksPath(ctx context.Context) (value, scope string, err error) {
	if now, ok := r.dir.ConfigNow(); ok && now["core.hookspath"] == nil {
		return "", "", nil
	}
	out, err := r.dir.Git(ctx, "config", "--type=path", "--show-scope", "-z", "--get-all", "core.hooksPath")
	if gitdir.ExitStatus(err) == 1 {
		return "", "", nil
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] != "command" {
			scope, value = fields[i], fields[i+1]
		}
	}
	return value, scope, err
}

// tracksIn reports whether the index has files below dir, an absolute path.
func (r *Repo) tracksIn(ctx context.Context, dir string) (bool, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if r.WorkTree == "" || !gitdir.Below(dir, r.WorkTree) || gitdir.Below(dir, r.CommonDir) {
		return false, nil
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Worktree: r.WorkTree, Args: []string{"ls-files", "-z", "--", dir}})
	if err != nil {
		return false, fmt.Errorf("look for tracked files in %q: %w", dir, err)
	}
	return len(out) > 0, nil
}
