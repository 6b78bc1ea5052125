package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-runr/gitstore/odb"
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
	if from, err = r.Resolve(ctx, orHead(left)); err != nil {
		return "", "", err
	}
	if to, err = r.Resolve(ctx, orHead(right)); err != nil {
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

func orHead(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// EmptyTree writes the tree without entries, and returns its id.
func (r *Repo) EmptyTree(ctx context.Context) (ID, error) { return r.objects.WriteTree(ctx, nil) }

// CommitInfo is a commit in a list.
type CommitInfo struct {
	ID      ID
	Author  Identity
	When    time.Time // of the author, UTC
	Subject string    // the first paragraph of the message in one line
	Message string    // all of it
	Merge   bool
}

// Commits lists the commits that to has and from has not, newest first; from "" or
// the empty tree gives all. max limits their number; 0 is no limit.
func (r *Repo) Commits(ctx context.Context, from, to ID, max int) ([]CommitInfo, error) {
	args := []string{"rev-list", "--no-commit-header", "--encoding=UTF-8", "--format=%H%x00%P%x00%an%x00%ae%x00%at%x00%s%x00%B%x00"}
	if max > 0 {
		args = append(args, "--max-count="+strconv.Itoa(max))
	}
	args = append(args, "--end-of-options", string(to))
	if from != "" && from != r.objects.EmptyTreeID() {
		args = append(args, "^"+string(from))
	}
	out, err := r.dir.Git(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s..%s: %w", from.Short(), to.Short(), err)
	}
	return parseCommits(strings.Split(string(out), "\x00")), nil
}

// parseCommits reads fields by seven: id, parents, name, address, time, subject, message. A
// newline stands before each id but the first.
func parseCommits(fields []string) []CommitInfo {
	var commits []CommitInfo
	for ; len(fields) > 7; fields = fields[7:] {
		commits = append(commits, CommitInfo{
			ID:      ID(strings.TrimPrefix(fields[0], "\n")),
			Merge:   strings.Contains(fields[1], " "),
			Author:  Identity{Name: fields[2], Email: fields[3]},
			When:    odb.ParseWhen(fields[4:5]),
			Subject: fields[5],
			Message: fields[6],
		})
	}
	return commits
}

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
