package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Staging is a worktree as a hook of `git commit` sees it: HEAD is at a commit, and all
// differences from it are staged.
type Staging struct {
	Dir   string // a separate git directory: HEAD and index of the worktree are not touched
	Tree  ID     // the staged tree
	index string
	w     *Worktree
}

// Stage stages all files of the worktree on top of base. The caller closes it.
func (w *Worktree) Stage(ctx context.Context, base ID) (s *Staging, err error) {
	defer wrap(&err, "stage files of %q", w.Dir)
	before, err := readIndexFile(w.indexPath())
	if err != nil {
		return nil, err
	}
	path, done, err := w.scratchIndex(before)
	if err != nil {
		return nil, err
	}
	s = &Staging{Dir: filepath.Dir(path), index: path, w: w}
	files := map[string]string{
		"HEAD": string(base) + "\n", "commondir": w.repo.CommonDir + "\n", "gitdir": filepath.Join(w.Dir, ".git") + "\n",
	}
	if own, err := safefile.ReadFile(filepath.Join(w.GitDir, "config.worktree")); err == nil {
		files["config.worktree"] = string(own)
	}
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(s.Dir, name), []byte(content), 0o666)
		}
	}
	if err == nil {
		err = w.stageAll(ctx, path)
	}
	if err == nil {
		s.Tree, err = w.writeIndexTree(ctx, path)
	}
	if err != nil {
		done()
		return nil, err
	}
	return s, nil
}

// Close removes the separate git directory.
func (s *Staging) Close() { _ = os.RemoveAll(s.Dir) }

// Restage stages what has changed in the worktree since, and reports whether anything has.
func (s *Staging) Restage(ctx context.Context) (changed bool, err error) {
	before := s.Tree
	if err = s.w.stageAll(ctx, s.index); err == nil {
		s.Tree, err = s.w.writeIndexTree(ctx, s.index)
	}
	if err != nil {
		return false, fmt.Errorf("stage files of %q: %w", s.w.Dir, err)
	}
	return s.Tree != before, nil
}

// Env returns the variables that make git, run in the worktree, use the staged content.
func (s *Staging) Env() []string {
	return []string{"GIT_DIR=" + s.Dir, "GIT_WORK_TREE=" + s.w.Dir, "GIT_INDEX_FILE=" + s.index}
}

// HasHook reports whether git would run a hook with that name here.
func (r *Repo) HasHook(ctx context.Context, dir HooksDir, name string) bool {
	info, err := os.Stat(filepath.Join(dir.Path, name))
	if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return true
	}
	for key, values := range r.Config { // configured hooks, from git 2.54 on
		if strings.HasPrefix(key, "hook.") && strings.HasSuffix(key, ".event") && len(values) > 0 &&
			values[len(values)-1] == name {
			major, minor, err := r.Version(ctx)
			return err == nil && (major > 2 || minor >= 54)
		}
	}
	return false
}
