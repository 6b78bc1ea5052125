package gitstore

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Embedded returns the paths of repositories of their own that are new in tree after, compared with before, and that
// are not submodules, because no .gitmodules of after names them. A commit has nothing of them but the name of one of
// their commits.
func (r *Repo) Embedded(ctx context.Context, before, after ID) (paths []string, err error) {
	changes, err := r.Changed(ctx, before, after)
	for _, c := range changes {
		if c.NewMode == ModeCommit && c.OldMode != ModeCommit {
			paths = append(paths, c.Path)
		}
	}
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	file, err := r.refs.Blob(ctx, after, ".gitmodules")
	if errors.Is(err, ErrNotFound) {
		return paths, nil
	}
	if err != nil {
		return nil, err
	}
	settings, _ := settingsOf(ctx, file) // what git cannot read names no submodule
	return slices.DeleteFunc(paths, func(path string) bool {
		for key, values := range settings {
			if strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".path") && slices.Contains(values, path) {
				return true
			}
		}
		return false
	}), nil
}
