package builtin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestFailures reads the output of tools. A case is a command, the changed files and an output;
// expected are the failures, one a line, and the beginning of the excerpt.
func TestFailures(t *testing.T) {
	for name, file := range failureCases(t) {
		t.Run(name, func(t *testing.T) {
			got := Judge(failed(strings.TrimSpace(file["command"]), file["output"]), nil, strings.Fields(file["changed"]))
			var lines strings.Builder
			for _, f := range got.Failures {
				lines.WriteString(f.String() + "\n")
			}
			if lines.String() != file["failures"] {
				t.Errorf("failures:\n%swant:\n%s", lines.String(), file["failures"])
			}
			if want := strings.TrimRight(file["excerpt"], "\n"); !strings.HasPrefix(got.Excerpt, strings.TrimLeft(want, "\n")) {
				t.Errorf("excerpt:\n%s\nwant it to begin:\n%s", got.Excerpt, want)
			}
			if len(got.Excerpt) > excerptBytes || strings.Count(got.Excerpt, "\n") >= excerptLines {
				t.Errorf("excerpt of %d bytes", len(got.Excerpt))
			}
		})
	}
}

// failureCases returns the files of each case, by its name.
func failureCases(t testing.TB) map[string]map[string]string {
	paths, err := filepath.Glob("testdata/failures/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	cases := map[string]map[string]string{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := map[string]string{}
		for _, f := range archive.Files {
			file[f.Name] = string(f.Data)
		}
		cases[strings.TrimSuffix(filepath.Base(path), ".txtar")] = file
	}
	return cases
}

// A failure in the middle of a long output is quoted.
func TestExcerptOfLongOutput(t *testing.T) {
	noise := strings.Repeat("2026-01-02 03:04:05 cart: nothing to see here\n", 1000)
	got := Judge(failed("go test ./...", noise+goFailure+noise), nil, nil)
	if !strings.HasPrefix(got.Excerpt, "    --- FAIL: TestTotal/two") ||
		!strings.Contains(got.Excerpt, "Total = 1, want 3") {
		t.Errorf("%q", got.Excerpt)
	}
}

// A program that a shell, env or make did not find is named.
func TestMissingProgram(t *testing.T) {
	for output, want := range map[string]string{
		"sh: 1: golangci-lint: not found\n":                                                 "golangci-lint is not installed",
		"bash: line 1: eslint: command not found\n":                                         "eslint is not installed",
		"/bin/sh: eslint: command not found\n":                                              "eslint is not installed",
		"./check.sh: line 3: shellcheck: command not found\nmore\n":                         "shellcheck is not installed",
		"zsh:1: command not found: rg\n":                                                    "rg is not installed",
		"env: ‘node’: No such file or directory\n":                                          "node is not installed",
		"/usr/bin/env: 'python': No such file or directory\n":                               "python is not installed",
		"make: golint: No such file or directory\nmake: *** [Makefile:2: lint] Error 127\n": "golint is not installed",
		"\x1b[31msh: 1: jest: not found\x1b[0m\r\n":                                         "jest is not installed",
		"sh: 1: ./run.sh: not found\n":                                                      "./run.sh is not there",
		"sh: 1: ./run.sh: Permission denied\n": "./run.sh cannot be run: " +
			"permission denied",
		"all is well\n": "",
	} {
		if got := missingProgram(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
