package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func removeIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// realDir resolves symbolic links in all of path but its last part, as far as it
// exists.
func realDir(path string) string {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(parent, filepath.Base(path))
}

// registeredDir reads where the worktree of a git directory is, "" when unknown.
// The path may be relative to the git directory (extensions.relativeWorktrees).
func registeredDir(gitDir string) string {
	data, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return ""
	}
	dotGit := strings.TrimRight(string(data), "\n")
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(gitDir, dotGit)
	}
	return realDir(filepath.Dir(dotGit))
}

// below reports whether path is dir or lies in it. Both are absolute and clean.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
