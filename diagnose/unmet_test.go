package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

func TestUnmetCodes(t *testing.T) {
	ok := func(name string) record.CheckResult { return record.CheckResult{Name: name} }
	bad := func(name, said string) record.CheckResult {
		return record.CheckResult{Name: name, ExitCode: 1, Said: said}
	}
	said := func(name, said string) record.CheckResult { return record.CheckResult{Name: name, Said: said} }
	now := func(results ...record.CheckResult) []record.CheckRun {
		return []record.CheckRun{checked(head, results...)}
	}
	then := func(results ...record.CheckResult) []record.CheckRun {
		return []record.CheckRun{checked(first, results...)}
	}
	custom := []runplan.Check{{Name: "api-schema", Command: "make schema"}, {Name: "unit", Command: "npm run unit"},
		{Name: "e2e", Command: "npm run e2e"}, {Name: "prose", Command: "vale docs"}}
	for _, test := range []struct {
		name     string
		checks   []runplan.Check
		ran      []record.CheckRun
		requests []string
		want     string
	}{
		{"never run", npmChecks(), nil, []string{"Include npm run typecheck output in evidence"}, "typecheck_output_missing"},
		{"failed", npmChecks(), now(bad("typecheck", "3 errors")), []string{"Fix type errors"}, "typecheck_failed"},
		{"stale", npmChecks(), then(ok("typecheck")), []string{"Fix type errors"}, "typecheck_output_stale"},
		{"stale though it failed", npmChecks(), then(bad("typecheck", "")), []string{"Fix type errors"},
			"typecheck_output_stale"},
		{"passed", npmChecks(), now(ok("typecheck")), []string{"Fix type errors"}, ""},
		{"failed unasked", npmChecks(), now(bad("lint", "")), nil, "lint_failed"},
		{"stale unasked", npmChecks(), then(ok("lint"), bad("build", "")), nil, ""},
		{"not configured", nil, nil, []string{"Fix type errors", "Run the tests", "Lint it", "The build fails"},
			"typecheck_output_missing test_output_missing build_output_missing lint_output_missing"},
		{"documents are seldom a check", nil, nil, []string{"Update the documentation", "A security hole", "Fix formatting"},
			""},
		{"coverage never run", npmChecks(), nil, []string{"Report test coverage"}, "test_coverage_not_reported"},
		{"coverage not configured", nil, nil, []string{"Report test coverage"}, "test_coverage_not_reported"},
		{"coverage without a figure", npmChecks(), now(said("test", "12 passed")), []string{"Report test coverage"},
			"test_coverage_not_reported"},
		{"coverage without a figure and failing", npmChecks(), now(bad("test", "2 failed")), []string{"Report test coverage"},
			"test_failed test_coverage_not_reported"},
		{"coverage too low", npmChecks(), now(bad("test", "65%, need 80%")), []string{"Add test coverage"},
			"test_coverage_insufficient"},
		{"coverage too low, unasked", npmChecks(), now(bad("test", "65%, need 80%")), nil, "test_coverage_insufficient"},
		{"coverage reported", npmChecks(), now(said("test", "91%")), []string{"Add test coverage"}, ""},
		{"coverage of an earlier tree", npmChecks(), then(said("test", "91%")), []string{"Add test coverage"},
			"test_output_stale"},
		{"by their own names", custom, now(bad("unit", ""), bad("api-schema", "")), []string{"Add e2e tests"},
			"e2e_output_missing api_schema_failed unit_failed"},
		{"of a kind by its command", custom, now(bad("prose", "")), nil, "docs_failed"},
		{"file", nil, nil, []string{"Create src/foo.ts"}, "file_not_created: src/foo.ts"},
		{"file that is there", nil, nil, []string{"Create b.ts", "Add src/a.ts"}, ""},
		{"files", nil, nil, []string{"Add the files `docs/x.md` and ./y.yaml."},
			"file_not_created: docs/x.md file_not_created: y.yaml"},
		{"file said to be missing", nil, nil, []string{"The file src/foo.ts does not exist"}, "file_not_created: src/foo.ts"},
		{"change to a file", nil, nil, []string{"Add validation to src/foo.ts", "src/foo.ts:3: Add a guard",
			"src/foo.ts: Create a guard"}, ""},
		{"evidence", nil, nil, []string{"Provide evidence that it works", "Show the output"}, "evidence_incomplete"},
		{"evidence of a check", npmChecks(), now(ok("lint")), []string{"Provide the lint output"}, ""},
		{"something else", npmChecks(), now(ok("lint")), []string{"Rename the helper"}, ""},
	} {
		run := stoppedRun()
		run.Plan.Checks, run.Checks, run.Rounds = test.checks, test.ran, nil
		got := strings.Join(unmetOf(run, newMatcher(run.Plan.Checks), test.requests, proofOf(run)), " ")
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDoneCriteriaAreAskedForToo(t *testing.T) {
	run := stoppedRun()
	run.Checks, run.Plan.DoneCriteria = nil, "## Done\n- [ ] npm run lint passes\n* prints hello\nbuild\n"
	if got := unmetOf(run, newMatcher(run.Plan.Checks), nil, proofOf(run)); !slices.Equal(got,
		[]string{"lint_output_missing"}) {
		t.Errorf("codes %q", got)
	}
	if stop, _ := Explain(run, record.Stop{Reason: record.ReasonReviewLoop, Unmet: []string{"Rename it"}}); !slices.Equal(
		stop.Commands, []string{"npm run lint"}) {
		t.Errorf("commands %q", stop.Commands)
	}
	run.Plan.DoneCriteria = "```bash\n$ npm run lint\n# npm test: by hand\n```\n" // as commands
	if got := unmetOf(run, newMatcher(run.Plan.Checks), nil, proofOf(run)); !slices.Equal(got,
		[]string{"lint_output_missing"}) {
		t.Errorf("codes of commands: %q", got)
	}
	run.Plan.Task = run.Plan.DoneCriteria // a task without a section for its criteria
	if got := unmetOf(run, newMatcher(run.Plan.Checks), nil, proofOf(run)); len(got) > 0 {
		t.Errorf("codes of a task: %q", got)
	}
}

// TestUnmetCodesAreListed: every code that is returned is in the table of codes.
func TestUnmetCodesAreListed(t *testing.T) {
	run := stoppedRun()
	run.Checks = []record.CheckRun{checked(first, record.CheckResult{Name: "test"}),
		checked(head, record.CheckResult{Name: "lint", ExitCode: 1},
			record.CheckResult{Name: "test", ExitCode: 1, Said: "65%, need 80%"})}
	codes := unmetOf(run, newMatcher(run.Plan.Checks),
		[]string{"Fix type errors", "Create x.go", "Show evidence", "More coverage", "Build it"}, proofOf(run))
	if len(codes) < 5 {
		t.Fatalf("only %q", codes)
	}
	for _, code := range codes {
		listed := slices.ContainsFunc(UnmetCodes(), func(u UnmetCode) bool {
			before, after, _ := strings.Cut(strings.NewReplacer("CHECK", "\x00", "PATH", "\x00").Replace(u.Code), "\x00")
			return strings.HasPrefix(code, before) && strings.HasSuffix(code, after) && u.Meaning != ""
		})
		if !listed {
			t.Errorf("%q is not in the table", code)
		}
	}
}
