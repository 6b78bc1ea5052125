package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// LandSpec describes the work to land on a branch.
type LandSpec struct {
	Result  ID        // the last commit of the work
	Base    ID        // the commit from which the work started
	Squash  bool      // land it as one commit
	Message string    // of the squashed commit
	Author  Identity  // of the squashed commit
	When    time.Time // author time of the squashed commit and committer time of every new one; zero is now
	Started *Snapshot // the user's working tree from which the work started, or nil

	Reword func(work []Commit) []Commit // returns new messages for commits that are made again; nil keeps the messages

	AllowDeletions bool      // land even if this removes more than half of the branch's files
	Op             Operation // the operation to record, so that it can be undone
}

// Landed is the result of a landing.
type Landed struct {
	Commit    ID       // where the branch is now; equals Old if there was nothing to land
	Old       ID       // where it was; "" for a branch without commits
	Files     []string // paths that changed between the two
	Deleted   []string // the Files that no longer exist and were not renamed
	Operation Recorded // for undoing it
}

// planLanding makes the commit to which a branch at old has to move, and lists the changes.
// If that commit is old itself, there are none.
func (r *Repo) planLanding(ctx context.Context, old ID, spec LandSpec) (landed Landed, changed []Change, err error) {
	landed.Old = old
	if landed.Commit, err = r.landOn(ctx, old, spec); err != nil || landed.Commit == old {
		return landed, nil, err
	}
	if changed, err = r.Changed(ctx, r.orEmptyTree(old), landed.Commit); err != nil {
		return landed, nil, err
	}
	landed.Files = changedPaths(changed)
	if landed.Deleted, err = r.deletions(ctx, old, landed.Commit, changed); err != nil || spec.AllowDeletions {
		return landed, changed, err
	}
	return landed, changed, r.keepsMost(ctx, old, landed.Deleted)
}

// deletions returns the files of from that to does not have under any name.
func (r *Repo) deletions(ctx context.Context, from, to ID, changed []Change) ([]string, error) {
	if !slices.ContainsFunc(changed, func(c Change) bool { return c.NewMode == "" }) {
		return nil, nil
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Env: r.noAttributes(), Args: []string{
		"diff-tree", "-r", "-z", "-M", renamePairs, "--diff-filter=D", "--name-only", "--no-ext-diff", "--end-of-options",
		string(from), string(to)}})
	if err != nil {
		return nil, fmt.Errorf("list deletions: %w", err)
	}
	return splitNUL(out), nil
}

// keepsMost returns ErrDeletions if more than half of a commit's files are deleted.
func (r *Repo) keepsMost(ctx context.Context, commit ID, deleted []string) error {
	if len(deleted) == 0 {
		return nil
	}
	all, err := r.Changed(ctx, r.objects.EmptyTreeID(), commit)
	if err != nil || 2*len(deleted) <= len(all) {
		return err
	}
	return &PathsError{Err: fmt.Errorf("%w, %d of %d", ErrDeletions, len(deleted), len(all)), Paths: deleted}
}

// LandRef is Land for a branch that is not checked out anywhere, as in a bare
// repository. It returns ErrConflict if the branch is checked out.
func (r *Repo) LandRef(ctx context.Context, ref string, spec LandSpec) (landed Landed, err error) {
	defer wrap(&err, "land %s on %s", spec.Result.Short(), ref)
	if !strings.HasPrefix(ref, "refs/heads/") {
		return Landed{}, fmt.Errorf("%q is not a branch", ref)
	}
	if err := r.notCheckedOut(ctx, ref); err != nil {
		return Landed{}, err
	}
	old, err := r.Ref(ctx, ref)
	if err != nil {
		return Landed{}, err
	}
	landed, _, err = r.planLanding(ctx, old, spec)
	if err != nil || landed.Commit == old {
		return landed, err
	}
	landed.Operation, err = r.moveRecorded(ctx, spec.Op, ref, landed.Commit, old)
	return landed, err
}

// landOn makes the commit to which a branch at old has to move. It returns old if the
// branch contains the work already.
func (r *Repo) landOn(ctx context.Context, old ID, spec LandSpec) (ID, error) {
	if spec.When.IsZero() {
		spec.When = time.Now()
	}
	if old == "" {
		if spec.Squash {
			return r.squash(ctx, "", spec)
		}
		return spec.Result, nil
	}
	if has, err := r.IsAncestor(ctx, spec.Result, old); err != nil || has {
		return old, err
	}
	if spec.Squash {
		return r.squash(ctx, old, spec)
	}
	if forward, err := r.between(ctx, spec.Base, old, spec.Result); err != nil || forward {
		return spec.Result, err
	}
	return r.replay(ctx, old, spec)
}

// between reports whether a commit is on the way from base to result. If a branch does not
// contain base, a fast-forward would also bring base, which is not part of this work.
func (r *Repo) between(ctx context.Context, base, id, result ID) (bool, error) {
	if base != "" {
		if after, err := r.IsAncestor(ctx, base, id); err != nil || !after {
			return false, err
		}
	}
	return r.IsAncestor(ctx, id, result)
}

// squash commits the work as one commit on top of old.
func (r *Repo) squash(ctx context.Context, old ID, spec LandSpec) (ID, error) {
	tree, err := r.mergeOnto(ctx, spec.Base, old, spec.Result)
	if err != nil {
		return "", err
	}
	return r.landCommit(ctx, old, Commit{Tree: tree, Author: spec.Author, AuthorWhen: spec.When, Message: spec.Message},
		spec.When)
}

// workOf returns the commits of the work, oldest first, with the messages that they get if they are made again.
func (r *Repo) workOf(ctx context.Context, spec LandSpec) ([]Commit, error) {
	work, err := r.firstParents(ctx, spec.Base, spec.Result)
	if err != nil || spec.Reword == nil {
		return work, err
	}
	return spec.Reword(work), nil
}

// replay makes the commits of the work again on top of old, each with its author and message. It
// turns a merge among them into one commit with everything that the merge brought in.
func (r *Repo) replay(ctx context.Context, old ID, spec LandSpec) (ID, error) {
	work, err := r.workOf(ctx, spec)
	if err != nil {
		return "", err
	}
	top := old
	for _, commit := range work {
		if commit.Tree, err = r.mergeOnto(ctx, commit.Parent(), top, commit.ID); err != nil {
			return "", err
		}
		if top, err = r.landCommit(ctx, top, commit, spec.When); err != nil {
			return "", err
		}
	}
	return top, nil
}

// landCommit is commitOn with the committer time when. It signs the commit if the user's commits are signed.
func (r *Repo) landCommit(ctx context.Context, top ID, c Commit, when time.Time) (ID, error) {
	c.CommitterWhen = when
	return r.commitOn(ctx, top, c, r.Config.Bool("commit.gpgsign"))
}

// mergeOnto returns the tree of ours with the changes from base to theirs. Base "" is the empty
// tree. It returns ErrConflict with the paths if they conflict.
func (r *Repo) mergeOnto(ctx context.Context, base, ours, theirs ID) (ID, error) {
	var trees [3]ID
	for i, id := range []ID{base, ours, theirs} {
		var err error
		if trees[i], err = r.treeOrEmpty(ctx, id); err != nil {
			return "", err
		}
	}
	if trees[0] == trees[1] {
		return trees[2], nil
	}
	return r.mergeTrees(ctx, trees[0], trees[1], trees[2])
}

// mergeTrees merges three trees with git. git merge-tree finds the base from commits
// (an option to name the base is newer than the git that we require), so the trees
// get commits that no ref points to.
func (r *Repo) mergeTrees(ctx context.Context, base, ours, theirs ID) (ID, error) {
	left, right, err := r.mergeHeads(ctx, base, ours, theirs)
	if err != nil {
		return "", err
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Worktree: r.WorkTree, Args: []string{
		"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options", string(left), string(right)}})
	if err != nil && gitdir.ExitStatus(err) != 1 {
		return "", fmt.Errorf("merge: %w", err)
	}
	items := splitNUL(out)
	if len(items) == 0 {
		return "", fmt.Errorf("merge: git answered nothing")
	}
	if err != nil {
		return "", &PathsError{Err: ErrConflict, Paths: slices.Compact(items[1:])}
	}
	return ID(items[0]), nil
}

// LandConflicts returns ErrConflict with the paths if the work as a whole conflicts with a branch
// at old. It returns nil if the branch contains the work already. It commits nothing.
func (r *Repo) LandConflicts(ctx context.Context, old ID, spec LandSpec) error {
	has, err := r.IsAncestor(ctx, spec.Result, old)
	if err == nil && !has {
		_, err = r.mergeOnto(ctx, spec.Base, old, spec.Result)
	}
	return err
}

// mergeHeads commits ours and theirs on top of base, so that git finds the base of a three-way merge.
func (r *Repo) mergeHeads(ctx context.Context, base, ours, theirs ID) (left, right ID, err error) {
	root, err := r.scratchCommit(ctx, base)
	if err != nil {
		return "", "", err
	}
	if left, err = r.scratchCommit(ctx, ours, root); err != nil {
		return "", "", err
	}
	right, err = r.scratchCommit(ctx, theirs, root)
	return left, right, err
}

// scratchCommit commits a tree with fixed times, so that the same tree and parents give the same commit.
func (r *Repo) scratchCommit(ctx context.Context, tree ID, parents ...ID) (ID, error) {
	return r.toolCommit(ctx, tree, "scratch", time.Unix(0, 0).UTC(), parents...)
}

// firstParents returns the commits from base (exclusive) to tip along first parents, oldest
// first. Base "" means from the beginning.
func (r *Repo) firstParents(ctx context.Context, base, tip ID) ([]Commit, error) {
	args := []string{"rev-list", "--first-parent", "--reverse", "--end-of-options", string(tip)}
	if base != "" {
		args = append(args, "^"+string(base))
	}
	out, err := r.dir.Git(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var commits []Commit
	for id := range strings.FieldsSeq(string(out)) {
		commit, err := r.ReadCommit(ctx, ID(id))
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	return commits, nil
}
