package builtin

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/role"
)

// Reviewer reviews the diff and the checks' evidence. Repo contains the trees that changes lead to.
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
	return role.ReviewAnswer{Report: Review(Input{Files: files, Sizes: sizes, Checks: job.Checks})}, nil
}
