package builtin

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

var (
	stubWords = lazy(
		`(?i)^\W*(?:todo\b|fixme\b|(?:this (?:method|function) is )?(?:not (?:yet )?implemented|unimplemented)(?: yet)?\b)`)
	abstractWords = lazy(
		`(?i)\babstract|subclass|overrid|must (?:be )?implement|should (?:be )?implement|derived class|not supported|interface`)
)

// gradeSaysStub warns about an error whose text says that the code is unfinished.
func gradeSaysStub(m lineMatch) reply.Severity {
	arg := stringArgument().FindStringSubmatch(strings.TrimLeft(m.rest, " ("))
	if arg == nil || !stubWords().MatchString(arg[1]) || abstractWords().MatchString(m.line().Text) ||
		nearAbstract(m.lines) {
		return ""
	}
	return reply.Warning
}

// gradePython warns about NotImplementedError only with such a text or in a top-level
// function, because methods of base classes raise it by custom.
func gradePython(m lineMatch) reply.Severity {
	if abstractWords().MatchString(m.line().Text) || nearAbstract(m.lines) {
		return ""
	}
	arg := stringArgument().FindStringSubmatch(strings.TrimPrefix(m.rest, "("))
	if arg != nil && stubWords().MatchString(arg[1]) {
		return reply.Warning
	}
	code := m.line().code
	after := strings.TrimSpace(code[len(code)-len(m.rest):])
	switch {
	case after != "" && after != "()":
		return ""
	case isTopLevelBody(m.lines):
		return reply.Warning
	}
	return reply.Note
}

func nearAbstract(lines []codeLine) bool {
	return slices.ContainsFunc(lines[max(0, len(lines)-10):], func(l codeLine) bool {
		return strings.Contains(strings.ToLower(l.code), "abstract")
	})
}

// isTopLevelBody reports whether the last line is in a function outside of a class.
func isTopLevelBody(lines []codeLine) bool {
	return slices.ContainsFunc(lines[max(0, len(lines)-8):len(lines)-1], func(l codeLine) bool {
		return hasAnyPrefix(l.code, "def ", "async def ")
	})
}

var (
	workMarker = lazy(`^[\s/*#;!<%-]*@?(TODO|FIXME|XXX|HACK)\b(\([^)]*\))?(?:\s*$|:|\s+[-–]?\s*\S)`)
	workInline = lazy(`\b(TODO|FIXME|XXX|HACK)(\([^)]*\))?:`)
	trackedRef = lazy(`#\d+|\b[A-Z]{2,10}-\d+\b|https?://`)
	stubReturn = lazy(
		`(?i)^[\s/*#-]*(?:(?:just )?a?\s*(?:stub|dummy|placeholder)|not (?:yet )?implemented|implement me)(?:\s+(?:value|for now|yet))?[.!]*\s*$`)
)

var workWords = []string{"TODO", "FIXME", "XXX", "HACK"}

// workComments finds TODO comments and the like in added lines.
func workComments(f File, k kind, lines []codeLine) []reply.Finding {
	var found []reply.Finding
	for _, l := range lines {
		if !l.added || len(l.Text) > maxCodeLine || strings.TrimSpace(l.comment) == "" {
			continue
		}
		if !strings.Contains(l.code, "return") && !prose.ContainsAny(l.comment, workWords) {
			continue
		}
		severity, issue := workComment(l)
		if severity == "" {
			continue
		}
		if k.fixture {
			severity = reply.Note
		}
		found = append(found, reply.Finding{Severity: severity, File: f.Path, Line: l.Number, Issue: issue,
			Fix: "finish it, or point to where it is tracked", Rule: "stub"})
	}
	return found
}

func workComment(l codeLine) (reply.Severity, string) {
	if strings.Contains(l.code, "return") && stubReturn().MatchString(l.comment) {
		return reply.Warning, "the returned value is a stub"
	}
	mark := workMarker().FindStringSubmatch(l.comment)
	if mark == nil {
		mark = workInline().FindStringSubmatch(l.comment)
	}
	if mark == nil {
		return "", ""
	}
	word, owner := mark[1], mark[2]
	tracked := owner != "" || trackedRef().MatchString(l.comment)
	if (word == "FIXME" || word == "XXX") && !tracked {
		return reply.Warning, "a " + word + " comment is added"
	}
	return reply.Note, "a " + word + " comment is added"
}

var laterWords = lazy(`(?i)^\W*(?:todo|fixme|wip|broken|temporar(?:y|ily))\b(\([^)]+\))?`)

// gradeGoSkip warns about tests that are skipped until somebody repairs them, but not about
// those that do not fit the machine.
func gradeGoSkip(m lineMatch) reply.Severity {
	arg := stringArgument().FindStringSubmatch(m.rest)
	if arg == nil {
		return ""
	}
	later := laterWords().FindStringSubmatch(arg[1])
	switch {
	case later == nil:
		return ""
	case later[1] != "" || trackedRef().MatchString(m.line().Text):
		return reply.Note
	}
	return reply.Warning
}

// gradeUnsaid notes a skip without a reason: such tests often need a special machine.
func gradeUnsaid(lineMatch) reply.Severity { return reply.Note }

// gradeSkip lowers a skip to a note if the line refers to where it is tracked.
func gradeSkip(m lineMatch) reply.Severity {
	if trackedRef().MatchString(m.line().comment) {
		return reply.Note
	}
	return reply.Warning
}

// placeholderText finds lorem ipsum in code and pages, comments and strings included.
func placeholderText(f File, k kind) []reply.Finding {
	words := "lorem" + " ipsum"
	n, first := count(f.Added, func(l Line) bool { return strings.Contains(strings.ToLower(l.Text), words) })
	if n == 0 || k.fixture {
		return nil
	}
	return []reply.Finding{{Severity: reply.Note, File: f.Path, Line: first, Issue: "placeholder text",
		Fix: "write the real text", Rule: "stub"}}
}
