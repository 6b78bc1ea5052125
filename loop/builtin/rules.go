package builtin

import (
	_ "embed" // rules.toml
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/syntax"
)

//go:embed rules.toml
var rulesTOML string

// lineRule is a rule of rules.toml for one language.
type lineRule struct {
	name, issue, fix string
	words            []string
	any              bool  // it sees the whole line
	grade            grade // nil: a match is a warning
	pattern          func() *regexp.Regexp
}

// grade decides the severity of a match; "" means no finding.
type grade func(lineMatch) reply.Severity

// table is the content of rules.toml, which is read at its first use.
var table = sync.OnceValue(func() (t struct {
	Paths     map[string]string
	Manifests map[string]manifest
	Rules     []struct {
		Name, Issue, Fix, Grade string
		Words                   []string
		Patterns                map[string]string
	}
}) {
	if _, err := toml.Decode(rulesTOML, &t); err != nil {
		panic("rules.toml: " + err.Error()) // a test loads the file
	}
	return t
})

// lineRules returns the rules by the language's id.
var lineRules = sync.OnceValue(func() map[string][]lineRule {
	grades := map[string]grade{
		"built-in print": gradeBuiltInPrint, "print": gradePrint, "print of the stack": gradePrintStack,
		"console": gradeConsole, "tracing": gradeTracing,
		"says so": gradeSaysStub, "NotImplementedError": gradePython, "text": gradeText, "sql": gradeSQL,
		"skip": gradeSkip, "skip with a reason": gradeGoSkip, "skip without a reason": gradeUnsaid,
	}
	rules := map[string][]lineRule{}
	for _, r := range table().Rules {
		for id, pattern := range r.Patterns {
			rule := lineRule{r.Name, r.Issue, r.Fix, r.Words, id == "any", grades[r.Grade], lazy(pattern)}
			rules[id] = append(rules[id], rule)
		}
	}
	return rules
})

type lineMatch struct {
	file  File
	lang  *syntax.Language
	shown []codeLine // all lines that the diff shows
	lines []codeLine // up to and including the matching line
	rest  string     // raw text after the match
	start int        // offset of the match in the line
}

func (m lineMatch) line() codeLine { return m.lines[len(m.lines)-1] }

// maxCodeLine is the length in bytes above which a line is taken for data or minified code.
const maxCodeLine = 1000

// matchLines applies the rules to the added lines; each line gives at most one finding per rule name.
func matchLines(f File, k kind, lang *syntax.Language, lines []codeLine) []reply.Finding {
	if lang.ID == "" {
		return nil
	}
	inDebugger := strings.Contains(strings.ToLower(f.Path), "debug")
	rules := slices.Concat(lineRules()[lang.ID], lineRules()["any"])
	var found []reply.Finding
	for i, l := range lines {
		if !l.added || len(l.Text) > maxCodeLine {
			continue
		}
		name := ""
		for _, r := range rules {
			text := l.code
			if r.any {
				text = l.Text
			}
			if r.name == name || !prose.ContainsAny(text, r.words) || r.name == "debug" && inDebugger {
				continue
			}
			at := r.pattern().FindStringIndex(text)
			if at == nil {
				continue
			}
			severity := reply.Warning
			if r.grade != nil {
				severity = r.grade(lineMatch{file: f, lang: lang, shown: lines, lines: lines[:i+1], rest: l.Text[at[1]:],
					start: at[0]})
			}
			if severity == "" {
				continue
			}
			if k.fixture && r.name != "focused-test" && r.name != "skipped-test" {
				severity = reply.Note
			}
			found = append(found, reply.Finding{Severity: severity, File: f.Path, Line: l.Number, Issue: r.issue, Fix: r.fix,
				Rule: r.name})
			name = r.name
		}
	}
	return found
}
