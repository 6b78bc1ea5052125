package record

import (
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
