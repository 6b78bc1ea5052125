package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

const strayPrefix = "refs/runr-local/stray/"

// CommitSpec describes a commit of a working tree.
type CommitSpec struct {
	Message string
	Author  Identity
	When    time.Time
	Parent  ID     // the commit from which the work started; "" if there was none
	Ref     string // the branch to move, "refs/heads/…"; "" moves a detached HEAD

	// Joins, if not nil, reports whether the commits in base..tip, which somebody made on top of Parent and of which
	// tip is to be the newest, are joined into one. It is not called if they change nothing together.
	Joins func(ctx context.Context, base, tip ID) (bool, error)

	// Clean is a snapshot in which all files matched the index, and Paths are the paths that have changed since. If
	// Clean is nil, CommitAll looks for changes in the whole tree, and trusts the index.
	Clean *Snapshot
	Paths []string
}

// CommitAll commits what `git add -A` and `git commit` would, without hooks and without what Embedded
// returns, and returns the branch's new commit. It builds on commits that somebody made on top of
// Parent. But if HEAD or the branch was moved to a commit without Parent in its history, if a commit
// after Parent contains files that Furnish put into the worktree, or if Joins says so, it commits the
// whole tree on Parent and keeps the other commits under refs/runr-local/stray/. In the user's own checkout it
// returns ErrConflict instead. changed is false if the branch ends at Parent. Afterwards HEAD is on
// the branch and the index matches it. It returns ErrLostRace if the branch moved meanwhile.
func (w *Worktree) CommitAll(ctx context.Context, spec CommitSpec) (id ID, changed bool, err error) {
	defer wrap(&err, "commit files of %q", w.Dir)
	at, err := w.position(ctx, spec.Ref)
	if err != nil {
		return "", false, err
	}
	top, err := w.repo.commitBase(ctx, at, spec.Parent)
	if err != nil {
		return "", false, err
	}
	if placed, err := w.CommittedPlaced(ctx, spec.Parent, top); err != nil {
		return "", false, err
	} else if placed {
		top = spec.Parent
	}
	before, err := readIndexFile(w.indexPath())
	if err != nil {
		return "", false, err
	}
	path, done, err := w.stagedIndex(ctx, spec, before)
	if err != nil {
		return "", false, err
	}
	defer done()
	tree, err := w.treeToCommit(ctx, spec.Parent, path)
	if err != nil {
		return "", false, err
	}
	c := Commit{Tree: tree, Author: spec.Author, AuthorWhen: spec.When, CommitterWhen: spec.When, Message: spec.Message}
	id, err = w.repo.commitOn(ctx, top, c, false)
	if err != nil {
		return "", false, err
	}
	if top != spec.Parent && spec.Joins != nil {
		joined, err := w.repo.commitOn(ctx, spec.Parent, c, false)
		joins := false
		if err == nil && joined != spec.Parent {
			joins, err = spec.Joins(ctx, spec.Parent, id)
		}
		if err != nil {
			return "", false, err
		}
		if joins {
			id = joined
		}
	}
	if err := w.keepStray(ctx, id, at.head, at.tip); err != nil {
		return "", false, err
	}
	if err := w.moveTo(ctx, at, id, "runr: commit"); err != nil {
		return "", false, err
	}
	return id, id != spec.Parent, w.adoptIndex(ctx, before, path)
}

// treeToCommit returns the tree of an index file. It first removes from the index what Embedded returns.
func (w *Worktree) treeToCommit(ctx context.Context, parent ID, index string) (ID, error) {
	tree, err := w.writeIndexTree(ctx, index)
	if err != nil {
		return "", err
	}
	found, err := w.repo.Embedded(ctx, cmp.Or(parent, w.repo.objects.EmptyTreeID()), tree)
	if err != nil || len(found) == 0 {
		return tree, err
	}
	if err := w.updateIndex(ctx, w.indexCall(index), found, "--force-remove"); err != nil {
		return "", err
	}
	return w.writeIndexTree(ctx, index)
}

// stagedIndex returns an index file with what spec commits: the paths that changed since its clean snapshot, or all
// files that differ from the index before. done removes it.
func (w *Worktree) stagedIndex(ctx context.Context, spec CommitSpec,
	before indexFile) (path string, done func(), err error) {
	clean := spec.Clean
	if clean != nil {
		inside, err := w.inSubmodule(ctx, spec.Parent, spec.Paths)
		if err != nil {
			return "", nil, err
		}
		if inside { // only git knows whether the submodule is still one
			clean = nil
		}
	}
	if clean != nil { // somebody may have marked files as unchanged in the present index
		if before, err = clean.index(ctx, w.repo); err != nil {
			return "", nil, err
		}
	}
	if path, done, err = w.scratchIndex(before); err != nil {
		return "", nil, err
	}
	if clean != nil {
		err = w.stagePaths(ctx, path, spec.Paths)
	} else {
		err = w.stageAll(ctx, path)
	}
	if err != nil {
		done()
	}
	return path, done, err
}

// adoptIndex replaces the index by a changed copy of it. If somebody wrote to the index meanwhile,
// as `git status` does, it makes the change there again.
func (w *Worktree) adoptIndex(ctx context.Context, before indexFile, path string) error {
	after, err := readIndexFile(path)
	if err != nil {
		return err
	}
	err = w.installIndex(ctx, before.data, after)
	if errors.Is(err, ErrLostRace) {
		return w.stageAll(ctx, w.indexPath())
	}
	return err
}

// position is where a worktree's branch and HEAD are.
type position struct {
	ref    string // the branch to move; "" for HEAD itself
	tip    ID     // the commit of ref
	head   ID     // the commit of HEAD
	branch string // the branch that HEAD is on
}

func (w *Worktree) position(ctx context.Context, ref string) (at position, err error) {
	at.ref = ref
	if at.head, at.branch, err = w.head(ctx); err != nil {
		return at, err
	}
	at.tip = at.head
	if ref != "" {
		at.tip, err = w.repo.Ref(ctx, ref)
	}
	return at, err
}

// commitBase returns the commit to build on: HEAD or the branch if it descends from parent, else parent.
func (r *Repo) commitBase(ctx context.Context, at position, parent ID) (ID, error) {
	if parent == "" {
		return at.head, nil
	}
	for _, id := range []ID{at.head, at.tip} {
		if id == "" {
			continue
		}
		if follows, err := r.IsAncestor(ctx, parent, id); err != nil || follows {
			return id, err
		}
	}
	return parent, nil
}

// commitOn commits c on top of a commit. The committer is the user, or the author if the user has no identity. If the
// tree is unchanged it returns top.
func (r *Repo) commitOn(ctx context.Context, top ID, c Commit, sign bool) (ID, error) {
	c.Parents = nil
	if top != "" {
		before, err := r.refs.TreeOf(ctx, top)
		if err != nil || before == c.Tree {
			return top, err
		}
		c.Parents = []ID{top}
	}
	var err error
	if c.Committer, err = r.Identity(ctx); errors.Is(err, ErrNoIdentity) {
		c.Committer, err = c.Author, nil
	}
	if err != nil {
		return "", err
	}
	if sign {
		return r.SignCommit(ctx, c)
	}
	return r.objects.WriteCommit(ctx, c)
}

// moveTo moves the branch (or HEAD itself) to a commit, and points HEAD to the branch. It does not
// touch files and index. In the user's checkout it returns ErrConflict if HEAD is not on the
// branch.
func (w *Worktree) moveTo(ctx context.Context, at position, to ID, why string) error {
	if !w.Own && at.branch != at.ref {
		return fmt.Errorf("HEAD is on %q, not on %q: %w", at.branch, at.ref, ErrConflict)
	}
	if at.tip != to || at.ref == "" && at.branch != "" {
		if err := w.repo.refs.Move(ctx, cmp.Or(at.ref, "HEAD"), to, at.tip, why); err != nil {
			return err
		}
	}
	if err := w.endOperation(); err != nil {
		return err
	}
	if at.ref == "" || at.branch == at.ref {
		return nil
	}
	_, err := w.git(ctx, "symbolic-ref", "-m", why, "HEAD", at.ref)
	return err
}

// keepStray keeps the commits that are not in the history of to.
func (w *Worktree) keepStray(ctx context.Context, to ID, commits ...ID) error {
	for _, id := range commits {
		if id == "" || id == to {
			continue
		}
		kept, err := w.repo.IsAncestor(ctx, id, to)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		if !w.Own {
			return fmt.Errorf("HEAD was moved to %s: %w", id, ErrConflict)
		}
		if err := w.repo.refs.Keep(ctx, strayPrefix+string(id), id); err != nil {
			return err
		}
	}
	return nil
}

// MoveBranch moves a branch that is not checked out, wherever it is. If the old commit is not in
// the history of to, it is kept under refs/runr-local/stray/, unless it is off, a commit that is
// dropped on purpose.
func (r *Repo) MoveBranch(ctx context.Context, ref string, to, off ID) error {
	old, err := r.Ref(ctx, ref)
	if err != nil || old == to {
		return err
	}
	if old != "" && old != off {
		kept, err := r.IsAncestor(ctx, old, to)
		if err == nil && !kept {
			err = r.refs.Keep(ctx, strayPrefix+string(old), old)
		}
		if err != nil {
			return fmt.Errorf("move %s: %w", ref, err)
		}
	}
	return r.SwapRef(ctx, ref, to, old)
}

// ResetTo takes commit off from the branch of a worktree of this tool: it moves the branch back to
// commit to, points HEAD to the branch, and updates the index. It does not touch files, because
// Revert has restored them. It may be repeated. Other commits that somebody made meanwhile and
// that are not in the history of to are kept under refs/runr-local/stray/.
func (w *Worktree) ResetTo(ctx context.Context, branchRef string, to, off ID) error {
	if !w.Own {
		return fmt.Errorf("reset %q: %w", w.Dir, errNotOwn)
	}
	if err := w.resetTo(ctx, branchRef, to, off); err != nil {
		return fmt.Errorf("reset %q to %s: %w", w.Dir, to.Short(), err)
	}
	return nil
}

func (w *Worktree) resetTo(ctx context.Context, branchRef string, to, off ID) error {
	at, err := w.position(ctx, branchRef)
	if err != nil {
		return err
	}
	// the snapshots of off and a pin keep it
	stray := slices.DeleteFunc([]ID{at.head, at.tip}, func(id ID) bool { return id == off })
	if err := w.keepStray(ctx, to, stray...); err != nil {
		return err
	}
	if err := w.moveTo(ctx, at, to, "runr: reset"); err != nil {
		return err
	}
	if _, err := w.git(ctx, "read-tree", "--reset", "--no-recurse-submodules", string(to)); err != nil {
		return err
	}
	return w.refreshIndex(ctx)
}

// refreshIndex updates the index's record of which files are unchanged.
func (w *Worktree) refreshIndex(ctx context.Context) error {
	return w.changeIndex(ctx, func(index string) error {
		_, err := w.gitIndex(ctx, index, nil, "update-index", "--unmerged", "--refresh")
		if gitdir.ExitStatus(err) == 1 { // some files are changed
			return nil
		}
		return err
	})
}

// endOperation removes the state of an unfinished merge, rebase or the like from a worktree of this tool. It does
// nothing in the user's checkout.
func (w *Worktree) endOperation() error {
	if !w.Own {
		return nil
	}
	for _, name := range operationFiles {
		if err := os.RemoveAll(filepath.Join(w.GitDir, name)); err != nil {
			return err
		}
	}
	return nil
}
