package intake

import (
	"context"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// AskForCommit requests a review of the newest commit. asked is false if the commit is skipped, or if an amend changed
// only the message of a reviewed commit: its review still holds. AskForCommit fills in the request's subject.
func AskForCommit(ctx context.Context, s *store.Store, request record.ReviewRequest, skip Skip,
	join Batch) (asked bool, err error) {
	if request.Subject, err = s.HeadSubject(ctx); err != nil {
		return false, err
	}
	if s.Repo.Amended(request.Subject.Commit) {
		covered, err := standsOn(ctx, s, request.Subject.Commit)
		if err != nil || covered.Seen() {
			return false, err
		}
	}
	return Ask(ctx, s, request, skip, join)
}

// AskForMerge is AskForCommit for a merge that was made here and differs from git's automatic merge. Merged commits
// from elsewhere are requested separately.
func AskForMerge(ctx context.Context, s *store.Store, request record.ReviewRequest, skip Skip,
	join Batch) (asked bool, err error) {
	if request.Subject, err = s.HeadSubject(ctx); err != nil {
		return false, err
	}
	if merge, err := s.IsMerge(ctx, request.Subject); err != nil || !merge {
		return false, err
	}
	if moved, err := s.Repo.LastMove(ctx); err != nil || strings.HasSuffix(moved, "Fast-forward") {
		return false, err
	}
	covered, err := standsOn(ctx, s, request.Subject.Commit)
	if err != nil || covered.State != lineage.CoverUnreviewed {
		return false, err
	}
	return Ask(ctx, s, request, skip, join)
}

// standsOn returns the review coverage of one commit.
func standsOn(ctx context.Context, s *store.Store, id gitstore.ID) (lineage.Covered, error) {
	commits, err := s.Repo.LogOnly(ctx, []gitstore.ID{id})
	if err != nil {
		return lineage.Covered{}, err
	}
	covered, err := lineage.Coverage(ctx, s, commits)
	if err != nil || len(covered) != 1 {
		return lineage.Covered{}, err
	}
	return covered[0], nil
}

// Ask requests a review of a commit, as the hooks do, unless the commit is skipped. A request for rules alone, without
// batching, is only noted for the worker.
func Ask(ctx context.Context, s *store.Store, request record.ReviewRequest, skip Skip,
	join Batch) (asked bool, err error) {
	subject := request.Subject
	commit, err := s.Repo.ReadCommit(ctx, subject.Commit)
	if err != nil {
		return false, err
	}
	logged := gitstore.LoggedCommit{ID: subject.Commit, Parents: commit.Parents, Author: commit.Author.String(),
		Committer: commit.Committer.String(), Message: commit.Message}
	if why, err := skip.Why(ctx, s, logged, subject.Branch); err != nil || why != "" {
		return false, err
	}
	if request.ByRulesAlone() && join == (Batch{}) {
		err = note(s, request)
	} else {
		_, err = s.RequestReview(ctx, request, "hook")
	}
	return err == nil, err
}

// AskMissing requests the reviews that a scan found missing, oldest first, and records their ids in scanned.
func AskMissing(ctx context.Context, s *store.Store, request record.ReviewRequest, scanned []Scanned) (err error) {
	branch, err := s.Branch(ctx)
	if err != nil {
		return err
	}
	for i, c := range slices.Backward(scanned) {
		if c.State != ScanQueue {
			continue
		}
		if request.Subject, err = s.SubjectOn(ctx, string(c.Commit), branch); err != nil {
			return err
		}
		request.Subject.Spec, request.Follows = c.Commit.Short(), c.Follows
		made, err := s.RequestReview(ctx, request, "scan")
		if err != nil {
			return err
		}
		scanned[i].Review = made.ID
	}
	return nil
}
