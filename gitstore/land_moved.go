package gitstore

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Moved is a commit of work that landed as another.
type Moved struct{ From, To ID }

// LandedAs pairs the commits of what spec described with those that done made of them,
// oldest first; none where they landed as they are. What a squash made one commit of
// landed as that. A commit that changed nothing any more on top of the branch is left
// out, but for the last one, which landed as where the branch is.
func (r *Repo) LandedAs(ctx context.Context, spec LandSpec, done Landed) ([]Moved, error) {
	if done.Commit == spec.Result || done.Commit == done.Old {
		return nil, nil
	}
	work, err := r.workOf(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("pair landed commits: %w", err)
	}
	made := []Commit{}
	if !spec.Squash {
		if made, err = r.firstParents(ctx, done.Old, done.Commit); err != nil {
			return nil, fmt.Errorf("pair landed commits: %w", err)
		}
	}
	var moved []Moved
	for _, from := range work {
		switch {
		case spec.Squash || from.ID == spec.Result:
			moved = append(moved, Moved{from.ID, done.Commit})
		case len(made) > 0 && sameWork(from, made[0]):
			moved, made = append(moved, Moved{from.ID, made[0].ID}), made[1:]
		}
	}
	return moved, nil
}

// sameWork reports whether a commit was made again from another.
func sameWork(a, b Commit) bool {
	return a.Author == b.Author && a.AuthorWhen.Equal(b.AuthorWhen) && odb.WholeLine(a.Message) == odb.WholeLine(b.Message)
}
