package builtin

import (
	"context"
	"errors"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// Reviewer reviews the diff, the messages of commits and the checks' evidence. Repo contains the trees that changes
// lead to.
type Reviewer struct {
	Repo    *gitstore.Repo
	Secrets *Secrets
}

// Limits returns no limits. The reviewer can report that a binary file is present.
func (Reviewer) Limits() role.Limits { return role.Limits{Binary: true} }

// NeedsCheckout returns false: the reviewer reads the patch alone.
func (Reviewer) NeedsCheckout() bool { return false }

// Review never returns a Failure.
func (r Reviewer) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	in := Input{Shown: len(job.Files), Checks: job.Checks, Secrets: r.Secrets}
	var err error
	if in.Files, err = parseDiff(ctx, job.Patch); err != nil {
		return role.ReviewAnswer{}, err
	}
	if in.Rest, err = parseDiff(ctx, job.Rest); err != nil {
		return role.ReviewAnswer{}, err
	}
	paths := append(locksBeside(job.Files), each.Of(in.Files, func(f File) string { return f.Path })...)
	if in.Sizes, err = r.Repo.FileSizes(ctx, job.Tree, paths); err != nil {
		return role.ReviewAnswer{}, err
	}
	if in.Said, err = r.said(ctx, job.Subject); err != nil {
		return role.ReviewAnswer{}, err
	}
	var answer role.ReviewAnswer
	for _, f := range slices.Concat(in.Files, in.Rest) {
		found, err := r.hiddenSecrets(ctx, f)
		if errors.Is(err, gitstore.ErrTooLarge) {
			answer.Beyond, err = append(answer.Beyond, f.Path), nil
		}
		if err != nil {
			return role.ReviewAnswer{}, err
		}
		in.Hidden = append(in.Hidden, found...)
	}
	answer.Report, err = Review(ctx, in)
	return answer, err
}

// said reads the commits under review, because the record shortens their messages.
func (r Reviewer) said(ctx context.Context, subject record.Subject) ([]Said, error) {
	if subject.Commit == "" { // a run's attempt before its commit is made: its message is ours
		return nil, nil
	}
	ids := []gitstore.ID{subject.Commit}
	if subject.Kind == record.SubjectRange {
		commits, err := r.Repo.Commits(ctx, subject.Base, subject.Commit, 0)
		if err != nil {
			return nil, err
		}
		ids = each.Of(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	}
	said := make([]Said, len(ids))
	for i, id := range ids {
		var err error
		if said[i], err = ReadSaid(ctx, r.Repo, id); err != nil {
			return nil, err
		}
	}
	return said, nil
}
