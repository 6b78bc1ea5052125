package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RemoveIfThere removes a file, and is content with none.
func RemoveIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// GlobQuote is a path as a pattern that matches only it.
func GlobQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// RealDir resolves symbolic links in all of path but its last part, as far as it
// exists.
func RealDir(path string) string {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(parent, filepath.Base(path))
}

// RegisteredDir reads where the worktree of a git directory is, "" when unknown.
// The path may be relative to the git directory (extensions.relativeWorktrees).
func RegisteredDir(gitDir string) string {
	data, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return ""
	}
	dotGit := strings.TrimRight(string(data), "\n")
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(gitDir, dotGit)
	}
	return RealDir(filepath.Dir(dotGit))
}

// Below reports whether path is dir or lies in it. Both are absolute and clean.
func Below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
