package record

import (
	"testing"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
)

func TestDecodeStrictKeys(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`{"by":"ann"}`, true},
		{`{"by":"ann","newer":1}`, true},
		{`{"By":"ann"}`, false},
		{`{"by":"ann","BY":"bob"}`, false},
		{`{"by":"ann"} x`, false},
		{`["by"]`, false},
	} {
		var claim Claim
		if err := strictjson.Decode([]byte(c.text), &claim); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func TestSecondStepsThatChangeNothing(t *testing.T) {
	resolved := Review{ID: "r", Status: ReviewResolved, Claim: &Claim{By: "ann"}}
	if err := resolved.allow(EventReviewResolved.Name, ActorPayload{Actor: "bob"}, testEpoch); err != nil {
		t.Errorf("resolving what is resolved: %v", err)
	}
	landed := Run{ID: "r", Status: RunCompleted, Landed: &Landed{Commit: "0123456789"}}
	if err := landed.Allow(EventRunLanded.Name); err == nil {
		t.Error("landed twice")
	}
	kept := Run{Attempts: []Attempt{{Commit: "a"}, {Commit: "b", Reverted: &Reverted{Conflicts: []string{"f"}}},
		{Commit: "c", Reverted: &Reverted{}}}}
	if kept.Head() != "b" {
		t.Errorf("head %s: a revert with conflicts leaves the commit on the branch", kept.Head())
	}
}
