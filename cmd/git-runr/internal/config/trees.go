package config

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
)

// DefaultTrees is where worktrees lie unless somebody chose a place: in the user's cache,
// or, "", without a home below the git directory.
func DefaultTrees(getenv func(string) string) string {
	return UnderHome(getenv, "XDG_CACHE_HOME", ".cache", "git-runr/worktrees")
}

// Trees is where worktrees are made.
func (c *Config) Trees(ctx context.Context, getenv func(string) string) (gitstore.TreePlace, error) {
	path, from := c.Loop.Worktrees, c.origin("loop.worktrees")
	if path == "" {
		return gitstore.TreePlace{Root: DefaultTrees(getenv)}, nil
	}
	place := gitstore.TreePlace{Name: "loop.worktrees (" + from + ")"}
	rest, home := strings.CutPrefix(path, "~")
	switch {
	case from == FileName && !besides(path):
		return place, exit.Problemf(exit.Usage, "%s: %q: a repository can name a directory below its top, or ../NAME beside it", place.Name, path).
			WithHint("git config runr.loop.worktrees PATH")
	case home && (rest == "" || rest[0] == '/'):
		if path = UnderHome(getenv, "", rest, ""); path == "" {
			return place, exit.Problemf(exit.Usage, "%s: %q: HOME is not set", place.Name, c.Loop.Worktrees)
		}
	case !filepath.IsAbs(path):
		top, err := c.repo.Top(ctx)
		if err != nil {
			return place, err
		}
		path = filepath.Join(top, path)
	}
	if place.Root = filepath.Clean(path); from == FileName {
		return place, c.staysBeside(ctx, place)
	}
	return place, nil
}

// besides reports whether a path leads below the directory that it counts from, or to one
// beside that which is not hidden: what a repository says decides where files are written.
func besides(path string) bool {
	name, beside := strings.CutPrefix(filepath.ToSlash(filepath.Clean(path)), "../")
	return filepath.IsLocal(name) && (!beside || !strings.Contains(name, "/") && !strings.HasPrefix(name, "."))
}

// staysBeside refuses a place that a repository names and that symbolic links lead
// elsewhere from.
func (c *Config) staysBeside(ctx context.Context, place gitstore.TreePlace) error {
	top, err := c.repo.Top(ctx)
	if err != nil {
		return err
	}
	want, err := filepath.Rel(top, place.Root)
	for dir := place.Root; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		real, gone := filepath.EvalSymlinks(dir)
		if gone != nil {
			continue
		}
		if is, _ := filepath.Rel(realPath(top), filepath.Join(real, strings.TrimPrefix(place.Root, dir))); is != want {
			return exit.Problemf(exit.Usage, "%s: %q: symbolic links lead it to %q", place.Name, c.Loop.Worktrees, real).
				WithHint("git config runr.loop.worktrees PATH")
		}
		break
	}
	return err
}
