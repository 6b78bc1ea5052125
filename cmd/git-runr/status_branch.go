package main

import (
	"context"
	"io"

	"git-runr/diagnose"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// branchReviews is what was said of the commits of the branch that is checked out.
type branchReviews struct {
	Since string `json:"since,omitempty"` // what the branch left; "": the newest commits are looked at
	loop.CoverCounts
	Unreviewed []loop.Covered `json:"commits_unreviewed"` // newest first: unreviewed and stale
}

// reviewsOfBranch is nil where there is no commit.
func reviewsOfBranch(ctx context.Context, store *record.Store) (*branchReviews, error) {
	commits, since, err := loop.BranchCommits(ctx, store)
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	covered, err := loop.Coverage(ctx, store, commits)
	if err != nil {
		return nil, err
	}
	r := &branchReviews{Since: since, CoverCounts: loop.CountCovered(covered), Unreviewed: []loop.Covered{}}
	for _, c := range covered {
		if c.State == loop.CoverUnreviewed || c.State == loop.CoverStale {
			r.Unreviewed = append(r.Unreviewed, c)
		}
	}
	return r, nil
}

// unreviewedShown is how many commits that nobody reviewed are named.
const unreviewedShown = 5

func writeBranchReviews(w io.Writer, r *branchReviews) {
	if r == nil {
		return
	}
	of := "The newest commits"
	if r.Since != "" {
		of = "Since " + r.Since
	}
	safetext.Fprintf(w, "%s: %s.\n", of, diagnose.CoverLine(r.CoverCounts))
	for _, c := range r.Unreviewed[:min(len(r.Unreviewed), unreviewedShown)] {
		safetext.Fprintf(w, "  %-10s  %s  %s\n", c.State, c.Commit.Short(), c.Title)
	}
	if more := len(r.Unreviewed) - unreviewedShown; more > 0 {
		safetext.Fprintf(w, "  … and %d more: git runr audit\n", more)
	}
}
