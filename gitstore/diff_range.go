package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Range reads what a user names as the changes to look at: "A..B", "A...B" (from
// their merge base), where a missing end is HEAD, or one revision, which means its
// changes against its first parent. from is the empty tree for a first commit. What
// does not exist is ErrNotFound with its name.
func (r *Repo) Range(ctx context.Context, spec string) (from, to ID, err error) {
	left, right, symmetric := strings.Cut(spec, "...")
	if !symmetric {
		var isRange bool
		if left, right, isRange = strings.Cut(spec, ".."); !isRange {
			return r.ownRange(ctx, spec)
		}
	}
	if from, err = r.Resolve(ctx, cmp.Or(left, "HEAD")); err != nil {
		return "", "", err
	}
	if to, err = r.Resolve(ctx, cmp.Or(right, "HEAD")); err != nil {
		return "", "", err
	}
	if symmetric {
		from, err = r.MergeBase(ctx, from, to)
	}
	return from, to, err
}

// ownRange is the range of one commit.
func (r *Repo) ownRange(ctx context.Context, rev string) (from, to ID, err error) {
	if to, err = r.Resolve(ctx, rev); err != nil {
		return "", "", err
	}
	commit, err := r.ReadCommit(ctx, to)
	if err != nil {
		return "", "", err
	}
	if len(commit.Parents) == 0 {
		return r.objects.EmptyTreeID(), to, nil
	}
	return commit.Parents[0], to, nil
}

// EmptyTree writes the tree without entries, and returns its id.
func (r *Repo) EmptyTree(ctx context.Context) (ID, error) { return r.objects.WriteTree(ctx, nil) }

// ContainedInBranch reports whether a commit can be reached from HEAD or a branch.
func (r *Repo) ContainedInBranch(ctx context.Context, id ID) (bool, error) {
	head, err := r.Head(ctx)
	if err != nil && !errors.Is(err, ErrUnborn) {
		return false, err
	}
	if head != "" {
		if inHead, err := r.IsAncestor(ctx, id, head); err != nil || inHead {
			return inHead, err
		}
	}
	out, err := r.dir.Git(ctx, "for-each-ref", "--count=1", "--contains="+string(id), "refs/heads/")
	if err != nil {
		return false, fmt.Errorf("branches with %s: %w", id.Short(), err)
	}
	return len(out) > 0, nil
}

// Operation names what git has begun and not ended in this worktree: rebase, am,
// merge, cherry-pick, revert, bisect, or "". A rebase comes before the
// cherry-pick that it is made of.
func (r *Repo) Operation() string {
	for _, sign := range []struct{ file, operation string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(r.GitDir, filepath.FromSlash(sign.file))); err == nil {
			return sign.operation
		}
	}
	return ""
}
