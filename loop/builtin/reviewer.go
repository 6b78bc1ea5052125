package builtin

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// Reviewer reviews the diff, the messages of commits and the checks' evidence. Repo contains the trees that changes lead to.
type Reviewer struct{ Repo *gitstore.Repo }

// Limits returns no limits. The reviewer can report that a binary file is present.
func (Reviewer) Limits() role.Limits { return role.Limits{Binary: true} }

// NeedsCheckout returns false: the reviewer reads the patch alone.
func (Reviewer) NeedsCheckout() bool { return false }

// Review never returns a Failure.
func (r Reviewer) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	files, err := parseDiff(job.Patch)
	if err != nil {
		return role.ReviewAnswer{}, err
	}
	sizes, err := r.Repo.FileSizes(ctx, job.Tree, slices.Concat(locksBeside(job.Files), job.Files))
	if err != nil {
		return role.ReviewAnswer{}, err
	}
	said, err := r.said(ctx, job.Subject)
	if err != nil {
		return role.ReviewAnswer{}, err
	}
	return role.ReviewAnswer{Report: Review(Input{Files: files, Sizes: sizes, Checks: job.Checks, Said: said})}, nil
}

// said reads the messages of the commits under review from the commits: in the record they are shortened.
func (r Reviewer) said(ctx context.Context, subject record.Subject) ([]Said, error) {
	if subject.Commit == "" { // a run's attempt before its commit is made: its message is ours
		return nil, nil
	}
	switch subject.Kind {
	case record.SubjectCommit:
		commit, err := r.Repo.ReadCommit(ctx, subject.Commit)
		return []Said{{subject.Commit, commit.Message}}, err
	case record.SubjectRange:
		commits, err := r.Repo.Commits(ctx, subject.Base, subject.Commit, 0)
		var said []Said
		for _, c := range commits {
			said = append(said, Said{c.ID, c.Message})
		}
		return said, err
	}
	return nil, nil
}
