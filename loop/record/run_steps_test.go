package record

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TestSteps: the steps of a run are those of its branch, whole and in order, or none.
func TestSteps(t *testing.T) {
	attempt := func(from, commit gitstore.ID) Attempt {
		return Attempt{From: from, Commit: commit, Change: "change-" + string(commit)}
	}
	reverted := func(a Attempt) Attempt {
		a.Reverted = &Reverted{}
		return a
	}
	helped := func(attempts int, commit gitstore.ID) Intervention {
		return Intervention{Attempts: attempts, Commit: commit, Change: "change-" + string(commit)}
	}
	unknown := attempt("base", "a")
	unknown.Change = ""
	for name, c := range map[string]struct {
		attempts []Attempt
		helped   []Intervention
		want     []string
	}{
		"two":              {[]Attempt{attempt("base", "a"), attempt("a", "b")}, nil, []string{"change-a", "change-b"}},
		"one is reverted":  {[]Attempt{reverted(attempt("base", "a")), attempt("base", "b")}, nil, []string{"change-b"}},
		"one does nothing": {[]Attempt{attempt("base", "a"), {From: "a"}}, nil, []string{"change-a"}},
		"a person helps": {[]Attempt{attempt("base", "a"), attempt("p", "b")}, []Intervention{helped(1, "p")},
			[]string{"change-a", "change-p", "change-b"}},
		"a person is first": {[]Attempt{attempt("p", "a")}, []Intervention{helped(0, "p")}, []string{"change-p", "change-a"}},
		"a gap":             {[]Attempt{attempt("base", "a"), attempt("x", "b")}, nil, nil},
		"an older record":   {[]Attempt{unknown, attempt("a", "b")}, nil, nil},
	} {
		run := Run{Plan: runplan.Plan{Base: "base"}, Attempts: c.attempts, Interventions: c.helped}
		if got := run.steps(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
