package diagnose

import (
	"strings"
	"testing"

	"git-runr/loop"
)

func TestSuggestedNote(t *testing.T) {
	for _, test := range []struct {
		requests []string
		want     string
	}{
		{[]string{"Fix type errors", "Add test coverage for new function"}, "Fixed type errors and added test coverage for new function"},
		{[]string{"Fix type errors and remove the lint warnings."}, "Fixed type errors and removed the lint warnings"},
		{[]string{"Rename the helper", "Fix type errors"}, "Fixed type errors"},
		{[]string{"please run the tests"}, "Ran the tests"},
		{[]string{"src/a.ts:12: Fix the `lint` errors"}, "Fixed the lint errors"},
		{[]string{"Include npm run typecheck output in evidence"}, "Ran typecheck manually"},
		{[]string{"Rename the helper", "Simplify the loop", "Drop the flag"}, "Renamed the helper and simplified the loop"},
		{[]string{"Missing semicolon at the end"}, "Added semicolon at the end"},
		{[]string{"Fix type errors; then rest"}, "Fixed type errors"},
		{[]string{"Fix type errors", "The test is wrong"}, byHand},
		{[]string{"Fix"}, byHand},
		{[]string{"Fix the $(reboot) error"}, byHand},
		{[]string{"Fix the \x1b[2J error"}, byHand},
		{[]string{"Fix " + strings.Repeat("very ", 20) + "long names"}, byHand},
		{nil, byHand},
	} {
		d := Diagnosis{LastReviewRequests: test.requests}
		if got := d.note(newMatcher(npmChecks())); got != test.want {
			t.Errorf("%q: %q, want %q", test.requests, got, test.want)
		}
	}
}

func TestInterventionIsOneLineInJSON(t *testing.T) {
	d := diagnosisOf(stoppedRun())
	want := "git runr intervene " + runID + ` --reason review_loop --note "Fixed type errors and added test coverage for new function"` +
		` --cmd "npm run typecheck" --cmd "npm test -- --coverage"`
	if d.Intervention != want {
		t.Errorf("got %s", d.Intervention)
	}
}

func TestNoInterventionWhereTheReasonHasNone(t *testing.T) {
	for _, r := range loop.Reasons() {
		d := diagnosisOf(stoppedFor(r.Code, ""))
		if (d.Intervention != "") != (r.Intervene != "") || r.Intervene != "" && !strings.Contains(d.Intervention, " --reason "+r.Intervene+" ") {
			t.Errorf("%s: %q", r.Code, d.Intervention)
		}
	}
}

func TestPastOf(t *testing.T) {
	for verb, want := range map[string]string{"Fix": "fixed", "remove": "removed", "Verify": "verified", "write": "wrote", "wrap": "wrapped", "the": "", "": ""} {
		if got, ok := pastOf(verb); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", verb, got, ok)
		}
	}
}
