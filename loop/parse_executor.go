package loop

import (
	"fmt"
	"git-runr/loop/prose"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseExecutor reads an implementer's structured return (seed 004: SUBTASK
// COMPLETE and its relatives). Nothing in it is more than a claim.
func ParseExecutor(text string) ExecutorReport {
	log := &parseLog{}
	text, _ = cleanInput(text, log)
	report := ExecutorReport{Files: []string{}}
	if strings.TrimSpace(text) == "" {
		log.add("empty answer")
		report.Status, report.Warnings = ExecutorUnknown, log.all()
		return report
	}
	md := readMarkdown(text)
	report.Status = executorStatus(md, log)
	report.Files = claimedFiles(md, log)
	report.Verification = verificationIn(md)
	if report.Status == ExecutorFailed || report.Status == ExecutorCheckpoint {
		report.Reason = reasonIn(md)
	}
	report.Warnings = log.all()
	return report
}

// verification is what an implementer says of its own verification: the text below
// "### Verification Results" or "### Artifact Self-Check", "" when there is none.
func verificationIn(md mdText) string {
	var parts []string
	for _, s := range md.sections(func(title string) bool { return titleIs(title, "verification results", "artifact self-check") }, true) {
		if text := md.text(s); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// executorStatus is what the last heading says, unless the status line that belongs
// to it says that the work did not succeed.
func executorStatus(md mdText, log *parseLog) ExecutorStatus {
	status, stated := ExecutorUnknown, ""
	headings := 0
	for _, l := range md.lines {
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
		log.add("status partial: taken as failed")
		return ExecutorFailed
	case "blocked":
		if status == ExecutorCheckpoint {
			return status
		}
		log.add("status blocked without a checkpoint: taken as failed")
		return ExecutorFailed
	}
	if status == ExecutorUnknown {
		log.add("no status could be read: expected a heading such as \"## SUBTASK COMPLETE\" or \"## SUBTASK FAILED\"")
	}
	return status
}

// statusHeadings are the headings by which an implementer says how it ended.
var statusHeadings = map[string]ExecutorStatus{
	"SUBTASK COMPLETE": ExecutorComplete, "TASK COMPLETE": ExecutorComplete, "EXECUTION COMPLETE": ExecutorComplete,
	"SUBTASK COMPLETED": ExecutorComplete, "TASK COMPLETED": ExecutorComplete, "EXECUTION COMPLETED": ExecutorComplete,
	"SUBTASK FAILED": ExecutorFailed, "TASK FAILED": ExecutorFailed, "EXECUTION FAILED": ExecutorFailed,
	"CHECKPOINT REACHED": ExecutorCheckpoint,
}

// statusHeading reads a heading of any level, a line in bold alone, or a bare line
// in capitals.
func statusHeading(l mdLine) (ExecutorStatus, bool) {
	level, title := l.headingOrBold()
	if level == 0 {
		if l.kind != lineText || indentOf(l.text) > 3 {
			return "", false
		}
		status, ok := statusHeadings[strings.TrimRight(trimDecor(l.text), ".:!")]
		return status, ok
	}
	words := strings.Fields(title)
	if len(words) < 2 || strings.Contains(title, "|") || strings.Contains(strings.ToLower(title), " or ") {
		return "", false // the last two are a template
	}
	second := strings.TrimRightFunc(words[1], func(r rune) bool { return !unicode.IsLetter(r) })
	pair := words[0] + " " + second
	status, ok := statusHeadings[strings.ToUpper(pair)]
	return status, ok && (pair == strings.ToUpper(pair) || second != words[1] || len(words) == 2 || !startsWord(words[2]))
}

// startsWord: "Task complete the form" is a sentence, "Task complete - form" a heading.
func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// statusLine reads "**Status:** failed".
func statusLine(l mdLine) (string, bool) {
	if l.kind != lineText || indentOf(l.text) > 3 {
		return "", false
	}
	if _, _, listed := cutBullet(l.text); listed && !strings.Contains(l.text, "**") {
		return "", false
	}
	value, ok := cutLabel(labelled(l.text), "status")
	if !ok {
		return "", false
	}
	words := strings.Fields(requestKey(value))
	if len(words) == 0 || isTemplate(value) || isStatusTemplate(value) {
		return "", false
	}
	return statusWord(words[0]), true
}

func statusWord(word string) string {
	switch word {
	case "failed", "fail", "failure", "error":
		return "failed"
	case "partial", "partially", "incomplete":
		return "partial"
	}
	return word
}

func isStatusTemplate(value string) bool {
	return alternatives(value, func(part string) bool {
		switch statusWord(requestKey(part)) {
		case "passed", "failed", "partial", "blocked":
			return true
		}
		return false
	})
}

// claimedFiles are the paths in the sections of files, each once, in their order.
func claimedFiles(md mdText, log *parseLog) []string {
	files := []string{}
	seen := map[string]bool{}
	for _, s := range md.sections(isFilesTitle, true) {
		for _, claim := range append(inlineClaims(s.title), claimsIn(md, s)...) {
			if why := unsafePath(claim); why != "" {
				log.add(fmt.Sprintf("claimed file %q was dropped: %s", prose.Cut(claim, 200), why))
				continue
			}
			if file := cleanPath(claim); !seen[file] {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files
}

func isFilesTitle(title string) bool {
	return titleIs(title,
		"files modified", "files changed", "files created", "files added", "files deleted", "files removed", "files renamed",
		"modified files", "changed files", "created files", "new files", "deleted files")
}

// inlineClaims are the paths in a title that goes on: "Files Modified: a.go, b.go".
func inlineClaims(title string) []string {
	_, list, _ := strings.Cut(title, ":")
	if strings.Count(list, "`")%2 == 1 {
		list += "`" // which the title lost as decoration
	}
	return pathsIn(list, false)
}

// claims are the paths that the lines of a section name. A line in a fence is one,
// as it comes from git status; elsewhere a line has to look like one.
func claimsIn(md mdText, s mdSection) []string {
	var claims []string
	for _, l := range md.lines[s.from:s.to] {
		level, _ := l.headingOrBold()
		switch {
		case l.blank() || level > 0:
		case l.kind == lineCode:
			claims = append(claims, pathsIn(l.text, true)...)
		case l.kind == lineText:
			_, item, listed := cutBullet(l.text)
			if !listed && strings.HasPrefix(item, "**") && strings.Contains(item, ":") {
				continue // another field: "**Issues:** a.go is slow"
			}
			if !listed {
				item = strings.TrimPrefix(item, "+") // git's sign
			}
			claims = append(claims, pathsIn(item, false)...)
		}
	}
	return claims
}
