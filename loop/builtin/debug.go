package builtin

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/syntax"
)

// lineRule matches one line of code. Its pattern sees the line with strings and comments
// blanked.
type lineRule struct {
	pattern *regexp.Regexp
	issue   string
	fix     string
	// grade decides the severity from the raw text after the match and the lines so far; ""
	// means no finding. Nil means a warning.
	grade func(m lineMatch) reply.Severity
}

// ruleSet holds the rules of one language. Only lines that contain one of the words are
// matched with the patterns.
type ruleSet struct {
	words []string
	rules []lineRule
}

type lineMatch struct {
	file  File
	lines []codeLine // up to and including the matching line
	rest  string     // raw text after the match
	start int        // offset of the match in the line
}

func (m lineMatch) line() codeLine { return m.lines[len(m.lines)-1] }

// maxCodeLine is the length in bytes above which a line is taken for data or minified code.
const maxCodeLine = 1000

// lineRules applies the rules to the added lines; each line gives at most one finding per rule name.
func lineRules(rule string, set ruleSet, f File, k kind, lines []codeLine) []reply.Finding {
	var found []reply.Finding
	for i, l := range lines {
		if !l.added || len(l.Text) > maxCodeLine || !containsAny(l.code, set.words) {
			continue
		}
		for _, r := range set.rules {
			at := r.pattern.FindStringIndex(l.code)
			if at == nil {
				continue
			}
			severity := reply.Warning
			if r.grade != nil {
				severity = r.grade(lineMatch{file: f, lines: lines[:i+1], rest: l.Text[at[1]:], start: at[0]})
			}
			if severity == "" {
				continue
			}
			if k.fixture && rule != "focused-test" && rule != "skipped-test" {
				severity = reply.Note
			}
			found = append(found, reply.Finding{Severity: severity, File: f.Path, Line: l.Number, Issue: r.issue, Fix: r.fix,
				Rule: rule})
			break
		}
	}
	return found
}

// debugRules returns the rules for debugging code, by language id.
var debugRules = sync.OnceValue(func() map[string]ruleSet {
	prints := func(pattern string) lineRule {
		return lineRule{regexp.MustCompile(pattern), "a debug print was left in", "remove it, or log it on purpose",
			gradePrint}
	}
	stops := func(pattern, what string) lineRule {
		return lineRule{pattern: regexp.MustCompile(pattern), issue: what + " was left in", fix: "remove it"}
	}
	return map[string]ruleSet{
		"go": {[]string{"rint", "Dump", "Breakpoint"}, []lineRule{
			{regexp.MustCompile(`^\s*print(?:ln)?\(`), goPrint, "remove it, or log it on purpose", nil},
			stops(`\bspew\.Dump\(`, "a dump of a value"),
			stops(`\bruntime\.Breakpoint\(\)`, "a breakpoint"),
			{regexp.MustCompile(`\bdebug\.PrintStack\(\)`), "a debug print of the stack was left in", "remove it",
				gradePrintStack},
			prints(`\b(?:fmt\.(?:Print(?:ln|f)?|Fprint(?:ln|f)?\(os\.Std(?:err|out),\s*)|log\.Print(?:ln|f)?)`),
		}},
		"js": {[]string{"console", "debugger"}, []lineRule{
			{regexp.MustCompile(`(?:^|[^.\w$])console\.(?:log|debug|trace)\(`), "a debug print was left in",
				"remove it, or use the project's logger", gradeConsole},
			stops(`(?:^|[;{])\s*debugger\s*(?:;|$)`, "a breakpoint"),
		}},
		"python": {[]string{"breakpoint", "pdb", "pudb", "print"}, []lineRule{
			stops(`^\s*breakpoint\(\)|\b(?:i?pdb|pudb)\.set_trace\(|^\s*(?:import|from)\s+(?:ipdb|pudb)\b|^\s*import\s+pdb\b`,
				"a breakpoint"),
			prints(`^\s*print\(`),
		}},
		"ruby": {[]string{"binding", "byebug", "debugger", "p"}, []lineRule{
			stops(`\bbinding\.(?:pry|irb)\b|^\s*(?:byebug|debugger)\s*$`, "a breakpoint"),
			prints(`^\s*(?:puts|p|pp)\b`),
		}},
		"rust": {[]string{"dbg!", "println"}, []lineRule{stops(`\bdbg!\(`, "a debug macro"), prints(`\be?println!\(`)}},
		"php": {[]string{"dump", "dd", "echo", "print"},
			[]lineRule{stops(`(?:^|[;{}(]|\s)(?:var_dump|dd|ddd)\(`, "a dump of a value"), prints(`^\s*(?:echo|print)\b`)}},
		"elixir": {[]string{"IEx", "IO"}, []lineRule{stops(`\bIEx\.pry\b`, "a breakpoint"), prints(`\bIO\.puts\(`)}},
		"java": {[]string{"rint"}, []lineRule{
			stops(`\.printStackTrace\(\)`, "a print of the stack"),
			prints(`\bSystem\.(?:out|err)\.print(?:ln|f)?\(|^\s*println\(`),
		}},
		"csharp": {[]string{"Debugger", "Console"},
			[]lineRule{stops(`\bDebugger\.Break\(\)`, "a breakpoint"), prints(`\bConsole\.Write(?:Line)?\(`)}},
		"swift": {[]string{"print"}, []lineRule{prints(`^\s*print\(`)}},
		"dart":  {[]string{"print"}, []lineRule{prints(`^\s*print\(`)}},
		"c": {[]string{"printf", "puts", "NSLog", "cout", "cerr"},
			[]lineRule{prints(`\b(?:f?printf|puts|NSLog)\((?:\s*stderr\s*,)?|\b(?:std::)?(?:cout|cerr)\s*<<`)}},
		"shell": {[]string{"set"},
			[]lineRule{{regexp.MustCompile(`^\s*set\s+-[a-wyz]*x[a-z]*\b`), "tracing (set -x) was switched on", "remove it",
				func(m lineMatch) reply.Severity {
					if m.line().Number <= 10 {
						return ""
					}
					return reply.Note
				}}}},
	}
})

// debugLines finds forgotten debugging statements.
func debugLines(f File, k kind, lang *syntax.Language, lines []codeLine) []reply.Finding {
	if strings.Contains(strings.ToLower(f.Path), "debug") {
		return nil
	}
	found := lineRules("debug", debugRules()[lang.ID], f, k, lines)
	builtIn := func(found reply.Finding) bool { return found.Issue == goPrint }
	defines := func(l codeLine) bool { return ownPrint().MatchString(l.code) }
	if slices.ContainsFunc(found, builtIn) && slices.ContainsFunc(lines, defines) {
		found = slices.DeleteFunc(found, builtIn)
	}
	return found
}

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

// goPrint is the finding for Go's print, unless the diff shows the package's own print function.
const goPrint = "the built-in print was left in"

var ownPrint = lazy(`\bfunc print(?:ln)?\(|\bprint(?:ln)?\s*:?=|\bprint(?:ln)?\s+func\b`)

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
	if script || isUnderScripts(m.file.Path) || guarded().MatchString(m.line().code[:m.start]) {
		return ""
	}
	arg := stringArgument().FindStringSubmatch(m.rest)
	if arg != nil && !debugWords().MatchString(arg[1]) && programTalk().MatchString(arg[1]) {
		return reply.Note
	}
	return reply.Warning
}
