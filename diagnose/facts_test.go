package diagnose

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// If a stop is not the reviewer's decision, the footer shows whose words it contains, the failing checks and the
// setting that ended the run, between the explanation and the next steps.
func TestFooterKeepsTheFacts(t *testing.T) {
	run := stoppedFor(record.ReasonChecksFailed, "failing: test; the retries are used up")
	run.Checks = stoppedRun().Checks
	run.Checks[0].Event = head
	test := &run.Checks[0].Results[1]
	test.Output = "…"
	test.Failures = []record.CheckFailure{{Test: "TestRate", Message: "panic: division by zero", File: "tax.go", Line: 3},
		{Test: "TestOther"}}
	run.Stop.Setting = &runplan.Setting{Name: "loop.max_retries", Value: "2", From: runplan.SettingDefault}
	got := Footer(run, Place{Width: 80, Files: "/r/.git/runr/runs/x y", Dir: "/r/my tree"})
	for _, part := range []string{
		"\nA check still fails, and no further fix is allowed.\nfailing: test; the retries are used up\n\n" +
			"Checks that fail:\n" +
			"  typecheck: exit 2 (3 errors)\n" +
			"  test: TestRate: panic: division by zero (tax.go:3)\n  test: TestOther failed\n" +
			"    git show abc123422222:checks/test.log\n\n" +
			"Ended by loop.max_retries = 2 (default)\n\nCommands to satisfy:\n  cd \"/r/my tree\"\n  npm run typecheck ",
		"--reason verification_failed \\\n    --note \"Ran typecheck and test\" \\\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
	if strings.Contains(got, "What it wrote") {
		t.Errorf("of no agent:\n%s", got)
	}
	block := Block(run, Place{Width: 80, Tree: "/r/t", Dir: "/r/t"})
	for _, part := range []string{
		"\n  Working tree: /r/t\n  Ended by loop.max_retries = 2 (default)\n\n  Checks that fail:\n    typecheck: exit 2",
		"\n      git show abc123422222:checks/test.log\n\n  Unmet checks:\n",
	} {
		if !strings.Contains(block, part) {
			t.Errorf("no %q in:\n%s", part, block)
		}
	}
	if digest := Digest(run, *run.Stop); !strings.Contains(digest,
		"\n- test: TestRate: panic: division by zero (tax.go:3)\n- test: TestOther failed\n"+
			"  - git show abc123422222:checks/test.log\n") {
		t.Errorf("digest:\n%s", digest)
	}
}

func TestFooterRepeatsWhoseWordsItIs(t *testing.T) {
	run := stoppedFor(record.ReasonBlocked, "")
	run.Stop.Said, run.Stop.SaidBy = "There is no key.\n\tAsk \x1b[31mBob\u202e.\n"+strings.Repeat("long ", 40), "impl"
	got := Footer(run, Place{Width: 40, Files: "/r/runs/x"})
	want := "impl said:\n  > There is no key.\n  >  Ask \\x1b[31mBob\\u{202e}.\n  > " +
		strings.Repeat(strings.Repeat("long ", 7)[:34]+"\n  > ", 5) + strings.Repeat("long ", 5)[:24] +
		"\n\nWhat it wrote: /r/runs/x/attempt-3.log\n\n"
	if !strings.Contains(got, want) {
		t.Errorf("no %q in:\n%s", want, got)
	}
	if strings.Contains(Footer(run, Place{Width: 40}), "What it wrote") {
		t.Error("the transcript of another clone is told")
	}
}

// The footer names a limit that somebody set, and not a default one.
func TestFooterNamesALimitThatWasSet(t *testing.T) {
	run := stoppedRun()
	run.Stop.Setting = &runplan.Setting{Name: "loop.max_retries", Value: "2", From: runplan.SettingDefault}
	if got := footer(run, 80); strings.Contains(got, "Ended by") {
		t.Errorf("footer:\n%s", got)
	}
	run.Stop.Setting.From = "git config"
	if got := footer(run, 80); !strings.Contains(got,
		"(attempt 2/3)\n\nEnded by loop.max_retries = 2 (git config)\n\nReviewer requested:") {
		t.Errorf("footer:\n%s", got)
	}
}

// A check that could not run, or that also fails without the change, is no failure of the work.
func TestEvidenceThatDoesNotCount(t *testing.T) {
	run := stoppedRun()
	run.Checks = []record.CheckRun{checked(head,
		record.CheckResult{Name: "typecheck", Command: "npm run typecheck", ExitCode: 2, Said: "3 errors", FailsOnBase: true},
		record.CheckResult{Name: "lint", Command: "npm run lint", ExitCode: 127, NotRun: "eslint is not installed"},
		record.CheckResult{Name: "build", Command: "npm run build", ExitCode: 1, FailsOnBase: true},
	)}
	run.Stop.Unmet = []string{"Fix type errors", "Fix the lint warnings"}
	d := diagnosisOf(run)
	if got := strings.Join(d.UnmetChecks, " "); got != "typecheck_failed lint_output_missing" {
		t.Errorf("unmet %q", got)
	}
	if got := strings.Join(d.LastEvidenceProvided,
		"; "); got != "typecheck: 3 errors; lint: not run: eslint is not installed; build: exit 1" {
		t.Errorf("evidence %q", got)
	}
	if len(d.FailingChecks) != 0 || len(d.SuggestedCommands) != 2 {
		t.Errorf("%+v, %+v", d.FailingChecks, d.SuggestedCommands)
	}
}
