// Package roundtest reads the rounds of a test case.
package roundtest

import (
	"strings"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// Read reads what one round came to: a request a line, "auth.go:12 warning: text" for a
// finding. PASS and FAILED alone are rounds that passed, or did not come to an answer.
func Read(text string) (report reply.Report, failed bool) {
	report = reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix}
	var asked []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		at, rest, _ := strings.Cut(line, " ")
		severity, issue, isFinding := strings.Cut(rest, ": ")
		switch known, ok := reply.SeverityWords[severity]; {
		case line == "PASS":
			report.Verdict, report.Effective = reply.Pass, reply.Pass
		case line == "FAILED":
			failed = true
		case isFinding && ok:
			f := reply.Finding{Severity: known, Issue: issue}
			f.At(place.Read(at))
			report.Findings = append(report.Findings, f)
		case line != "":
			asked = append(asked, line)
		}
	}
	reply.Identify(report.Findings)
	report.Requests = reply.Requests(report.Findings, asked)
	if len(asked) > 0 && len(prose.Words(asked[0])) == 0 {
		report.Requests = asked // of another program
	}
	return report, failed
}
