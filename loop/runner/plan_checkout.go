package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// withoutDir makes the paths in an implementer's report relative to dir.
func withoutDir(text, dir string) string { return strings.ReplaceAll(text, dir+"/", "") }

// PlanInPlace makes plan start from the checkout as it is, including uncommitted changes. It fails if no run can work
// in the checkout now.
func PlanInPlace(ctx context.Context, s *store.Store, plan *runplan.Plan) error {
	tree, err := placeFor(s, plan)
	if err != nil {
		return err
	}
	id, err := tree.NormalTree(ctx)
	if err != nil {
		return fmt.Errorf("record the working tree: %w", err)
	}
	plan.Base, err = keepBase(ctx, s, id, plan.Base)
	return err
}

// placeFor returns the checkout for a run in place, and records it in plan.
func placeFor(s *store.Store, plan *runplan.Plan) (*gitstore.Worktree, error) {
	tree, err := s.Repo.Checkout()
	if err != nil {
		return nil, err
	}
	plan.InPlace, plan.Checkout = true, tree.ID()
	_, free, err := workspace.LockCheckout(s, record.Run{Plan: *plan}) // a test: the run locks it at its start
	free()
	return tree, err
}

// keepBase returns a commit of tree on top of head, from which a run can start. It returns head if head has that tree.
func keepBase(ctx context.Context, s *store.Store, tree, head gitstore.ID) (gitstore.ID, error) {
	commit, err := s.Repo.ReadCommit(ctx, head)
	if err != nil || commit.Tree == tree {
		return head, err
	}
	base, err := s.KeepTree(ctx, tree, head, "the checkout before the run")
	if err != nil {
		return "", err
	}
	return base, s.Repo.Pin(ctx, "base of a run in place", base)
}

// PlanContext fills in plan to review an executor's finished work: the changes to HEAD in the files that it reports as
// modified, or HEAD's own changes to them if the executor has committed. It leaves other files that differ from HEAD
// alone, and returns them. With plan.InPlace the run works in the checkout.
func PlanContext(ctx context.Context, s *store.Store, plan *runplan.Plan, result string,
	files []string) (left []string, err error) {
	tree, err := s.Repo.Checkout()
	if err == nil && plan.InPlace {
		tree, err = placeFor(s, plan)
	}
	if err != nil {
		return nil, err
	}
	plan.Checkout = tree.ID()
	if len(files) == 0 {
		files = reply.ParseExecutor(withoutDir(result, tree.Dir)).Files
	}
	work, err := executorsWork(ctx, s, tree, plan.Base, files)
	if err != nil {
		return nil, err
	}
	plan.Context = &runplan.Context{ExecutorResult: result, Files: work.files}
	if plan.InPlace {
		err = givenInPlace(ctx, s, tree, plan, work)
	} else {
		err = givenAside(ctx, s, tree, plan, work)
	}
	return work.left, err
}

// executed is an executor's work as found in a checkout.
type executed struct {
	head   gitstore.ID
	now    gitstore.ID // tree of the checkout
	before gitstore.ID // commit with the files as they were before the executor
	files  []string    // the executor's files that differ from before
	left   []string    // other files that differ from HEAD
}

func executorsWork(ctx context.Context, s *store.Store, tree *gitstore.Worktree, head gitstore.ID,
	listed []string) (executed, error) {
	work := executed{head: head, before: head}
	var err error
	if work.now, err = tree.NormalTree(ctx); err != nil {
		return work, fmt.Errorf("record the working tree: %w", err)
	}
	if work.files, work.left, err = changedFiles(ctx, s, head, work.now, tree.Dir, listed); err != nil ||
		len(work.files) > 0 {
		return work, err
	}
	if len(listed) == 0 && len(work.left) > 0 {
		return work,
			&record.InputError{Why: fmt.Sprintf(
				"cannot tell which files are the executor's: files_modified is empty and its result lists none; these differ "+
					"from HEAD: %s", strings.Join(work.left, ", "))}
	}
	commit, err := s.Repo.ReadCommit(ctx, head)
	if err != nil {
		return work, err
	}
	if len(commit.Parents) == 0 {
		return work, fmt.Errorf("the executor's files are as in HEAD, and HEAD has no parent: %w", gitstore.ErrNoChange)
	}
	work.before = commit.Parents[0]
	var others []string
	work.files, others, err = changedFiles(ctx, s, work.before, head, tree.Dir, listed)
	if len(listed) == 0 {
		work.files = others
	}
	if err == nil && len(work.files) == 0 {
		err = fmt.Errorf("the executor's files are as in HEAD, and its newest commit did not change them: %w",
			gitstore.ErrNoChange)
	}
	return work, err
}

// changedFiles returns the paths that differ between two trees or commits: those in listed, and the others.
func changedFiles(ctx context.Context, s *store.Store, from, to gitstore.ID, dir string,
	listed []string) (named, others []string, err error) {
	changes, err := s.Repo.Changed(ctx, from, to)
	for _, c := range changes {
		if slices.ContainsFunc(listed, func(l string) bool { return runplan.Lists(l, dir, c.Path) }) {
			named = append(named, c.Path)
		} else {
			others = append(others, c.Path)
		}
	}
	return named, others, err
}

// givenAside makes the work a commit for the run's own worktree. If the work is not committed yet, it records the
// checkout as it is, and as it was before the executor.
func givenAside(ctx context.Context, s *store.Store, tree *gitstore.Worktree, plan *runplan.Plan, work executed) error {
	given := plan.Context
	if work.before != work.head {
		given.Commit, plan.Base = work.head, work.before
		given.Message = prose.CutMiddle(strings.TrimSpace(s.CommitText(ctx, work.head)), change.MaxMessageBytes)
		return nil
	}
	id, err := tree.TreeWith(ctx, work.head, work.now, among(work.files))
	if err != nil {
		return err
	}
	if given.Commit, err = keepGiven(ctx, s, plan, id, work.head); err != nil {
		return err
	}
	return snapGiven(ctx, tree, plan, work)
}

// givenInPlace makes the checkout without the executor's work the start of the run.
func givenInPlace(ctx context.Context, s *store.Store, tree *gitstore.Worktree, plan *runplan.Plan,
	work executed) error {
	id, err := tree.TreeWith(ctx, work.now, work.before, among(work.files))
	if err != nil {
		return err
	}
	if plan.Base, err = keepBase(ctx, s, id, work.head); err != nil {
		return err
	}
	if plan.Context.Commit, err = keepGiven(ctx, s, plan, work.now, plan.Base); err != nil {
		return err
	}
	return snapGiven(ctx, tree, plan, work)
}

func keepGiven(ctx context.Context, s *store.Store, plan *runplan.Plan, tree, on gitstore.ID) (gitstore.ID, error) {
	id, err := s.KeepTree(ctx, tree, on, prose.OneLine(cmp.Or(plan.Entity.Name(), "executor's work")))
	if err != nil {
		return "", err
	}
	return id, s.Repo.Pin(ctx, "an executor's work", id)
}

// snapGiven records the checkout as the executor left it, and as it was before.
func snapGiven(ctx context.Context, tree *gitstore.Worktree, plan *runplan.Plan, work executed) error {
	given := plan.Context
	ref := workspace.ContextRefs + string(given.Commit)
	snap, err := tree.Snapshot(ctx, ref, "the checkout with an executor's work, before its review: "+
		prose.OneLine(plan.Entity.Name()))
	if err != nil {
		return err
	}
	before, err := tree.AsCommitted(ctx, snap, work.before, work.files, ref+"-before",
		"the checkout without that executor's work: "+prose.OneLine(plan.Entity.Name()))
	given.Snapshot, given.Before = snap.ID, before.ID
	return err
}

// among reports whether a path is one of paths.
func among(paths []string) func(string) bool {
	return func(p string) bool { return slices.Contains(paths, p) }
}
