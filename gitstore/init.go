package gitstore

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Init creates an empty repository at dir, with main checked out, and opens it. It ignores GIT_DIR
// and the like.
func Init(ctx context.Context, dir string) (*Repo, error) {
	c := gitdir.Call{Dir: dir, Bare: true, Unlocated: true,
		Args: []string{"init", "--quiet", "--template=", "--initial-branch=main"}}
	if _, err := c.Run(ctx); err != nil {
		return nil, fmt.Errorf("make repository: %w", err)
	}
	return opened(gitdir.OpenIn(ctx, c))
}

// LogWithNotes returns what plain git log prints for the newest max commits of HEAD with
// the notes of ref.
func (r *Repo) LogWithNotes(ctx context.Context, ref string, max int) ([]byte, error) {
	return r.dir.Git(ctx, "log", "--no-color", "--notes="+ref, fmt.Sprintf("-%d", max))
}

// AddConfig adds one value to a multi-valued key of the repository's own configuration.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	if _, err := r.dir.Git(ctx, "config", "--local", "--add", key, value); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	return nil
}
