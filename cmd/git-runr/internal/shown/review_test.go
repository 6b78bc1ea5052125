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

// TestByFile: a remark belongs to its last line, an outdated one to its file. Remarks on the whole, and on files
// outside of the change, belong to no file.
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

// TestInOrder: remarks on the whole come first, then those on the change in its order, then those outside of it.
// Drafts come after submitted remarks.
func TestInOrder(t *testing.T) {
	var got []string
	for _, r := range InOrder([]*Remark{
		{ID: "gone", File: "x"}, {ID: "draft", File: "b", End: 2, Draft: true}, {ID: "b2", File: "b", End: 2},
		{ID: "a", File: "a", End: 9}, {ID: "whole"},
	}, index("a", "b"), 2) {
		got = append(got, r.ID)
	}
	if want := []string{"whole", "a", "b2", "draft", "gone"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStands: a judge's ruling has precedence over an open remark, and a deferred remark counts as answered.
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
