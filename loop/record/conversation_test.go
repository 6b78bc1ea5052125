package record

import (
	"fmt"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestSecretInAMessageIsNotCarried: a secret in the message of a commit says nothing of the commit that replaces it;
// another finding is carried there.
func TestSecretInAMessageIsNotCarried(t *testing.T) {
	round := func(commit gitstore.ID, findings ...reply.Finding) Review {
		review := foldReview(t, []Event{
			reviewEventAt(1, EventReviewRequested.Name, ReviewRequest{Reviewer: Builtin, Subject: Subject{Commit: commit}}),
		})
		if len(findings) > 0 {
			review.Submissions = []Submission{{Reviewer: Builtin, Outcome: OutcomeFailed,
				Report: reply.Report{Verdict: reply.CriticalFail, Effective: reply.CriticalFail, Findings: findings}}}
			review.join()
		}
		return review
	}
	secret := reply.Finding{ID: "f-0000000001", Severity: reply.Critical, Rule: RuleSecret, Issue: "a key"}
	inFile := reply.Finding{ID: "f-0000000002", Severity: reply.Critical, Rule: RuleSecret, Issue: "a key", File: "a.txt"}
	first := round("aaaa", secret, inFile)
	if carried := (Conversation{first, round("aaaa")}).Carried(1); len(carried) != 2 {
		t.Errorf("to the same commit: %+v", carried)
	}
	carried := Conversation{first, round("bbbb")}.Carried(1)
	if len(carried) != 1 || carried[0].Finding.File != "a.txt" {
		t.Errorf("to another commit: %+v", carried)
	}
}

// TestManyFindingsLeft counts allocations, since the findings of a round were once joined again for each earlier one.
func TestManyFindingsLeft(t *testing.T) {
	allocations := func(n int) float64 {
		findings := make([]reply.Finding, n)
		for i := range findings {
			findings[i] = reply.Finding{ID: fmt.Sprintf("f-%010d", i), Severity: reply.Warning, Issue: "bad", File: "a.txt"}
		}
		round := foldReview(t, []Event{
			reviewEventAt(1, EventReviewRequested.Name, ReviewRequest{Reviewer: "rev", Subject: Subject{Commit: "aaaa"}}),
		})
		round.Submissions = []Submission{{Reviewer: "rev", Outcome: OutcomeFailed,
			Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: findings}}}
		round.join()
		rounds := Conversation{round, round}
		return testing.AllocsPerRun(1, func() {
			if left, settled := rounds.Left(1); len(left)+settled > 0 {
				t.Fatalf("left %d, settled %d: the second round reports them again", len(left), settled)
			}
		})
	}
	if few, many := allocations(50), allocations(500); many > 15*few {
		t.Errorf("%.0f allocations for 50 findings, %.0f for 500", few, many)
	}
}
