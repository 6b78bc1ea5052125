package gitstore

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Moved is a commit of the work and the commit as which it landed.
type Moved struct{ From, To ID }

// LandedAs pairs the commits of the work in spec with the commits that the landing made of them,
// oldest first. It returns nil if they landed unchanged. After a squash all are paired with the one
// commit. It leaves out a commit that changed nothing any more on top of the branch, except the last,
// which is paired with the branch's commit.
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
		case len(made) > 0 && from.Author == made[0].Author && from.AuthorWhen.Equal(made[0].AuthorWhen) &&
			odb.WholeLine(from.Message) == odb.WholeLine(made[0].Message): // one was made from the other
			moved, made = append(moved, Moved{from.ID, made[0].ID}), made[1:]
		}
	}
	return moved, nil
}
