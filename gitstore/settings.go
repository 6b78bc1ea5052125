package gitstore

import (
	"context"
	"path/filepath"
	"strings"
)

// Setting is one line of git's configuration and its origin.
type Setting struct {
	Key, Value string
	Scope      string // git's: system, global, local, worktree or command
	File       string // "" if it is not from a file
}

// Settings returns the settings with a prefix, such as "runr.", in git's order: a later one
// overrides an earlier one.
func (r *Repo) Settings(ctx context.Context, prefix string) ([]Setting, error) {
	out, err := r.dir.Git(ctx, "config", "--list", "--show-scope", "--show-origin", "-z")
	if err != nil {
		return nil, err
	}
	var settings []Setting
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) >= 3; fields = fields[3:] {
		key, value, valued := strings.Cut(fields[2], "\n")
		if !valued {
			value = "true"
		}
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		file, ok := strings.CutPrefix(fields[1], "file:")
		switch {
		case !ok:
			file = ""
		case !filepath.IsAbs(file):
			file = filepath.Join(r.GitDir, file)
		}
		settings = append(settings, Setting{key, value, fields[0], file})
	}
	return settings, nil
}
