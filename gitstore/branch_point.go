package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BranchPoint returns the commit at which the branch at HEAD left the branch that it will be merged
// into, and the name of that branch: the first of the default branches of the remotes, the
// upstream, and main or master here or on origin that HEAD is not contained in. Both are "" if
// there is no such branch.
func (r *Repo) BranchPoint(ctx context.Context) (point ID, name string, err error) {
	head, err := r.Head(ctx)
	if errors.Is(err, ErrUnborn) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	branch, err := r.Branch(ctx)
	if err != nil {
		return "", "", err
	}
	return r.BranchPointOf(ctx, branch, head)
}

// BranchPointOf is BranchPoint for the branch with a full ref name, as it was at head.
func (r *Repo) BranchPointOf(ctx context.Context, branch string, head ID) (point ID, name string, err error) {
	for _, ref := range r.trunks(ctx, branch) {
		tip, err := r.refs.Ref(ctx, ref)
		if err != nil || tip == "" {
			continue
		}
		point, err := r.MergeBase(ctx, tip, head)
		if missing := new(MissingError); errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return "", "", fmt.Errorf("find where the branch began: %w", err)
		}
		if point != head {
			return point, strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/"), nil
		}
	}
	return "", "", nil
}

// trunks returns the full names of refs that a branch may be merged into, the likeliest
// first. They need not exist.
func (r *Repo) trunks(ctx context.Context, branch string) []string {
	var found []string
	if _, set := r.Config["branch."+strings.TrimPrefix(branch, "refs/heads/")+".merge"]; set {
		if out, err := r.dir.GitLine(ctx, "for-each-ref", "--format=%(upstream)", "--end-of-options", branch); err == nil &&
			out != "" {
			found = append(found, out)
		}
	}
	found = append(found, "refs/heads/main", "refs/heads/master")
	if len(r.Remotes()) > 0 {
		found = append(r.remoteHeads(ctx), append(found, "refs/remotes/origin/main", "refs/remotes/origin/master")...)
	}
	return slices.DeleteFunc(found, func(name string) bool { return name == branch })
}

// remoteHeads returns the branches that the HEADs of the remotes name here.
func (r *Repo) remoteHeads(ctx context.Context) (heads []string) {
	remotes, err := r.refs.Refs(ctx, "refs/remotes/")
	for name := range remotes {
		if err == nil && strings.HasSuffix(name, "/HEAD") {
			if target, err := r.refs.SymbolicTarget(ctx, name); err == nil && target != "" {
				heads = append(heads, target)
			}
		}
	}
	return heads
}
