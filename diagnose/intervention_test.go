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
			"Fixed type errors and added test coverage for new function"},
		{[]string{"Fix type errors and remove the lint warnings."}, "Fixed type errors and removed the lint warnings"},
		{[]string{"Rename the helper", "Fix type errors"}, "Fixed type errors"},
		{[]string{"please run the tests"}, "Ran the tests"},
		{[]string{"src/a.ts:12: Fix the `lint` errors"}, "Fixed the lint errors"},
		{[]string{"Include npm run typecheck output in evidence"}, "Ran typecheck manually"},
		{[]string{"Rename the helper", "Simplify the loop", "Drop the flag"}, "Renamed the helper and simplified the loop"},
		{[]string{"Missing semicolon at the end"}, "Added semicolon at the end"},
		{[]string{"Fix type errors; then rest"}, "Fixed type errors"},
		{[]string{"Ensure that the lint check passes"}, "Ensured that the lint check passes"},
		{[]string{"Fix the test that fails on Windows"}, "Fixed the test that fails on Windows"},
		{[]string{"Update what it returns"}, "Updated what it returns"},
		{[]string{"Lint fails in 2 files"}, ""},
		{[]string{"Test coverage is 65%"}, ""},
		{[]string{"Test suite doesn't pass"}, ""},
		{[]string{"Build breaks on Windows"}, ""},
		{[]string{"Format differs in a.go"}, ""},
		{[]string{"Fix type errors", "The test is wrong"}, ""},
		{[]string{"Fix"}, ""},
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

// If no request is known to be met, the suggested note says which checks the line runs.
func TestSuggestedNoteOfChecks(t *testing.T) {
	for _, test := range []struct {
		checks []string
		want   string
	}{
		{[]string{"lint"}, "Ran lint"},
		{[]string{"lint", "test:sub/dir"}, "Ran lint and test:sub/dir"},
		{[]string{"lint", "test", "build"}, "Ran lint, test and build"},
		{[]string{"a`reboot`"}, "Ran the checks"},
		{[]string{strings.Repeat("long", 20)}, "Ran the checks"},
	} {
		d := Diagnosis{LastReviewRequests: []string{"Lint fails in 2 files"}}
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
		` --reason review_loop --note "Fixed type errors and added test coverage for new function"` +
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

func TestPastOf(t *testing.T) {
	for verb, want := range map[string]string{"Fix": "fixed", "remove": "removed", "Verify": "verified", "write": "wrote",
		"wrap": "wrapped", "the": "", "": ""} {
		if got, ok := pastOf(verb); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", verb, got, ok)
		}
	}
}
