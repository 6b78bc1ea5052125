package diagnose

import (
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// criteriaRun returns a completed run of a task with criteria, with these check results.
func criteriaRun(criteria string, ran ...record.CheckRun) record.Run {
	run := stoppedRun()
	run.Status, run.Stop, run.Checks = record.RunCompleted, nil, ran
	run.Plan.Task, run.Plan.DoneCriteria = "# A task\n\n## Done when\n"+criteria, criteria
	run.Plan.Checks = []runplan.Check{{Name: "test", Command: "go test ./..."}, {Name: "lint", Command: "make lint"}}
	return run
}

// TestCriteriaSayWhatChecksShow: a criterion is shown as met or not met only if it asks for a check and for nothing
// else.
func TestCriteriaSayWhatChecksShow(t *testing.T) {
	for criterion, want := range map[string]string{
		"- [ ] `go test ./...` passes":              "met (check test passed)",
		"- go test ./...":                           "met (check test passed)",
		"- Run `go  test ./...`":                    "met (check test passed)",
		"- The test check passes.":                  "met (check test passed)",
		"- check test":                              "met (check test passed)",
		"```sh\n$ go test ./...\n```":               "met (check test passed)",
		"- make lint is clean":                      "not met (check lint failed)",
		"- `lint`":                                  "not met (check lint failed)",
		"- it says hello":                           "not known",
		"- a test for an empty list":                "not known", // a word, not the name of the check
		"- `go test ./...` covers an empty list":    "not known", // asks for more than the check can show
		"- `go test ./...` passes\n  on Windows":    "not known",
		"- `go test ./... -race` passes":            "not known",
		"- go test ./... fails without the mending": "not known",
		"- make lint-all":                           "not known",
		"- runtest passes":                          "not known",
		"- \x00":                                    "not known",
	} {
		results := []record.CheckResult{{Name: "test"}, {Name: "lint", ExitCode: 1}}
		run := criteriaRun(criterion+"\n", checked(head, results...))
		got := Criteria(run)
		if len(got) != 1 || got[0].says() != want {
			t.Errorf("%q: %+v, want %q", criterion, got, want)
		}
	}
}

// TestCriteriaGoByTheNewestResultOnTheHead: only the newest result on the head counts, not one of another tree, one
// that did not run, or one of a person's.
func TestCriteriaGoByTheNewestResultOnTheHead(t *testing.T) {
	good, bad := record.CheckResult{Name: "test"}, record.CheckResult{Name: "test", ExitCode: 1}
	onBase, absent := bad, record.CheckResult{Name: "test", NotRun: "go is not installed"}
	onBase.FailsOnBase = true
	for name, test := range map[string]struct {
		ran  []record.CheckRun
		want string
	}{
		"never run":             {nil, "not known"},
		"on an older tree":      {[]record.CheckRun{checked(first, good)}, "not known"},
		"on no tree":            {[]record.CheckRun{checked("", good)}, "not known"},
		"failed, then passed":   {[]record.CheckRun{checked(head, bad), checked(head, good)}, "met (check test passed)"},
		"passed, then failed":   {[]record.CheckRun{checked(head, good), checked(head, bad)}, "not met (check test failed)"},
		"passed, then not run":  {[]record.CheckRun{checked(head, good), checked(head, absent)}, "not known"},
		"fails on the base too": {[]record.CheckRun{checked(head, onBase)}, "not met (check test failed)"},
	} {
		if got := Criteria(criteriaRun("- go test ./...\n", test.ran...)); len(got) != 1 || got[0].says() != test.want {
			t.Errorf("%s: %+v, want %q", name, got, test.want)
		}
	}
	run := criteriaRun("- go test ./...\n", checked(head, good))
	run.Interventions = []record.Intervention{{Attempts: len(run.Attempts), At: time.Now(),
		Commands: []record.CheckResult{{Command: "go test ./...", ExitCode: 1, Tree: string(run.Head())}},
		Evidence: []record.Evidence{{Check: "test", Command: "go test ./...", Tree: run.Head()}}}}
	if got := Criteria(run); len(got) != 1 || got[0].says() != "not met (check test failed)" {
		t.Errorf("a person's command: %+v", got)
	}
}

// TestCriteriaOfOtherRuns: a run that is not completed has no criteria, nor has a task without a section for them.
func TestCriteriaOfOtherRuns(t *testing.T) {
	run := criteriaRun("- go test ./...\n", checked(head, record.CheckResult{Name: "test"}))
	run.Status = record.RunRunning
	if got := Criteria(run); got != nil {
		t.Errorf("running: %+v", got)
	}
	run.Status, run.Plan.Task = record.RunCompleted, run.Plan.DoneCriteria
	if got := Criteria(run); got != nil {
		t.Errorf("the whole task: %+v", got)
	}
}
