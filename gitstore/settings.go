package gitstore

import (
	"context"
	"path/filepath"
	"strings"
)

// Setting is one line of git's configuration, and where it stands.
type Setting struct {
	Key, Value string
	Scope      string // git's: system, global, local, worktree or command
	File       string // "" where it is no file's
}

// Settings are those below prefix, such as "runr.", in the order in which they count, the
// last most.
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
