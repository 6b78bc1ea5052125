package gitstore

import "context"

// MergeBase is the best common ancestor of two commits; a *MissingError when they have
// none here.
func (r *Repo) MergeBase(ctx context.Context, a, b ID) (ID, error) {
	out, err := r.gitLine(ctx, "merge-base", "--end-of-options", string(a), string(b))
	if exitStatus(err) == 1 {
		return "", r.unrelated(a, b, err)
	}
	return ID(out), err
}

// IsAncestor reports whether commit a is b or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", "--end-of-options", string(a), string(b))
	if exitStatus(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
