package runner

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

const taskText = `# 07: Say hello

## Scope (on purpose small)
- NO greeting in other languages
- Just hello

## Requirements
- a greeting

## Scope
allowlist_add:
  - src/greet/**
  - "src/main.go"   # the entry
  - docs/

## Verification
tier: tier1

## Acceptance Checks
` + "```bash" + `
npm run build
$ npm test

# Manual: look at it
` + "```" + `
- [ ] it says hello

## Notes
allow: everything
`

func TestReadTask(t *testing.T) {
	got := ReadTask(taskText)
	want := TaskFile{
		Title: "07: Say hello", Tier: "tier1", DoneChecks: []string{"npm run build", "npm test"},
		Criteria: "```bash\nnpm run build\n$ npm test\n\n# Manual: look at it\n```\n- [ ] it says hello",
		Scope:    runplan.Scope{Allow: []string{"src/greet/**", "src/main.go", "/docs"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	files := []string{"src/greet/x/a.go", "src/main.go", "docs/a.md", "src/main.go.bak", "lib/docs/a.md"}
	if outside := got.Scope.Outside(files); !slices.Equal(outside, files[3:]) {
		t.Errorf("outside: %q", outside)
	}
	if all := DoneChecks(got.Criteria); !slices.Equal(all, []string{"it says hello", "npm run build", "npm test"}) {
		t.Errorf("%q", all)
	}
}

func TestReadTaskFrontMatter(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       runplan.Scope
		tier       string
	}{
		{"lists", "---\nowns:\n  - src/a\n  - ./src/b/\ndenylist:\n- '*.lock'\nverification:\n  tier: tier2\n" +
			"type: automated\n---\n# T\n", runplan.Scope{Allow: []string{"src/a", "src/b"}, Deny: []string{"*.lock"}}, "tier2"},
		{"in a line", "---\nallowlist_add: [src/**, docs]\ndepends_on: [x, y]\ntier: \"tier0\"\n---\n# T\n",
			runplan.Scope{Allow: []string{"src/**", "/docs"}}, "tier0"},
		{"everything", "---\nallow: .\n---\n", runplan.Scope{Allow: []string{"**"}}, ""},
		{"a rule further down is none", "# T\n\n---\nallow: src\n---\n", runplan.Scope{}, ""},
		{"in code it is an example", "# T\n\n## Scope\n```\nallow: src\n```\n", runplan.Scope{}, ""},
		{"prose", "# T\n\n## Scope\nOnly what is needed: nothing else.\n- no flags\n", runplan.Scope{}, ""},
		{"elsewhere", "# T\n\n## Plan\nallowlist_add:\n- src\ntier: tier1\n", runplan.Scope{}, ""},
		{"empty", "", runplan.Scope{}, ""},
	} {
		if got := ReadTask(test.text); !reflect.DeepEqual(got.Scope, test.want) || got.Tier != test.tier {
			t.Errorf("%s: %+v, tier %q", test.name, got.Scope, got.Tier)
		}
	}
}

// TestBothScopesMustAllow: a task file cannot allow more files than the configuration.
func TestBothScopesMustAllow(t *testing.T) {
	plan := runplan.Plan{Scope: runplan.Scope{Allow: []string{"src/**"}, Deny: []string{"**/*.lock"}},
		TaskScope: runplan.Scope{Allow: []string{"src/a/**", "docs/**"}, Deny: []string{"src/a/keep"}}}
	files := []string{"src/a/x.go", "src/b.go", "docs/x.md", "src/a/y.lock", "src/a/keep"}
	if got := plan.Outside(files); !slices.Equal(got, files[1:]) {
		t.Errorf("%q", got)
	}
	if got := (runplan.Plan{}).Outside(files); len(got) > 0 || (runplan.Plan{}).ScopeText() != "" {
		t.Errorf("without a scope: %q", got)
	}
	want := "Only files that match one of these may be changed: src/**\n" +
		"The task itself is limited to these: src/a/**, docs/**\nThese may not be changed: **/*.lock, src/a/keep"
	if got := plan.ScopeText(); got != want {
		t.Errorf("%s", got)
	}
}

func TestTaskProblems(t *testing.T) {
	plan := runplan.Plan{
		Scope:     runplan.Scope{Allow: []string{"src/**"}},
		TaskScope: runplan.Scope{Allow: []string{"src/a/**", "docs/**", "*.md", "src/**"}},
		Tier:      "tier1", DoneChecks: []string{"npm  test", "make lint", "docs"},
	}
	if got := TaskProblems(plan); len(got) != 5 || !strings.Contains(strings.Join(got, "\n"), `"tier1"`) ||
		!strings.Contains(got[4], `"docs"`) {
		t.Errorf("%q", got)
	}
	plan.Checks = []runplan.Check{{Name: "test", Command: "npm test"}, {Name: "docs", Command: "true"}}
	if got := TaskProblems(plan); len(got) != 2 || !strings.Contains(got[0], "make lint") {
		t.Errorf("%q", got)
	}
	results := []record.CheckResult{{Name: "test", ExitCode: 1, Said: "2 failed"}}
	want := []string{"npm  test: check test: exit 1 (2 failed)", "make lint: nothing was run for it",
		"docs: check docs: was not run"}
	if got := doneEvidence(plan, results); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestScopeInPrompts(t *testing.T) {
	p, r := testImplementPrompt(), testReviewPrompt()
	p.Scope, r.Scope, r.DoneChecks = "Only src/** may be changed.", "Only src/** may be changed.",
		[]string{"npm test: check test: ok"}
	for _, mode := range []record.AttemptMode{record.ModeImplement, record.ModeFix, record.ModeReexecute} {
		contains(t, p.Text(mode), "<scope>\nOnly src/** may be changed.\nA change outside of this stops the run")
	}
	contains(t, r.Text(), "<scope>\nOnly src/** may be changed.\nDo not ask for changes outside of it.\n</scope>",
		"<done_checks>\nnpm test: check test: ok\n</done_checks>")
	lacks(t, testImplementPrompt().Text(record.ModeFix), "<scope>")
	lacks(t, testReviewPrompt().Text(), "<scope>", "<done_checks>")
}

func TestTaskTitle(t *testing.T) {
	for text, want := range map[string]string{
		"# Print a usage line\n\nText.\n":                     "Print a usage line",
		"---\nid: T1\nowner: ada\n---\n\nAdd a flag.\n":       "Add a flag.",
		"---\ntitle: \"Add a flag\"\n---\nIt is called -n.\n": "Add a flag",
		"---\r\ntitle: Add a flag\r\n---\r\n# The flag\r\n":   "The flag",
		"```sh\n# a remark\n```\nAdd a flag.\n## Why\n":       "Why",
		"---\n***\nAdd a flag.\n":                             "Add a flag.",
		"":                                                    "",
	} {
		if got := TaskTitle(text); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
}
