package gitstore

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Init makes a repository at dir, with main checked out and nothing in it, and opens it,
// also where GIT_DIR and the like mean another one.
func Init(ctx context.Context, dir string) (*Repo, error) {
	c := gitdir.Call{Dir: dir, Bare: true, Unlocated: true, Args: []string{"init", "--quiet", "--template=", "--initial-branch=main"}}
	if _, err := c.Run(ctx); err != nil {
		return nil, fmt.Errorf("make repository: %w", err)
	}
	return opened(gitdir.OpenIn(ctx, c))
}

// LogWithNotes is what plain git log prints of the newest max commits of HEAD with
// the notes of ref.
func (r *Repo) LogWithNotes(ctx context.Context, ref string, max int) ([]byte, error) {
	return r.dir.Git(ctx, "log", "--no-color", "--notes="+ref, fmt.Sprintf("-%d", max))
}

// AddConfig adds one value to a key of the repository's own configuration that may have several.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	if _, err := r.dir.Git(ctx, "config", "--local", "--add", key, value); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	return nil
}
