package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Range resolves the changes that a user names: "A..B", "A...B" (from their merge base), where a
// missing end is HEAD, or one revision, which means its changes against its first parent. from is
// the empty tree for a root commit. It returns ErrNotFound, with the name, for a revision that
// does not exist.
func (r *Repo) Range(ctx context.Context, spec string) (from, to ID, err error) {
	left, right, symmetric, isRange := cutRange(spec)
	if !isRange {
		return r.ownRange(ctx, spec)
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

// cutRange splits A..B or A...B into its ends. isRange is false for anything else.
func cutRange(spec string) (left, right string, symmetric, isRange bool) {
	if left, right, symmetric = strings.Cut(spec, "..."); symmetric {
		return left, right, true, true
	}
	left, right, isRange = strings.Cut(spec, "..")
	return left, right, false, isRange
}

// Whole returns a *MissingError if the commits of a range include one at which a shallow clone is cut off.
func (r *Repo) Whole(spec string, commits []LoggedCommit) error {
	cut := r.objects.CutOff()
	if !slices.ContainsFunc(commits, func(c LoggedCommit) bool { return slices.Contains(cut, c.ID) }) {
		return nil
	}
	return odb.NewMissing("more of "+spec+" is not in this clone, which is shallow", "git fetch --unshallow", ErrNotFound,
		nil)
}

// FetchEnds fetches the ends of a revision or range that are not here: a branch of the remote, such as origin/main,
// or a full id. In a shallow clone it fetches no history of them. It reports whether it got any.
func (r *Repo) FetchEnds(ctx context.Context, remote, spec string) (came bool, err error) {
	left, right, _, _ := cutRange(spec)
	for _, end := range []string{left, right} {
		end, _, _ = strings.Cut(end, "~")
		end, _, _ = strings.Cut(end, "^")
		if _, err := r.Resolve(ctx, end); end == "" || !errors.Is(err, ErrNotFound) {
			continue
		}
		if err := r.FetchRevision(ctx, remote, end); err != nil {
			return came, err
		}
		_, err := r.Resolve(ctx, end)
		came = came || err == nil
	}
	return came, nil
}

// ownRange returns the range of one commit: from its first parent to itself.
func (r *Repo) ownRange(ctx context.Context, rev string) (from, to ID, err error) {
	if to, err = r.Resolve(ctx, rev); err != nil {
		return "", "", err
	}
	commit, err := r.ReadCommit(ctx, to)
	if err != nil {
		return "", "", err
	}
	return r.orEmptyTree(commit.Parent()), to, nil
}

// EmptyTree writes the tree without entries and returns its id.
func (r *Repo) EmptyTree(ctx context.Context) (ID, error) { return r.objects.WriteTree(ctx, nil) }

// EmptyTreeID returns the id of the tree without entries, which git can read also where nobody wrote it.
func (r *Repo) EmptyTreeID() ID { return r.objects.EmptyTreeID() }

// OnRemote reports whether a commit is known to be on a remote: a remote-tracking branch here contains it.
func (r *Repo) OnRemote(ctx context.Context, id ID) (bool, error) {
	out, err := r.dir.Git(ctx, "for-each-ref", "--count=1", "--contains="+string(id), "refs/remotes/")
	if err != nil {
		return false, fmt.Errorf("branches with %s: %w", id.Short(), err)
	}
	return len(out) > 0, nil
}

// Operation returns what git has begun and not finished in this worktree: rebase, am, merge,
// cherry-pick, revert, bisect, or "". During a rebase it is "rebase", even while git picks a
// commit.
func (r *Repo) Operation() string { return operationIn(r.GitDir) }

// operationFiles are git's files for an unfinished operation, in a working tree's git directory.
var operationFiles = []string{
	"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE",
	"CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG",
	"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV",
}

func operationIn(gitDir string) string {
	for _, sign := range []struct{ file, operation string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(gitDir, filepath.FromSlash(sign.file))); err == nil {
			return sign.operation
		}
	}
	return ""
}

// Rebase returns the commit on which a rebase puts the commits, and the branch's commit before it. The rebase must be
// in progress here, or be running post-rewrite at its end. Otherwise both are "".
func (r *Repo) Rebase() (onto, was ID) {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		onto, ontoErr := safefile.ReadFile(filepath.Join(r.GitDir, dir, "onto"))
		was, wasErr := safefile.ReadFile(filepath.Join(r.GitDir, dir, "orig-head"))
		if ontoErr == nil && wasErr == nil {
			return ID(bytes.TrimSpace(onto)), ID(bytes.TrimSpace(was))
		}
	}
	return "", ""
}

// FilesWith returns the files of a commit or tree that contain every one of lines, ignoring white space around them.
func (r *Repo) FilesWith(ctx context.Context, tree ID, lines []string) ([]string, error) {
	args := []string{"grep", "-z", "-I", "--name-only", "--full-name", "--no-recurse-submodules", "-F", "--all-match"}
	for i, line := range lines {
		if i > 0 {
			args = append(args, "--or")
		}
		args = append(args, "-e", strings.TrimSpace(line))
	}
	out, err := r.dir.Git(ctx, append(args, string(tree))...)
	if gitdir.ExitStatus(err) == 1 { // no match
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", tree.Short(), err)
	}
	return each.Of(splitNUL(out), func(name string) string { return strings.TrimPrefix(name, string(tree)+":") }), nil
}
