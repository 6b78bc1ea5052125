package refdb

import (
	"context"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
)

// MergeBase is the best common ancestor of two commits; a *MissingError when they have
// none here.
func (s *Store) MergeBase(ctx context.Context, a, b odb.ID) (odb.ID, error) {
	out, err := s.dir.GitLine(ctx, "merge-base", "--end-of-options", string(a), string(b))
	if gitdir.ExitStatus(err) == 1 {
		return "", s.objects.Unrelated(a, b, err)
	}
	return odb.ID(out), err
}

// IsAncestor reports whether commit a is b or an ancestor of it.
func (s *Store) IsAncestor(ctx context.Context, a, b odb.ID) (bool, error) {
	_, err := s.dir.Git(ctx, "merge-base", "--is-ancestor", "--end-of-options", string(a), string(b))
	if gitdir.ExitStatus(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
