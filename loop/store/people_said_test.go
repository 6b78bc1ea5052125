package store

import (
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

// TestDecided: the reviews in which people refuse or approve are found, also after the verdict changed.
func TestDecided(t *testing.T) {
	s := newTestStore(t)
	ctx := t.Context()
	review := personReview(t, s, map[string]string{"a": "a\n"})
	say := func(decision record.Decision) {
		t.Helper()
		ann := record.Person{Actor: "ann", Decision: decision, Message: "so"}
		if _, err := s.SubmitPerson(ctx, review.ID, ann); err != nil {
			t.Fatal(err)
		}
	}
	want := func(refused, approved int) {
		t.Helper()
		for decision, n := range map[record.Decision]int{record.RequestChanges: refused, record.Approve: approved} {
			if found, err := s.Decided(ctx, decision, 10); err != nil || len(found) != n {
				t.Errorf("%s: %d reviews, %v; want %d", decision, len(found), err, n)
			}
		}
	}
	want(0, 0)
	say(record.RequestChanges)
	want(1, 0)
	say(record.Approve)
	want(0, 1)
}
