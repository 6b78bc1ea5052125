package diagnose

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

func TestSuggestedNote(t *testing.T) {
	for _, test := range []struct {
		requests []string
		want     string
	}{
		{[]string{"Fix type errors", "Add test coverage for new function"},
			"Addressed: Fix type errors, Add test coverage for new function"},
		{[]string{"Fix type errors and remove the lint warnings."},
			"Addressed: Fix type errors and remove the lint warnings"},
		{[]string{"Rename the helper", "Fix type errors"}, "Addressed: Fix type errors"},
		{[]string{"src/a.ts:12: Fix the `lint` errors"}, "Addressed: Fix the lint errors"},
		{[]string{"Rename the helper", "Simplify the loop", "Drop the flag"},
			"Addressed: Rename the helper, Simplify the loop"},
		{[]string{"Lint fails in 2 files"}, "Addressed: Lint fails in 2 files"},
		{[]string{"Provide evidence that it works"}, "Addressed: Provide evidence that it works"},
		{[]string{"Fix type errors; then rest"}, ""},
		{[]string{"Test suite doesn't pass"}, ""},
		{[]string{"Fix the $(reboot) error"}, ""},
		{[]string{"Fix the \x1b[2J error"}, ""},
		{[]string{"Fix " + strings.Repeat("very ", 20) + "long names"}, ""},
		{nil, ""},
	} {
		d := Diagnosis{LastReviewRequests: test.requests}
		if got := d.note(newMatcher(npmChecks())); got != test.want {
			t.Errorf("%q: %q, want %q", test.requests, got, test.want)
		}
	}
}

// If a request asks for evidence, the suggested note says which checks the line runs.
func TestSuggestedNoteOfChecks(t *testing.T) {
	for _, test := range []struct {
		checks []string
		want   string
	}{
		{[]string{"lint"}, "Ran lint manually"},
		{[]string{"lint", "test:sub/dir"}, "Ran lint, test:sub/dir manually"},
		{[]string{"lint", "test", "build"}, "Ran lint, test, build manually"},
		{[]string{"a`reboot`"}, "Ran the checks manually"},
		{[]string{strings.Repeat("long", 20)}, "Ran the checks manually"},
	} {
		d := Diagnosis{LastReviewRequests: []string{"Include the lint output in evidence"}}
		for _, c := range test.checks {
			d.SuggestedCommands = append(d.SuggestedCommands, Suggestion{Check: c, Command: "make"})
		}
		if got := d.note(newMatcher(npmChecks())); got != test.want {
			t.Errorf("%q: %q, want %q", test.checks, got, test.want)
		}
	}
}

func TestInterventionIsOneLineInJSON(t *testing.T) {
	d := diagnosisOf(stoppedRun())
	want := "git runr intervene " + runID +
		` --reason review_loop --note "Addressed: Fix type errors, Add test coverage for new function"` +
		` --cmd "npm run typecheck" --cmd "npm test -- --coverage"`
	if d.Intervention != want {
		t.Errorf("got %s", d.Intervention)
	}
}

func TestNoInterventionWhereTheReasonHasNone(t *testing.T) {
	for _, r := range record.Reasons() {
		if d := diagnosisOf(stoppedFor(r.Code, "")); d.Intervention != "" {
			t.Errorf("%s: %q, and nobody did anything", r.Code, d.Intervention)
		}
		run := stoppedFor(r.Code, "")
		run.Checks = stoppedRun().Checks
		d := diagnosisOf(run)
		if (d.Intervention != "") != (r.Intervene != "") ||
			r.Intervene != "" && !strings.Contains(d.Intervention, " --reason "+r.Intervene+" ") {
			t.Errorf("%s: %q", r.Code, d.Intervention)
		}
	}
}
