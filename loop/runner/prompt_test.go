package runner

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
)

func testReviewPrompt() reviewing.ReviewPrompt {
	return reviewing.ReviewPrompt{
		Entity: runplan.Entity{Type: "task", Identifier: "T1", Title: "Add a thing"}, DoneCriteria: "it works",
		References: "<objective_ref>docs/goal.md</objective_ref>",
		Files:      []string{"a.go", "b.go"}, Verification: "go test: ok", Round: 2,
		Part: reviewing.Part{Patch: []byte("diff --git a/a.go b/a.go\n+x\n")}, Nonce: "n0nce",
		Census: record.Census{Files: 3, Lines: 30, SentFiles: 2, SentLines: 20,
			LeftOut: []record.LeftOut{{Path: "go.sum", Why: "excluded"}}},
	}
}

// contains reports each part that is missing in text.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q in:\n%s", part, text)
		}
	}
}

func testImplementPrompt() ImplementPrompt {
	return ImplementPrompt{
		Entity: runplan.Entity{Identifier: "T1", Title: "Add a thing"}, Task: "Write the thing.", DoneCriteria: "it works",
		References: "<ref/>",
		Lead:       "Think first.", Attempt: 3, Files: []string{"a.go"},
		History: []string{"attempt 1 (implement): changed 1 file, reviewed as NEEDS_FIX"},
		Notes:   []string{"use the old API"},
		Findings: []reply.Finding{{Severity: reply.Warning, File: "a.go", Line: 7, Issue: "no test", Fix: "add one"},
			{Severity: reply.Critical, Issue: "leak"}},
		Requests: []string{"a.go:7: no test", "Document the flag"},
		Failed:   []record.CheckResult{{Name: "test", Command: "go test ./...", ExitCode: 2, Output: "boom\n"}},
		Checks:   []runplan.Check{{Name: "test", Command: "go test ./..."}},
	}
}

// common lists the parts that every implementer's prompt contains.
var common = []string{
	"Think first.", "<references>\n<ref/>\n</references>", "<task>\nWrite the thing.\n</task>",
	"<done_criteria>\nit works\n</done_criteria>",
	"<earlier_attempts>\nattempt 1 (implement): changed 1 file, reviewed as NEEDS_FIX\n</earlier_attempts>",
	"<notes_from_people>\nuse the old API\n</notes_from_people>", "   - test: go test ./...\n", "Do not commit",
	"## SUBTASK COMPLETE", "### Verification Results",
}

func TestImplementPrompt(t *testing.T) {
	text := testImplementPrompt().Text(record.ModeImplement)
	contains(t, text, append(common, "<objective>\nIMPLEMENT T1: Add a thing\n</objective>")...)
	lacks(t, text, "fix_instructions", "previous_attempt_failures", "RE-EXECUTE")
}

func TestFixPrompt(t *testing.T) {
	text := testImplementPrompt().Text(record.ModeFix)
	contains(t, text, append(common,
		"FIX review findings for T1: Add a thing", "The reviewer found 3 issue(s)", "This is attempt 3.",
		"fix ONLY these specific issues",
		"### Warning: a.go:7\n**Issue:** no test\n**Fix:** add one\n", "### Critical: no particular place\n**Issue:** leak\n",
		"### Requested\n**Issue:** Document the flag\n",
		"### Check test fails\n**Command:** go test ./...\n**Exit code:** 2\n    boom\n",
		"<files_already_modified>\na.go\n</files_already_modified>",
	)...)
	lacks(t, text, "**Issue:** a.go:7: no test", "RE-EXECUTE", "from scratch.\nDo NOT just patch")
}

func TestReexecutePrompt(t *testing.T) {
	text := testImplementPrompt().Text(record.ModeReexecute)
	contains(t, text, append(common,
		"RE-EXECUTE T1: Add a thing", "<previous_attempt_failures>", "Do NOT repeat them. Its files were reverted.",
		"**How to avoid it:** add one",
		"IMPORTANT: This is attempt 3. Implement correctly from scratch.",
		"### Critical: no particular place\n**Issue:** leak\n",
	)...)
	lacks(t, text, "fix ONLY", "files_already_modified", "**Fix:**")
}

func TestPromptsLeaveOutWhatIsNotThere(t *testing.T) {
	text := ImplementPrompt{Entity: runplan.Entity{Title: "x"}, Attempt: 1}.Text(record.ModeImplement)
	lacks(t, text, "<references>", "<task>", "<done_criteria>", "<earlier_attempts>", "<notes_from_people>")
	contains(t, text, "Run the project's own verification")
	lacks(t, reviewing.ReviewPrompt{Nonce: "n"}.Text(), "<references>", "<subtask_done_criteria>", "<request>",
		"<files_modified>", "<check_results>", "left out")
}

func TestPromptsBoundOutput(t *testing.T) {
	p := testImplementPrompt()
	p.Failed[0].Output = strings.Repeat("line\n", 500) + "the last line\n"
	text := p.Text(record.ModeFix)
	contains(t, text, "    the last line\n")
	if n := strings.Count(text, "    line\n"); n != 59 {
		t.Errorf("%d lines of output, want the last 60", n+1)
	}
}
