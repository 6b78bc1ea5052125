package overview

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Branch is the coverage by reviews of the commits on the current branch.
type Branch struct {
	Since string `json:"since,omitempty"` // where the branch began; "" for the newest commits
	lineage.CoverCounts
	Refused    []lineage.Covered `json:"commits_refused,omitempty"` // newest first
	Unreviewed []lineage.Covered `json:"commits_unreviewed"`        // newest first; includes stale ones
	Skipped    []intake.Gated    `json:"skipped,omitempty"`         // those that get no review request, and why
	RedOnBase  []string          `json:"red_on_base,omitempty"`     // checks of the newest review that the base fails too
}

// reviewsOfBranch returns nil if there is no commit.
func reviewsOfBranch(ctx context.Context, store *store.Store, given Given) (*Branch, error) {
	commits, since, err := lineage.BranchCommits(ctx, store)
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	var bar lineage.Bar
	if given.Bar != nil {
		base, err := lineage.BaseOf(ctx, store, commits, "")
		if err != nil {
			return nil, err
		}
		if bar, err = given.Bar(ctx, base); err != nil {
			return nil, err
		}
	}
	covered, err := intake.Covered(ctx, store, commits, bar, given.Secret)
	if err != nil {
		return nil, err
	}
	r := &Branch{Since: since, CoverCounts: lineage.CountCovered(covered), Unreviewed: []lineage.Covered{}}
	if newest := slices.IndexFunc(covered, func(c lineage.Covered) bool { return c.Review != "" }); newest >= 0 {
		r.RedOnBase = covered[newest].RedOnBase
	}
	branch, err := store.Branch(ctx)
	for i, c := range covered {
		if c.Refused {
			r.Refused = append(r.Refused, c)
			continue
		}
		if c.State != lineage.CoverUnreviewed && c.State != lineage.CoverStale {
			continue
		}
		why, skipErr := given.Skip.Why(ctx, store, commits[i], branch)
		if err = errors.Join(err, skipErr); why != "" {
			r.Skipped = append(r.Skipped, intake.Gated{Covered: c, Skipped: why})
			continue
		}
		r.Unreviewed = append(r.Unreviewed, c)
	}
	return r, err
}

// unseen reports whether nobody has looked at the commit as it is, nor was asked to.
func (r *Branch) unseen(commit gitstore.ID) bool {
	return r == nil || slices.ContainsFunc(r.Unreviewed, func(c lineage.Covered) bool {
		return c.Commit == commit && !c.AwaitsPerson()
	})
}

// unreviewedShown is the maximum number of unreviewed commits that are named.
const unreviewedShown = 5

// write prints r, which may be nil.
func (r *Branch) write(w io.Writer) {
	if r == nil {
		return
	}
	of := "The newest commits"
	if r.Since != "" {
		of = "Since " + r.Since
	}
	safetext.Fprintf(w, "%s: %s.\n", of, diagnose.CoverLine(r.CoverCounts))
	screen.Each(w, "  check %s failed in the newest review, as on its base\n", r.RedOnBase)
	list := func(commits []lineage.Covered, meaning screen.Meaning) {
		for _, c := range commits[:min(len(commits), unreviewedShown)] {
			safetext.Fprintf(w, "  %-13s  %s  %s\n", meaning.Of(c.Words()), c.Commit.Short(), prose.CutColumns(c.Title, 60))
		}
	}
	list(r.Refused, screen.Critical)
	list(r.Unreviewed, screen.Warning)
	for _, c := range r.Skipped[:min(len(r.Skipped), unreviewedShown)] {
		safetext.Fprintf(w, "  skipped        %s  %s (%s)\n", c.Commit.Short(), prose.CutColumns(c.Title, 60), c.Skipped)
	}
	if more := len(r.Unreviewed) - unreviewedShown; more > 0 {
		safetext.Fprintf(w, "  … and %d more: git runr audit\n", more)
	}
}
