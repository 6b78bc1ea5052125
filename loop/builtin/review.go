package builtin

import (
	"fmt"
	"sort"
	"strings"

	"git-runr/loop"
)

// maxFindings is how many findings a report holds; a last note counts the rest.
const maxFindings = 200

// Input is what the reviewer looks at.
type Input struct {
	Files  []File
	Size   func(path string) int64 // bytes of the new content, -1 when unknown; nil: what the diff says
	Checks []loop.CheckResult      // on the change, judged
}

// Review reads the diff and the checks' results. It states NEEDS_FIX for any
// warning or failing check, CRITICAL for a critical finding, PASS_WITH_NOTES for
// notes only and PASS for nothing. The report of a diff without files is
// NEEDS_FIX: nothing was seen, so nothing can pass.
func Review(in Input) loop.Report {
	var found []loop.Finding
	for _, f := range in.Files {
		if in.Size != nil && f.Size < 0 {
			f.Size = in.Size(f.Path)
		}
		found = append(found, reviewFile(f)...)
	}
	found, left := limit(found)
	failing, fromChecks := reviewChecks(in)
	found = append(found, fromChecks...)
	arrange(found)
	if left > 0 {
		found = append(found, loop.Finding{Severity: loop.Note, Rule: "limit",
			Issue: fmt.Sprintf("%d more findings were left out", left)})
	}
	return report(in, found, failing)
}

// reviewFile applies the rules to one file.
func reviewFile(f File) []loop.Finding {
	k := kindOf(f)
	lang := languageOf(f.Path)
	if lang == nil {
		lang = langText
	}
	lines := takeApart(lang, f)
	found := conflictMarkers(f, k, lines)
	found = append(found, secrets(f, k, lines)...)
	if k.exempt {
		return found
	}
	found = append(found, wholeFile(f, k)...)
	if f.Symlink() || f.Deleted {
		return found
	}
	found = append(found, whitespace(f, k, lines)...)
	if k.docs {
		return append(found, loremIpsum(f, k)...)
	}
	return append(found, reviewCode(f, k, lang, lines)...)
}

func reviewCode(f File, k kind, lang *language, lines []codeLine) []loop.Finding {
	found := debugLines(f, k, lang, lines)
	found = append(found, lineRules("stub", stubRules()[lang.id], f, k, lines)...)
	found = append(found, workComments(f, k, lines)...)
	found = append(found, lineRules("focused-test", focusRules()[lang.id], f, k, lines)...)
	found = append(found, lineRules("skipped-test", skipRules()[lang.id], f, k, lines)...)
	return append(found, loremIpsum(f, k)...)
}

func reviewChecks(in Input) (failing []string, found []loop.Finding) {
	for _, result := range in.Checks {
		if result.Fails() {
			failing = append(failing, result.Name)
		}
		found = append(found, CheckFindings(result)...)
	}
	return failing, found
}

var severityRank = map[loop.Severity]int{loop.Critical: 0, loop.Warning: 1, loop.Note: 2}

// arrange sorts by severity, file and line.
func arrange(found []loop.Finding) {
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i], found[j]
		switch {
		case a.Severity != b.Severity:
			return severityRank[a.Severity] < severityRank[b.Severity]
		case a.File != b.File:
			return a.File < b.File
		case a.Line != b.Line:
			return a.Line < b.Line
		case a.Rule != b.Rule:
			return a.Rule < b.Rule
		}
		return a.Issue < b.Issue
	})
}

func limit(found []loop.Finding) (kept []loop.Finding, left int) {
	arrange(found)
	if len(found) <= maxFindings {
		return found, 0
	}
	return found[:maxFindings], len(found) - maxFindings
}

func report(in Input, found []loop.Finding, failing []string) loop.Report {
	r := loop.Report{Format: "builtin", Findings: []loop.Finding{}, Requests: []string{}, Warnings: []string{}}
	ids := map[string]int{}
	for _, f := range found {
		f.ID = uniqueID(f, ids)
		r.Findings = append(r.Findings, f)
		if f.Severity != loop.Note {
			r.Requests = append(r.Requests, request(f))
		}
	}
	r.Verdict = verdict(found, failing)
	if len(in.Files) == 0 {
		r.Verdict = loop.NeedsFix
		r.Warnings = append(r.Warnings, "the diff names no file: nothing was reviewed")
	}
	r.Effective = loop.EffectiveVerdict(r.Verdict, r.Findings, len(failing) > 0)
	r.Approved = r.Effective.Passed()
	r.Summary = summary(in, found, failing)
	return r
}

// uniqueID numbers the findings that differ in their line only.
func uniqueID(f loop.Finding, seen map[string]int) string {
	id := loop.FindingID(f)
	seen[id]++
	if n := seen[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// request is a finding in a sentence.
func request(f loop.Finding) string {
	if f.File == "" {
		return f.Issue
	}
	return f.Place() + ": " + f.Issue
}

func verdict(found []loop.Finding, failing []string) loop.Verdict {
	worst := loop.Pass
	for _, f := range found {
		switch f.Severity {
		case loop.Critical:
			return loop.CriticalFail
		case loop.Warning:
			worst = loop.NeedsFix
		case loop.Note:
			if worst == loop.Pass {
				worst = loop.PassWithNotes
			}
		}
	}
	if len(failing) > 0 {
		return loop.NeedsFix
	}
	return worst
}

func summary(in Input, found []loop.Finding, failing []string) string {
	if len(in.Files) == 0 {
		return "nothing to review: the diff names no file"
	}
	counts := map[loop.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
	}
	var parts []string
	for _, p := range []struct {
		severity  loop.Severity
		one, many string
	}{{loop.Critical, "critical", "critical"}, {loop.Warning, "warning", "warnings"}, {loop.Note, "note", "notes"}} {
		if n := counts[p.severity]; n > 0 {
			parts = append(parts, plural(n, p.one, p.many))
		}
	}
	said := "no problem"
	if len(parts) > 0 {
		said = strings.Join(parts, ", ")
	}
	added := 0
	for _, f := range in.Files {
		added += len(f.Added)
	}
	said += fmt.Sprintf(" in %s, %s", plural(len(in.Files), "file", "files"), plural(added, "added line", "added lines"))
	if len(failing) > 0 {
		said += "; failing: " + oneLine(strings.Join(failing, ", "), 200)
	}
	if missing := checksNotRun(in.Checks); len(missing) > 0 {
		said += "; not run: " + oneLine(strings.Join(missing, ", "), 300)
	}
	return said
}

// checksNotRun names the checks that could not be run, and why.
func checksNotRun(results []loop.CheckResult) []string {
	var names []string
	for _, c := range results {
		if c.NotRun != "" {
			names = append(names, c.Name+" ("+c.NotRun+")")
		}
	}
	return names
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
