package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// TestNewestWordOfEach asks several reviewers about one commit again and again. Each reviewer's newest answer counts,
// and the worst of these decides. Without an answer the newest open request decides.
func TestNewestWordOfEach(t *testing.T) {
	for range 6 {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 1))
		s, what := runtest.NewStore(t), fmt.Sprintf("seed %d", seed)
		testrepo.WriteFile(t, s.Repo.WorkTree, "file", "text\n")
		testrepo.Git(t, s.Repo.WorkTree, "add", ".")
		testrepo.Git(t, s.Repo.WorkTree, "commit", "-q", "-m", "a change")
		commit := gitstore.ID(testrepo.Git(t, s.Repo.WorkTree, "rev-parse", "HEAD"))
		words := map[string]lineage.Covered{} // newest answer of each reviewer
		pending := lineage.Covered{State: lineage.CoverUnreviewed}
		answers := rng.IntN(4) // in 4 requests, so many are answered
		for range 12 {
			reviewer := []string{"rex", "bob", record.Human}[rng.IntN(3)]
			review, err := s.RequestReview(t.Context(),
				record.ReviewRequest{Subject: record.Subject{Kind: record.SubjectCommit, Commit: commit, Tree: commit},
					Reviewer: reviewer}, "cli")
			if err != nil {
				t.Fatal(err)
			}
			said := lineage.Covered{State: lineage.CoverReviewed, Review: review.ID}
			switch {
			case rng.IntN(4) < answers:
				said.Verdict, said.Outcome, said.Passed = reply.Pass, record.OutcomePassed, true
				if rng.IntN(2) == 0 {
					said.Verdict, said.Outcome, said.Passed = reply.NeedsFix, record.OutcomeFailed, false
				}
				report := record.EmptyReport()
				report.Verdict, report.Effective = said.Verdict, said.Verdict
				_, err = s.SubmitReview(t.Context(), review.ID,
					record.Submission{Reviewer: reviewer, Outcome: said.Outcome, Commit: commit, Tree: commit, Report: report}, "")
				words[reviewer] = said
			case rng.IntN(3) == 0:
				_, err = s.CancelReview(t.Context(), review.ID, "ann", "")
			default:
				pending = lineage.Covered{State: lineage.CoverPending, Review: review.ID}
			}
			if err != nil {
				t.Fatal(err)
			}
			checkStanding(t, what, s, commit, words, pending)
		}
	}
}

// checkStanding compares the coverage of a commit with the newest answers, or with the newest open request.
func checkStanding(t *testing.T, what string, s *store.Store, commit gitstore.ID, words map[string]lineage.Covered,
	pending lineage.Covered) {
	t.Helper()
	covered, err := lineage.Coverage(t.Context(), s, []gitstore.LoggedCommit{{ID: commit}})
	if err != nil {
		t.Fatal(err)
	}
	want := pending
	for _, word := range words {
		if want.State != lineage.CoverReviewed || want.Passed && !word.Passed ||
			want.Passed == word.Passed && word.Review > want.Review {
			want = word
		}
	}
	got := covered[0]
	if got.State != want.State || got.Review != want.Review || got.Verdict != want.Verdict || got.Passed != want.Passed {
		t.Fatalf("%s: %+v stands on the commit, want %+v", what, got, want)
	}
}
