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
	in := Input{Shown: len(job.Files), Checks: job.Checks}
	var err error
	if in.Files, err = parseDiff(ctx, job.Patch); err != nil {
		return role.ReviewAnswer{}, err
	}
	if in.Rest, err = parseDiff(ctx, job.Rest); err != nil {
		return role.ReviewAnswer{}, err
	}
	paths := locksBeside(job.Files)
	for _, f := range in.Files {
		paths = append(paths, f.Path)
	}
	if in.Sizes, err = r.Repo.FileSizes(ctx, job.Tree, paths); err != nil {
		return role.ReviewAnswer{}, err
	}
	if in.Said, err = r.said(ctx, job.Subject); err != nil {
		return role.ReviewAnswer{}, err
	}
	search := blobSearch{repo: r.Repo, left: maxBlobs}
	for _, f := range slices.Concat(in.Files, in.Rest) {
		found, err := search.file(ctx, f)
		if err != nil {
			return role.ReviewAnswer{}, err
		}
		in.Hidden = append(in.Hidden, found...)
	}
	report, err := Review(ctx, in)
	return role.ReviewAnswer{Report: report, Beyond: search.beyond}, err
}

// said reads the commits under review: in the record their messages are shortened.
func (r Reviewer) said(ctx context.Context, subject record.Subject) ([]Said, error) {
	if subject.Commit == "" { // a run's attempt before its commit is made: its message is ours
		return nil, nil
	}
	switch subject.Kind {
	case record.SubjectCommit:
		said, err := ReadSaid(ctx, r.Repo, subject.Commit)
		return []Said{said}, err
	case record.SubjectRange:
		commits, err := r.Repo.Commits(ctx, subject.Base, subject.Commit, 0)
		var said []Said
		for _, c := range commits {
			one, err := ReadSaid(ctx, r.Repo, c.ID)
			if err != nil {
				return nil, err
			}
			said = append(said, one)
		}
		return said, err
	}
	return nil, nil
}
