package shown

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

func index(files ...string) func(string) (int, bool) {
	return func(name string) (int, bool) {
		at := slices.Index(files, name)
		return at, at >= 0
	}
}

// TestByFile: remarks are bound to their last line, outdated ones to the file; those on the whole and on files
// that the change does not have are not bound.
func TestByFile(t *testing.T) {
	remarks := []*Remark{
		{ID: "whole"},
		{ID: "gone", File: "gone", Side: record.SideNew, End: 1},
		{ID: "range", File: "b", Side: record.SideNew, Start: 2, End: 4},
		{ID: "old", File: "b", Side: record.SideOld, Start: 4, End: 4},
		{ID: "outdated", File: "b", Side: record.SideNew, Start: 9, End: 9, Outdated: true},
	}
	bound := ByFile(remarks, index("a", "b"))
	if len(bound) != 1 {
		t.Fatalf("bound to %d files", len(bound))
	}
	var got []string
	for _, line := range Lines(bound[1]) {
		for _, r := range bound[1][line] {
			got = append(got, r.ID)
		}
	}
	if want := []string{"outdated", "range", "old"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestInOrder: the whole first, then as the change goes, what it does not have last, drafts behind what was said.
func TestInOrder(t *testing.T) {
	var got []string
	for _, r := range InOrder([]*Remark{
		{ID: "gone", File: "x"}, {ID: "draft", File: "b", End: 2, Draft: true}, {ID: "b2", File: "b", End: 2}, {ID: "a", File: "a", End: 9}, {ID: "whole"},
	}, index("a", "b"), 2) {
		got = append(got, r.ID)
	}
	if want := []string{"whole", "a", "b2", "draft", "gone"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStands: a ruling of the judge counts before what is open, and a deferred remark waits for another look.
func TestStands(t *testing.T) {
	deferred := []record.Answer{{Kind: record.AnswerDeferred}}
	for want, r := range map[Standing]Remark{
		Pending:  {Draft: true, Open: true},
		Open:     {Open: true},
		Answered: {Answers: deferred},
		Resolved: {Open: true, Ruling: record.Refuted},
	} {
		if got := r.Stands(); got != want {
			t.Errorf("%+v: %s, want %s", r, got, want)
		}
	}
}
