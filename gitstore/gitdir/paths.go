package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// RemoveIfThere removes a file. A missing file is not an error.
func RemoveIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// GlobQuote returns a pattern that matches only path.
func GlobQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// RealDir resolves symbolic links in path except in its last element. If the parent does not
// exist, it only cleans path.
func RealDir(path string) string {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(parent, filepath.Base(path))
}

// RegisteredDir returns the directory of the worktree that belongs to a git directory, or "".
// The recorded path may be relative to the git directory (extensions.relativeWorktrees).
func RegisteredDir(gitDir string) string {
	data, err := safefile.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return ""
	}
	dotGit := strings.TrimRight(string(data), "\n")
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(gitDir, dotGit)
	}
	return RealDir(filepath.Dir(dotGit))
}

// Below reports whether path is dir or inside it. Both are absolute and clean.
func Below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
