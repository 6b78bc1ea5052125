package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// look finds the repository of a call's directory as git does, in the one case in which
// that takes nothing but looking: a .git directory that is ours in a directory that is
// ours, on the way up. It gives nil for all else (links to git directories, bare ones,
// other people's, other file systems, variables that say where), and then git is asked. What it
// found still has to be borne out by git's own listing of the configuration: see plain.
func look(c Call) *Place {
	env := append(gitEnviron(os.Environ(), c.Bare && !c.Unlocated), c.Env...)
	if slices.ContainsFunc(env, locates) {
		return nil
	}
	dir, err := filepath.Abs(c.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	start, statErr := os.Lstat(dir)
	if err != nil || statErr != nil {
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
		if _, err := os.Lstat(filepath.Join(top, "HEAD")); err == nil || top == filepath.Dir(top) { // perhaps a git directory itself
			return nil
		}
	}
}

// locates reports whether a variable has a say in where a repository is.
func locates(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return locatingVars[name] || name == "GIT_CEILING_DIRECTORIES" || name == "GIT_DISCOVERY_ACROSS_FILESYSTEM"
}

// isGitDir reports whether dir is beyond doubt what git takes for a git directory, and
// not one of a linked worktree.
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
	text, err := os.ReadFile(head)
	_, linkErr := os.Lstat(filepath.Join(dir, "commondir"))
	return err == nil && isHead(string(text)) && errors.Is(linkErr, fs.ErrNotExist)
}

// isHead reports whether a text is what HEAD has on a branch, or with SHA-1 off one.
func isHead(text string) bool {
	id := strings.TrimSuffix(text, "\n")
	return strings.HasPrefix(text, "ref: refs/") || len(id) == 40 && strings.Trim(id, "0123456789abcdef") == ""
}

// prefixOf is where dir is below top, as git says it.
func prefixOf(top, dir string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// plainExtensions are those that change nothing about where a repository is, and how it
// names objects and refs.
var plainExtensions = []string{"extensions.worktreeconfig", "extensions.partialclone", "extensions.preciousobjects"}

// plain reports whether git, asked for the configuration, took the repository for one, and
// whether that says nothing else about where it is than that it lies where it was found.
func (l listing) plain() bool {
	version := l.local["core.repositoryformatversion"]
	if len(version) == 0 || len(l.all["core.worktree"]) > 0 || l.all.Bool("core.ignorecase") || l.all.Bool("core.precomposeunicode") {
		return false // the last two: a file system may know a directory by other names than the one typed
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
