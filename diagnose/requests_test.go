package diagnose

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// requestCase is one file of testdata/requests. Its comment says what is difficult about it. Its sections are options
// (crlf, bom, or quoted: the review is a Go string), review, checks ("name = command | match, match"), and want,
// which was written by hand: lines for verdict, approved, requests and commands.
type requestCase struct {
	name   string
	review string
	checks []runplan.Check
	want   map[string][]string
}

// defaultChecks are the checks of a case without its own.
const defaultChecks = `typecheck = npm run typecheck
test = npm test -- --coverage
lint = npm run lint
build = npm run build
format = npx prettier --check .
docs = npm run docs
`

func TestRequests(t *testing.T) {
	for _, c := range readRequestCases(t) {
		t.Run(c.name, func(t *testing.T) {
			report := reply.ParseReview(c.review, "")
			got := map[string][]string{
				"verdict":  {string(report.Effective)},
				"approved": {strconv.FormatBool(report.Approved)},
				"request":  report.Requests,
				"command":  newMatcher(c.checks).commands(report.Requests...),
			}
			for _, key := range []string{"verdict", "approved", "request", "command"} {
				if !slices.Equal(got[key], c.want[key]) {
					t.Errorf("%s:\n  %s\nwant:\n  %s", key, strings.Join(got[key], "\n  "), strings.Join(c.want[key], "\n  "))
				}
			}
		})
	}
}

func readRequestCases(t testing.TB) []requestCase {
	paths, err := filepath.Glob(filepath.Join("testdata", "requests", "*.txtar"))
	if err != nil || len(paths) < 80 {
		t.Fatalf("%d cases in testdata/requests: %v", len(paths), err)
	}
	var cases []requestCase
	for _, path := range paths {
		cases = append(cases, readRequestCase(t, path))
	}
	return cases
}

func readRequestCase(t testing.TB, path string) requestCase {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"checks": defaultChecks}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return requestCase{
		name:   strings.TrimSuffix(filepath.Base(path), ".txtar"),
		review: reviewText(t, files["review"], files["options"]),
		checks: readChecks(files["checks"]),
		want:   readWant(t, path, files["want"]),
	}
}

func reviewText(t testing.TB, text, options string) string {
	if strings.Contains(options, "quoted") {
		var err error
		if text, err = strconv.Unquote(strings.TrimSpace(text)); err != nil {
			t.Fatalf("review %q: %v", text, err)
		}
	}
	if strings.Contains(options, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.Contains(options, "bom") {
		text = "\uFEFF" + text
	}
	return text
}

func readChecks(text string) []runplan.Check {
	var checks []runplan.Check
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " = ")
		command, match, found := strings.Cut(rest, " | ")
		check := runplan.Check{Name: name, Command: command}
		if found {
			check.Match = strings.Split(match, ", ")
		}
		checks = append(checks, check)
	}
	return checks
}

func readWant(t testing.TB, path, text string) map[string][]string {
	want := map[string][]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || !slices.Contains([]string{"verdict", "approved", "request", "command"}, key) {
			t.Fatalf("%s: want line %q", path, line)
		}
		want[key] = append(want[key], value)
	}
	return want
}
