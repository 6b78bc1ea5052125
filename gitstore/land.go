package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// LandSpec says what to bring to a branch.
type LandSpec struct {
	Result  ID        // the last commit
	Base    ID        // where its work began
	Squash  bool      // as one commit
	Message string    // of that commit
	Author  Identity  // of that commit
	When    time.Time // of that commit, and the committer's time of every new one; zero is now
	Started *Snapshot // the user's working tree that the work began from, nil for none

	Reword func(work []Commit) []Commit // gives commits that are made again their messages; nil keeps them

	AllowDeletions bool      // also when it removes more than half of the branch's files
	Op             Operation // as what it is recorded, so that it can be undone
}

// Landed is what a landing did.
type Landed struct {
	Commit    ID       // where the branch is now; Old when there was nothing to land
	Old       ID       // where it was; "" for a branch without commits
	Files     []string // paths that changed between the two
	Deleted   []string // those of them that are gone, and were not renamed
	Operation Recorded // that can be undone
}

// planLanding makes the commit that a branch at old has to move to, and says what
// that changes. Nothing is changed when it is old itself.
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

// deletions are the files of one commit that another has not, under any name.
func (r *Repo) deletions(ctx context.Context, from, to ID, changed []Change) ([]string, error) {
	if !slices.ContainsFunc(changed, func(c Change) bool { return c.NewMode == "" }) {
		return nil, nil
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Env: r.noAttributes(), Args: []string{
		"diff-tree", "-r", "-z", "-M", renamePairs, "--diff-filter=D", "--name-only", "--no-ext-diff", "--end-of-options", string(from), string(to)}})
	if err != nil {
		return nil, fmt.Errorf("list deletions: %w", err)
	}
	return splitNUL(out), nil
}

// keepsMost is ErrDeletions when more than half of a commit's files are deleted.
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

func landReason(spec LandSpec) string { return "runr: land " + spec.Result.Short() }

// LandRef is Land for a branch that is not checked out anywhere, as in a bare
// repository. It is ErrConflict when it is checked out.
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

// landOn makes the commit that a branch at old has to move to; old itself when the
// branch has the work already.
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

// between reports whether a commit is on the way from base to result. A branch that
// has not got base yet must not get it by a fast-forward: it is not of this work.
func (r *Repo) between(ctx context.Context, base, id, result ID) (bool, error) {
	if base != "" {
		if after, err := r.IsAncestor(ctx, base, id); err != nil || !after {
			return false, err
		}
	}
	return r.IsAncestor(ctx, id, result)
}

// squash makes one commit of the work on top of old.
func (r *Repo) squash(ctx context.Context, old ID, spec LandSpec) (ID, error) {
	tree, err := r.mergeOnto(ctx, spec.Base, old, spec.Result)
	if err != nil {
		return "", err
	}
	return r.landCommit(ctx, old, Commit{Tree: tree, Author: spec.Author, AuthorWhen: spec.When, Message: spec.Message}, spec.When)
}

// workOf returns the commits of the work, oldest first, with the messages that they have when they are made again.
func (r *Repo) workOf(ctx context.Context, spec LandSpec) ([]Commit, error) {
	work, err := r.firstParents(ctx, spec.Base, spec.Result)
	if err != nil || spec.Reword == nil {
		return work, err
	}
	return spec.Reword(work), nil
}

// replay makes the commits of the work again on top of old, each with its author
// and message. What a merge among them brought in comes as one commit.
func (r *Repo) replay(ctx context.Context, old ID, spec LandSpec) (ID, error) {
	work, err := r.workOf(ctx, spec)
	if err != nil {
		return "", err
	}
	top := old
	for _, commit := range work {
		parent := ID("")
		if len(commit.Parents) > 0 {
			parent = commit.Parents[0]
		}
		if commit.Tree, err = r.mergeOnto(ctx, parent, top, commit.ID); err != nil {
			return "", err
		}
		if top, err = r.landCommit(ctx, top, commit, spec.When); err != nil {
			return "", err
		}
	}
	return top, nil
}

// landCommit is commitOn, signed if that is what the user's commits are.
func (r *Repo) landCommit(ctx context.Context, top ID, c Commit, when time.Time) (ID, error) {
	c.CommitterWhen = when
	return r.commitOn(ctx, top, c, r.Config.Bool("commit.gpgsign"))
}

// mergeOnto is the tree of ours with what changed from base to theirs; base "" is
// nothing. It is ErrConflict with the paths when that does not fit together.
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

// mergeTrees is a three-way merge by git. git merge-tree finds the base from
// commits (that it can be told one is newer than the git we ask for), so the trees
// get commits that nothing refers to.
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

// LandConflicts is an ErrConflict with the paths, where the work as a whole does not fit
// together with a branch at old, which has not got it yet. No commit of it is made.
func (r *Repo) LandConflicts(ctx context.Context, old ID, spec LandSpec) error {
	has, err := r.IsAncestor(ctx, spec.Result, old)
	if err == nil && !has {
		_, err = r.mergeOnto(ctx, spec.Base, old, spec.Result)
	}
	return err
}

// mergeHeads gives the trees of a three-way merge the commits from which git finds the base.
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

// scratchCommit is the same for the same tree at any time.
func (r *Repo) scratchCommit(ctx context.Context, tree ID, parents ...ID) (ID, error) {
	return r.toolCommit(ctx, tree, "scratch", time.Unix(0, 0).UTC(), parents...)
}

// firstParents are the commits after base up to tip along first parents, oldest
// first; base "" is from the beginning.
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
