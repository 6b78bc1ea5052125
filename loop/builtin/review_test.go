package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

const cleanGo = `// Package cart adds up.
package cart

import (
	"errors"
	"fmt"
)

// ErrEmpty is the error of Total for a cart without items.
var ErrEmpty = errors.New("empty cart")

// Total adds the prices, in cents.
func Total(prices []int) (int, error) {
	if len(prices) == 0 {
		return 0, ErrEmpty
	}
	sum := 0
	for i, p := range prices {
		if p < 0 {
			return 0, fmt.Errorf("price %d is negative: %d", i, p)
		}
		sum += p
	}
	return sum, nil
}
`

func TestVerdicts(t *testing.T) {
	clean := newText("cart.go", cleanGo)
	failing := Judge(record.CheckResult{Name: "test", ExitCode: 1, Output: "cart.go:3:1: bad\n"}, nil, nil)
	old := Judge(failing, &failing, nil)
	missing := record.CheckResult{Name: "lint", ExitCode: 127, Reason: record.NotInstalled,
		NotRun: "golint is not installed"}
	for _, c := range []struct {
		name    string
		in      Input
		verdict reply.Verdict
		summary string
	}{
		{"clean", Input{Files: []File{clean}}, reply.Pass, "no problem in 1 file, 25 added lines"},
		{"clean, checks pass", Input{Files: []File{clean}, Checks: []record.CheckResult{{Name: "test"}}}, reply.Pass,
			"no problem"},
		{"note", Input{Files: []File{newText("a.go", "x ")}}, reply.PassWithNotes, "2 notes in 1 file, 1 added line"},
		{"check that could not run", Input{Files: []File{clean}, Checks: []record.CheckResult{missing}}, reply.Pass,
			"no problem in 1 file, 25 added lines; not run: lint (golint is not installed)"},
		{"warning", Input{Files: []File{newText("a.go", "\tpanic(\"not implemented\")\n")}}, reply.NeedsFix, "1 warning"},
		{"critical", Input{Files: []File{newText("a.go", conflict())}}, reply.CriticalFail, "1 critical"},
		{"check", Input{Files: []File{clean}, Checks: []record.CheckResult{failing}}, reply.NeedsFix,
			"1 warning in 1 file, 25 added lines; failing: test"},
		{"check that failed before", Input{Files: []File{clean}, Checks: []record.CheckResult{old}}, reply.Pass,
			"no problem"},
		{"deleted file", Input{Files: []File{{Path: "a", Deleted: true}}}, reply.Pass, "no problem in 1 file, 0 added lines"},
		{"submodule", Input{Files: []File{{Path: "sub", Mode: "160000"}}}, reply.Pass,
			"no problem in 1 file, 0 added lines; the content of submodules was not looked at: sub"},
		{"nothing", Input{}, reply.NeedsFix, "nothing to review"},
		{"nothing but checks", Input{Checks: []record.CheckResult{{Name: "test"}}}, reply.NeedsFix, "nothing to review"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Shown = len(c.in.Files)
			r := reviewed(c.in)
			if r.Verdict != c.verdict || r.Effective != c.verdict || r.Approved != c.verdict.Passed() || r.Format != "builtin" {
				t.Errorf("%+v", r)
			}
			if !strings.HasPrefix(r.Summary, c.summary) || strings.Contains(r.Summary, "\n") {
				t.Errorf("summary %q, want %q", r.Summary, c.summary)
			}
			if r.Findings == nil || r.Requests == nil || r.Warnings == nil {
				t.Error("a list is nil")
			}
		})
	}
}

func TestRequestsAreTheFindingsThatAskForSomething(t *testing.T) {
	r := review(newText("a.go", "x \n\tpanic(\"TODO\")\n"))
	if want := []string{"a.go:2: it is not implemented"}; !slices.Equal(r.Requests, want) {
		t.Errorf("requests %q, want %q", r.Requests, want)
	}
}

func TestFindingsAreInOrderAndHaveIDs(t *testing.T) {
	text := "x \n\tpanic(\"TODO\")\n\tpanic(\"TODO\")\n" + conflict()
	files := []File{newText("b.go", text), newText("a.go", text)}
	r := review(files...)
	wantFound(t, r, "critical conflict-marker 4", "critical conflict-marker 4", "warning stub 2", "warning stub 2",
		"warning stub 3", "warning stub 3", "note whitespace 1", "note whitespace 1")
	var places []string
	ids := map[string]bool{}
	for _, f := range r.Findings {
		places = append(places, fmt.Sprintf("%.1s %s %d", f.Severity, f.File, f.Line))
		ids[f.ID] = true
	}
	want := []string{"c a.go 4", "c b.go 4", "w a.go 2", "w a.go 3", "w b.go 2", "w b.go 3", "n a.go 1", "n b.go 1"}
	if !slices.Equal(places, want) {
		t.Errorf("order %q, want %q", places, want)
	}
	if len(ids) != len(r.Findings) || ids[""] {
		t.Errorf("ids %v", ids)
	}
	slices.Reverse(files)
	if again := review(files...); !slices.Equal(again.Findings, r.Findings) {
		t.Error("the order of the files shows in the report")
	}
}

func TestFindingsAreLimited(t *testing.T) {
	check := record.CheckResult{Name: "test", ExitCode: 1, Output: "broke"}
	r := reviewed(Input{Files: []File{newText("a.go", strings.Repeat("\tpanic(\"TODO\")\n", 300))},
		Checks: []record.CheckResult{check}})
	if len(r.Findings) != maxFindings+2 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	last := r.Findings[len(r.Findings)-1]
	if last.Severity != reply.Note || !strings.HasPrefix(last.Issue, "100 more findings") || last.ID == "" {
		t.Errorf("%+v", last)
	}
	if !slices.ContainsFunc(r.Findings, func(f reply.Finding) bool { return f.Rule == "check:test" }) {
		t.Error("the check is not among them")
	}
}

func TestLongLinesAreNotCode(t *testing.T) {
	wantFound(t, review(newText("a.js", "x="+strings.Repeat("1+", 600)+"1;console.log(x);debugger;\n")))
}
