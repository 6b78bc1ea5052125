package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
)

// ErrByHand is wrapped when a hook can only be changed by a person; the Status of
// that hook says how.
var ErrByHand = errors.New("this needs a change by hand")

// names are the hooks that are installed.
var names = [...]string{"post-commit"}

// StatusOf tells for each hook whether git would run us.
func StatusOf(ctx context.Context, repo *gitstore.Repo) ([]Status, error) {
	return forEach(ctx, repo, func(place) error { return nil })
}

// Install makes git run `program hooks run HOOK` after each commit. program is the
// absolute path of the installing binary; without one, or once that file is gone,
// git-runr is looked for on PATH. It writes nothing that is already right, and
// returns an error that wraps ErrByHand where it must not write, and one that wraps
// gitstore.ErrBare in a bare repository without worktrees, where no hook would run.
func Install(ctx context.Context, repo *gitstore.Repo, program string) ([]Status, error) {
	if !filepath.IsAbs(program) {
		program = ""
	}
	if strings.ContainsAny(program, "\n\r\x00") {
		return nil, fmt.Errorf("install hooks: a script cannot hold the program path %q", program)
	}
	return forEach(ctx, repo, func(p place) error { return p.install(program) })
}

// Uninstall takes out what Install wrote, to the byte, and removes a hook file
// that holds nothing else. It also looks at the places where an earlier Install
// may have written: the default directory, and where pre-commit moves scripts to.
// A line that was added by hand is an error that wraps ErrByHand.
func Uninstall(ctx context.Context, repo *gitstore.Repo) ([]Status, error) {
	statuses, err := forEach(ctx, repo, func(p place) error { return p.uninstall(repo) })
	for _, s := range statuses {
		if s.State == Installed && err == nil {
			err = fmt.Errorf("%s hook: %s: %w", s.Hook, s.Detail, ErrByHand)
		}
	}
	return statuses, err
}

// forEach does act for each hook and returns how the hooks are afterwards.
func forEach(ctx context.Context, repo *gitstore.Repo, act func(place) error) ([]Status, error) {
	dir, err := repo.HooksDir(ctx)
	if err != nil {
		return nil, fmt.Errorf("find hooks: %w", err)
	}
	var others []string
	if repo.Bare || dir.Relative != "" {
		if others, err = repo.OtherWorktrees(ctx); err != nil {
			return nil, fmt.Errorf("find hooks: %w", err)
		}
	}
	idle := repo.Bare && len(others) == 0
	var statuses []Status
	var failed []error
	for _, hook := range names {
		p, err := look(repo, dir, hook)
		if p.idle = idle; err == nil {
			err = act(p)
		}
		if err == nil {
			p, err = look(repo, dir, hook)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s hook: %w", hook, err))
		}
		if idle {
			p.Detail = "a bare repository makes no commits, so the hook would never run"
		}
		if dir.Relative != "" {
			p.Without = without(others, dir.Relative, hook)
		}
		statuses = append(statuses, p.Status)
	}
	return statuses, errors.Join(failed...)
}

// without are the worktrees in which nothing at path, from the top of each, calls us.
func without(worktrees []string, path, hook string) []string {
	return slices.DeleteFunc(slices.Clone(worktrees), func(top string) bool {
		f, err := readFile(filepath.Join(top, path, hook))
		return err == nil && calls(f.text, hook) && f.whyDead(top) == nil
	})
}

func (p place) install(program string) error {
	if p.idle {
		return fmt.Errorf("nothing was installed, for no commit is made here: %w", gitstore.ErrBare)
	}
	if p.State == Installed && !p.editable {
		return nil
	}
	if !p.editable {
		return fmt.Errorf("%s: %w", p.Detail, ErrByHand)
	}
	text, mode := p.file.text, p.file.mode
	if !p.file.exists {
		text, mode = skeleton, 0o755
	}
	text, err := withBlock(text, block(p.Hook, program))
	if err != nil {
		return err
	}
	if p.file.ours() {
		mode |= 0o111 // nobody else's script comes to life by that
	}
	if p.file.exists && text == p.file.text && mode == p.file.mode {
		return nil
	}
	return safefile.WriteExact(p.Path, []byte(text), mode)
}

func (p place) uninstall(repo *gitstore.Repo) error {
	var paths []string
	if !p.untouchable {
		paths = append(paths, p.Path, p.Path+".legacy")
	}
	if old := filepath.Join(repo.CommonDir, "hooks", p.Hook); old != p.Path {
		paths = append(paths, old)
	}
	for _, path := range paths {
		if err := removeBlock(path); err != nil {
			return err
		}
	}
	return nil
}

// removeBlock does nothing to a file that is missing, a link, or without a block.
func removeBlock(path string) error {
	f, err := readFile(path)
	if err != nil || !f.exists || f.problem != nil {
		return err
	}
	if f.ours() {
		return os.Remove(path)
	}
	text, err := withoutBlock(f.text)
	if err != nil {
		return fmt.Errorf("%q: %w: %w", path, err, ErrByHand)
	}
	if text == f.text {
		return nil
	}
	return safefile.WriteExact(path, []byte(text), f.mode)
}
