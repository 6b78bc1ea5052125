package reply

import (
	"path"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/internal/markdown"
)

const fuzzNonce = "1f2e3d4c"

func FuzzParseReview(f *testing.F) {
	addCases(f, "review")
	f.Fuzz(func(t *testing.T, text string) {
		for _, nonce := range []string{"", fuzzNonce} {
			report := ParseReview(text, nonce)
			if again := ParseReview(text, nonce); !reflect.DeepEqual(report, again) {
				t.Fatalf("two readings differ:\n%+v\n%+v", report, again)
			}
			checkReport(t, text, report)
			sameWithCRLF(t, text, report, func(s string) any { return ParseReview(s, nonce) })
		}
	})
}

func checkReport(t *testing.T, text string, report Report) {
	if report.Findings == nil || report.Requests == nil || report.Warnings == nil {
		t.Fatalf("a slice is nil: %+v", report)
	}
	passes := report.Effective.Passed() || report.Verdict.Passed()
	if passes && strings.TrimSpace(text) == "" {
		t.Fatalf("nothing passes: %+v", report)
	}
	if report.Effective.Passed() && HasSeverity(report.Findings, Critical) {
		t.Fatalf("a critical finding passes: %+v", report)
	}
	if passes && report.Format == FormatUnreadable {
		t.Fatalf("an unreadable answer passes: %+v", report)
	}
	if report.Effective != EffectiveVerdict(report.Verdict, report.Findings, false) {
		t.Fatalf("the effective verdict does not follow: %+v", report)
	}
	ids := map[string]bool{}
	for _, finding := range report.Findings {
		if finding.ID == "" || ids[finding.ID] || finding.Issue == "" || finding.Line < 0 || finding.EndLine < 0 ||
			finding.File == "" && finding.Line > 0 {
			t.Fatalf("finding %+v", finding)
		}
		ids[finding.ID] = true
	}
	if !utf8.ValidString(report.Summary) || len(report.Summary) > markdown.MaxParsed {
		t.Fatalf("summary %q", report.Summary)
	}
}

// sameWithCRLF: line ends change nothing. A text that already has carriage returns is
// skipped.
func sameWithCRLF(t *testing.T, text string, want any, parse func(string) any) {
	if strings.Contains(text, "\r") {
		return
	}
	if got := parse(strings.ReplaceAll(text, "\n", "\r\n")); !reflect.DeepEqual(got, want) {
		t.Fatalf("with CRLF:\n%+v\nwith LF:\n%+v", got, want)
	}
}

func FuzzParseExecutor(f *testing.F) {
	addCases(f, "executor")
	f.Fuzz(func(t *testing.T, text string) {
		report := ParseExecutor(text)
		if again := ParseExecutor(text); !reflect.DeepEqual(report, again) {
			t.Fatalf("two readings differ:\n%+v\n%+v", report, again)
		}
		if report.Files == nil || report.Warnings == nil || report.Status == "" {
			t.Fatalf("report %+v", report)
		}
		checkFiles(t, report.Files)
		sameWithCRLF(t, text, report, func(s string) any { return ParseExecutor(s) })
	})
}

func checkFiles(t *testing.T, files []string) {
	seen := map[string]bool{}
	for _, file := range files {
		if file == "" || file == "." || path.IsAbs(file) || path.Clean(file) != file || len(file) > 4096 ||
			!utf8.ValidString(file) || seen[file] {
			t.Fatalf("file %q of %q", file, files)
		}
		seen[file] = true
		for _, part := range strings.Split(file, "/") {
			if part == ".." || strings.EqualFold(part, ".git") || strings.Contains(part, "\x00") {
				t.Fatalf("file %q", file)
			}
		}
	}
}

// addCases seeds a fuzz test with the inputs of the case archives.
func addCases(f *testing.F, dir string) {
	for _, c := range casetest.Read(f, dir) {
		f.Add(c.Input())
	}
}
