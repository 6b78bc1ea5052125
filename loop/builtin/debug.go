package builtin

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
)

var (
	stringArgument = lazy(`^\(?\s*@?[frbFL$]{0,2}["'` + "`" + `]([^"'` + "`" + `]*)`)
	debugWords     = lazy(
		`^\s*(?:DEBUG\b|(?i:debug(?:ging)?)\s*(?:[:=>-]|$)|(?i:(?:xxx+|here\d*|got here|wtf|asdf+|aaa+|foo+|!!!+)\b?[\s!.:]*)(?:\\n)?$|(?:XXX+|WTF)\b|>>>+\s*[^\s\\]|\*{3,}\s*(?i:debug|here))`)
)

// gradePrint warns about a print whose text says that it is for debugging. Other prints may
// be the purpose of the program.
func gradePrint(m lineMatch) reply.Severity {
	arg := stringArgument().FindStringSubmatch(m.rest)
	if arg == nil || !debugWords().MatchString(arg[1]) {
		return ""
	}
	return reply.Warning
}

// gradeBuiltInPrint warns about Go's print, unless the diff shows the package's own print function.
func gradeBuiltInPrint(m lineMatch) reply.Severity {
	if slices.ContainsFunc(m.shown, func(l codeLine) bool { return ownPrint().MatchString(l.code) }) {
		return ""
	}
	return reply.Warning
}

var ownPrint = lazy(`\bfunc print(?:ln)?\(|\bprint(?:ln)?\s*:?=|\bprint(?:ln)?\s+func\b`)

// gradeTracing accepts tracing in the first lines of a script, which is there on purpose.
func gradeTracing(m lineMatch) reply.Severity {
	if m.line().Number <= 10 {
		return ""
	}
	return reply.Note
}

// gradePrintStack accepts a print of the stack in the handler of a panic.
func gradePrintStack(m lineMatch) reply.Severity {
	recovers := func(l codeLine) bool { return strings.Contains(l.code, "recover()") }
	if slices.ContainsFunc(m.lines[max(0, len(m.lines)-8):], recovers) {
		return ""
	}
	return reply.Warning
}

var (
	guarded     = lazy(`(?i)\b\w*(?:debug|verbose|is_?dev|__dev__|trace|quiet|silent)\w*\b`)
	programTalk = lazy(
		`(?i)\b(?:listening|started|starting|running|ready|usage|server|connected|shutting|stopped|done|completed?|finished|success\w*|version|loaded|generated|built|created|wrote|written)\b|https?://`)
)

// gradeConsole warns about console.log, except in scripts and loggers, which print on
// purpose, and behind a debug condition. A line about the program's own state gets a note.
func gradeConsole(m lineMatch) reply.Severity {
	script := m.lines[0].Number == 1 && strings.HasPrefix(m.lines[0].Text, "#!")
	if script || isA(m.file.Path, "prints") || guarded().MatchString(m.line().code[:m.start]) {
		return ""
	}
	arg := stringArgument().FindStringSubmatch(m.rest)
	if arg != nil && !debugWords().MatchString(arg[1]) && programTalk().MatchString(arg[1]) {
		return reply.Note
	}
	return reply.Warning
}
