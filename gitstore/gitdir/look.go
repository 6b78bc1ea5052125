package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// look finds the repository of a call's directory without git, in the one simple case: on the way
// up there is a .git directory, and it and its parent belong to this user. It returns nil in all
// other cases (links to git directories, bare ones, other owners, other file systems, variables
// that name a place); the caller then asks git. The configuration must confirm the result: see
// listing.plain.
func look(c Call) *Place {
	env := append(gitEnviron(os.Environ(), c.Bare && !c.Unlocated), c.Env...)
	if slices.ContainsFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return locatingVars[name] || name == "GIT_CEILING_DIRECTORIES" || name == "GIT_DISCOVERY_ACROSS_FILESYSTEM"
	}) {
		return nil
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil
	}
	start, err := os.Lstat(dir)
	if err != nil {
		return nil
	}
	for top := dir; ; top = filepath.Dir(top) {
		info, err := os.Lstat(top)
		if err != nil || !sameDevice(start, info) {
			return nil
		}
		gitDir := filepath.Join(top, ".git")
		if git, err := os.Lstat(gitDir); err == nil {
			if !ours(info) || !ours(git) || !isGitDir(gitDir) {
				return nil
			}
			return &Place{Format: "sha1", GitDir: gitDir, CommonDir: gitDir, WorkTree: top, Prefix: prefixOf(top, dir)}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		// perhaps a git directory itself
		if _, err := os.Lstat(filepath.Join(top, "HEAD")); err == nil || top == filepath.Dir(top) {
			return nil
		}
	}
}

// isGitDir reports whether git would certainly accept dir as a git directory that is not one of a
// linked worktree.
func isGitDir(dir string) bool {
	for _, sub := range []string{"", "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(dir, sub)); err != nil || !info.IsDir() || info.Mode()&0o500 != 0o500 {
			return false
		}
	}
	head := filepath.Join(dir, "HEAD")
	if info, err := os.Lstat(head); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := safefile.ReadFile(head)
	_, linkErr := os.Lstat(filepath.Join(dir, "commondir"))
	id := strings.TrimSuffix(string(text), "\n") // of a detached HEAD
	isHead := strings.HasPrefix(id, "ref: refs/") || len(id) == 40 && strings.Trim(id, "0123456789abcdef") == ""
	return err == nil && isHead && errors.Is(linkErr, fs.ErrNotExist)
}

// prefixOf returns the path of dir below top in git's form: "" or "dir/sub/".
func prefixOf(top, dir string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// plainExtensions do not change where a repository is or how it names objects and refs.
var plainExtensions = []string{"extensions.worktreeconfig", "extensions.partialclone", "extensions.preciousobjects"}

// plain reports whether the configuration is one of a normal repository whose location is where it
// was found.
func (l listing) plain() bool {
	version := l.local["core.repositoryformatversion"]
	if len(version) == 0 || len(l.all["core.worktree"]) > 0 || l.all.Bool("core.ignorecase") ||
		l.all.Bool("core.precomposeunicode") {
		return false // the last two: a file system may know a directory by names other than the typed one
	}
	for key := range l.all {
		if strings.HasPrefix(key, "extensions.") && !slices.Contains(plainExtensions, key) {
			return false
		}
	}
	known := func(v string) bool { return v == "0" || v == "1" }
	no := func(v string) bool { return v == "false" }
	return all(version, known) && all(l.all["core.bare"], no)
}

func all(values []string, is func(string) bool) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !is(v) })
}
