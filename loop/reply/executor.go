package reply

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// ParseExecutor reads an implementer's structured answer: a heading such as "## SUBTASK
// COMPLETE" and sections below it. All of it is a claim only.
func ParseExecutor(text string) ExecutorReport {
	log := &markdown.Warnings{}
	text, _ = markdown.Clean(text, log)
	report := ExecutorReport{Files: []string{}}
	if strings.TrimSpace(text) == "" {
		log.Add("empty answer")
		report.Status, report.Warnings = ExecutorUnknown, log.All()
		return report
	}
	md := markdown.Read(text)
	report.Status = executorStatus(md, log)
	report.Files = claimedFiles(md, log)
	report.Verification = verificationIn(md)
	report.Reason = reasonIn(md)
	report.Warnings = log.All()
	return report
}

// verificationIn returns the implementer's account of its verification: the text below
// "### Verification Results" or "### Artifact Self-Check", "" if there is none.
func verificationIn(md markdown.Text) string {
	var parts []string
	for _, s := range md.Sections(titled("verification results", "artifact self-check"), true) {
		if text := md.Text(s); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// executorStatus returns the status of the last such heading, unless its status line says
// that the work failed.
func executorStatus(md markdown.Text, log *markdown.Warnings) ExecutorStatus {
	status, stated := ExecutorUnknown, ""
	headings := 0
	for _, l := range md.Lines {
		if s, ok := statusHeading(l); ok {
			if status = s; headings > 0 {
				stated = ""
			}
			headings++
		} else if s, ok := statusLine(l); ok {
			stated = s
		}
	}
	switch stated {
	case "failed":
		return ExecutorFailed
	case "partial":
		log.Add("status partial: taken as failed")
		return ExecutorFailed
	case "blocked":
		if status == ExecutorCheckpoint {
			return status
		}
		log.Add("status blocked without a checkpoint: taken as failed")
		return ExecutorFailed
	}
	if status == ExecutorUnknown {
		log.Add("no status could be read: expected a heading such as \"## SUBTASK COMPLETE\" or \"## SUBTASK FAILED\"")
	}
	return status
}

// statusHeadings are the headings for the end of an implementer's work.
var statusHeadings = map[string]ExecutorStatus{
	"SUBTASK COMPLETE": ExecutorComplete, "TASK COMPLETE": ExecutorComplete, "EXECUTION COMPLETE": ExecutorComplete,
	"SUBTASK COMPLETED": ExecutorComplete, "TASK COMPLETED": ExecutorComplete, "EXECUTION COMPLETED": ExecutorComplete,
	"SUBTASK FAILED": ExecutorFailed, "TASK FAILED": ExecutorFailed, "EXECUTION FAILED": ExecutorFailed,
	"CHECKPOINT REACHED": ExecutorCheckpoint,
}

// statusHeading reads a heading of any level, a line in bold alone, or a bare line in
// capitals.
func statusHeading(l markdown.Line) (ExecutorStatus, bool) {
	level, title := l.HeadingOrBold()
	if level == 0 {
		status, ok := statusHeadings[strings.TrimRight(markdown.TrimDecor(l.Text), ".:!")]
		return status, ok && isSaid(l)
	}
	words := strings.Fields(title)
	if len(words) < 2 || strings.Contains(title, "|") || strings.Contains(strings.ToLower(title), " or ") {
		return "", false // the last two are a template
	}
	second := strings.TrimRightFunc(words[1], func(r rune) bool { return !unicode.IsLetter(r) })
	pair := words[0] + " " + second
	status, ok := statusHeadings[strings.ToUpper(pair)]
	// a word behind it in lower case makes it a sentence: "Task complete the form"
	return status, ok && (pair == strings.ToUpper(pair) || second != words[1] || len(words) == 2 ||
		strings.IndexFunc(words[2], unicode.IsLetter) != 0)
}

// isSaid reports whether a line is the implementer's own words and not indented as code is.
func isSaid(l markdown.Line) bool {
	return l.Kind == markdown.LineText && markdown.IndentOf(l.Text) <= 3
}

// statusLine reads "**Status:** failed".
func statusLine(l markdown.Line) (string, bool) {
	_, _, listed := markdown.CutBullet(l.Text)
	value, _ := markdown.CutLabel(markdown.Labelled(l.Text), "status")
	words := prose.Words(value)
	if !isSaid(l) || listed && !strings.Contains(l.Text, "**") || len(words) == 0 || isTemplate(value) {
		return "", false
	}
	switch words[0] {
	case "fail", "failure", "error":
		return "failed", true
	case "partially", "incomplete":
		return "partial", true
	}
	return words[0], true
}

// claimedFiles returns the paths in the sections about files, each once, in their order.
func claimedFiles(md markdown.Text, log *markdown.Warnings) []string {
	files := []string{}
	seen := map[string]bool{}
	for _, s := range md.Sections(isFilesTitle, true) {
		for _, claim := range append(inlineClaims(s.Title), claimsIn(md, s)...) {
			if why := place.Unsafe(claim); why != "" {
				log.Add(fmt.Sprintf("claimed file %q was dropped: %s", prose.Cut(claim, 200), why))
				continue
			}
			if file := path.Clean(claim); !seen[file] {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files
}

// titled returns a function that reports whether a title is one of titles: see markdown.TitleIs.
func titled(titles ...string) func(string) bool {
	return func(title string) bool { return markdown.TitleIs(title, titles...) }
}

var isFilesTitle = titled(
	"files modified", "files changed", "files created", "files added", "files deleted", "files removed", "files renamed",
	"modified files", "changed files", "created files", "new files", "deleted files")

// inlineClaims returns the paths in the title itself: "Files Modified: a.go, b.go".
func inlineClaims(title string) []string {
	_, list, _ := strings.Cut(title, ":")
	if strings.Count(list, "`")%2 == 1 {
		list += "`" // it was trimmed from the title as decoration
	}
	return pathsIn(list, false)
}

// claimsIn returns the paths in the lines of a section. A line in a fence is git status
// output and always a path; other lines must look like one.
func claimsIn(md markdown.Text, s markdown.Section) []string {
	var claims []string
	for _, l := range md.Lines[s.From:s.To] {
		level, _ := l.HeadingOrBold()
		switch {
		case l.Blank() || level > 0:
		case l.Kind == markdown.LineCode:
			claims = append(claims, pathsIn(l.Text, true)...)
		case l.Kind == markdown.LineText:
			_, item, listed := markdown.CutBullet(l.Text)
			if !listed {
				item = strings.TrimPrefix(item, "+") // git's sign for an added line
			}
			claims = append(claims, pathsIn(item, false)...)
		}
	}
	return claims
}
