package builtin

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

const pathPattern = `((?:[A-Za-z]:)?[^\s:()"'<>|,;\[\]]+)`

// The forms in which tools print a place: path, line, message.
var (
	// gcc, go, mypy, ruff, tsc --pretty
	placeColon   = lazy(`^\s*(?:vet: |error: |ERROR in |\[ERROR\] )?` + pathPattern + `:(\d+)(?::\d+)?(?::|\s+-)\s*(.*)$`)
	placeParens  = lazy(`^\s*` + pathPattern + `\((\d+)(?:,\d+)*\)\s*:\s*(.*)$`) // tsc, msbuild
	placeMaven   = lazy(`^\[ERROR\] ` + pathPattern + `:\[(\d+),\d+\]\s*(.*)$`)
	placeArrow   = lazy(`^\s*--> ` + pathPattern + `:(\d+):\d+$`) // rustc, cargo
	placePanic   = lazy(`^thread '(.*)' (?:\(\d+\) )?panicked at ` + pathPattern + `:(\d+):\d+:$`)
	placeFrame   = lazy(`^\s+(?:at .*?\(?|❯ (?:\S+ )?|location: ')` + pathPattern + `:(\d+):\d+[')]?$`) // node, vitest
	placePython  = lazy(`^\s*File "([^"]+)", line (\d+)`)
	pythonFrame  = lazy(`^in [\w.<>]+$`)
	placeFile    = lazy(`^(\S+\.\w+)$`) // eslint: the file on a line of its own
	placeStylish = lazy(`^\s+(\d+):\d+\s+(error|warning)\s+(.*?)\s*$`)
	rustHeader   = lazy(`^(error|warning)(?:\[E\d+\])?: (.*)$`)
	pytestError  = lazy(`^E\s+(.*)$`)
	pythonError  = lazy(`^(\w+(?:\.\w+)*(?:Error|Exception|Failure)\b.*)$`)
	softWord     = lazy(`(?i)^(?:warning|info|hint|style|convention|note|remark)\b`)
	noteWord     = lazy(`(?i)^(?:note|info|hint|remark|help)\b|^in (?:file|function|member)`)
)

// placed reads the output of compilers, linters and test runners line by line.
type placed struct {
	at       *places
	n        int      // current line, from 0
	test     *test    // the test that the lines are about; nil: none
	numbered bool     // numbered lists are lists of tests
	header   string   // the message for a place on a later line
	headerAt int      // its line
	soft     bool     // the header is a warning
	detail   bool     // the header is pytest's
	file     string   // file heading of eslint
	fileAt   int      // its line
	python   *failure // the open traceback
	list     []failure
}

func placedFailures(lines []string, at *places) []failure {
	p := &placed{at: at}
	for i, line := range lines {
		if len(line) > 2000 {
			continue
		}
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		p.n = i
		p.line(line, next)
	}
	p.endTest()
	return hardOnes(p.list)
}

func (p *placed) line(line, next string) {
	if goTestMessage().MatchString(line) || goFrame().MatchString(line) {
		return
	}
	if p.testLine(line) || p.heading(line) || p.traceback(line) || p.underFile(line) {
		return
	}
	if m := placePanic().FindStringSubmatch(line); m != nil {
		p.startTest(m[1], false)
		p.add(m[2], m[3], "panic: "+next)
		p.endTest()
		return
	}
	for _, shape := range []func() *regexp.Regexp{placeMaven, placeColon, placeParens} {
		if m := shape().FindStringSubmatch(line); m != nil {
			p.addMessage(m[1], m[2], m[3])
			return
		}
	}
	for _, shape := range []func() *regexp.Regexp{placeArrow, placeFrame} {
		if m := shape().FindStringSubmatch(line); m != nil && (p.header != "" || p.test != nil) {
			p.underHeader(m[1], m[2])
			return
		}
	}
	p.test.hear(line)
}

// heading keeps a message whose place follows. Of several pytest lines the first counts.
func (p *placed) heading(line string) bool {
	if m := rustHeader().FindStringSubmatch(line); m != nil {
		p.header, p.headerAt, p.soft, p.detail = m[2], p.n, m[1] == "warning", false
		return false // gcc and others print "error: path:1: …" as well
	}
	if m := pytestError().FindStringSubmatch(line); m != nil {
		if !p.detail || p.header == "" {
			p.header, p.soft, p.detail = m[1], false, true
		}
		return true
	}
	return false
}

// underHeader adds the place of the header, once.
func (p *placed) underHeader(file, line string) {
	if !p.soft && p.add(file, line, p.header) {
		if p.test == nil {
			p.list[len(p.list)-1].at = p.headerAt
		}
		p.header = ""
	}
	if p.soft {
		p.header = ""
	}
}

// traceback keeps the innermost frame in the tree; the error's name ends the traceback.
func (p *placed) traceback(line string) bool {
	if m := placePython().FindStringSubmatch(line); m != nil {
		if p.python == nil {
			p.python = &failure{at: p.n}
		}
		if file, _ := p.at.find(m[1]); file != "" {
			p.python.file, p.python.line = file, markdown.Number(m[2])
		}
		p.python.name = path.Base(m[1])
		return true
	}
	if m := pythonError().FindStringSubmatch(line); m != nil && p.python != nil {
		p.python.msg = m[1]
		p.keep(*p.python)
		p.python = nil
		return true
	}
	return false
}

// underFile reads eslint's default format: a file, then its problems indented.
func (p *placed) underFile(line string) bool {
	if m := placeStylish().FindStringSubmatch(line); m != nil && p.file != "" {
		p.list = append(p.list, failure{file: p.file, line: markdown.Number(m[1]), msg: m[2] + ": " + m[3],
			name: path.Base(p.file), at: p.fileAt})
		return true
	}
	if m := placeFile().FindStringSubmatch(line); m != nil {
		p.file, _ = p.at.find(m[1])
		p.fileAt = p.n
		return p.file != ""
	}
	return false
}

// addMessage adds a place with its message. In pytest's output the place has only the error's
// name, and the message precedes it.
func (p *placed) addMessage(file, line, msg string) {
	if noteWord().MatchString(msg) {
		return
	}
	if p.test != nil && pythonFrame().MatchString(msg) {
		msg = ""
	}
	if p.header != "" && !strings.Contains(msg, " ") {
		if !strings.HasPrefix(p.header, msg) {
			msg = msg + ": " + p.header
		} else {
			msg = p.header
		}
		p.header = ""
	}
	p.add(file, line, strings.Trim(msg, ": "))
}

func (p *placed) add(name, line, msg string) bool {
	file, source := p.at.find(name)
	n := markdown.Number(line)
	if !source || n == 0 {
		return false
	}
	f := failure{file: file, line: n, msg: msg, name: path.Base(name), foreign: file == "", at: p.n}
	if f.foreign {
		f.line = 0
	}
	p.keep(f)
	return !f.foreign
}

// keep stores f, or adds it to the current test.
func (p *placed) keep(f failure) {
	if p.test != nil {
		p.test.place(f)
		return
	}
	p.list = append(p.list, f)
}

// hardOnes drops the warnings if there are errors: warnings did not make the check fail.
func hardOnes(list []failure) []failure {
	hard := slices.DeleteFunc(slices.Clone(list), func(f failure) bool {
		return f.test == "" && softWord().MatchString(f.msg)
	})
	if len(hard) == 0 {
		return list
	}
	return hard
}

// test is a runner's output about one failed test: a line that names it, then its message and
// its place in either order.
type test struct {
	failure
	listens  bool // its message is on lines of its own
	numbered bool // its name may continue on the next line
	heard    []string
}

// place sets where a test failed, the first place in the tree, and the message that came with
// it.
func (t *test) place(f failure) {
	if t.file == "" && !f.foreign {
		t.file, t.line, t.name = f.file, f.line, f.name
	}
	if t.msg == "" && len(t.heard) == 0 {
		t.msg = f.msg
	}
}

// messageLines is the maximum number of lines in a test's message.
const messageLines = 3

// hear reads a line that may belong to a test's message. The rest of a test's name, as mocha
// prints it, ends in a colon.
func (t *test) hear(line string) {
	text := strings.TrimSpace(line)
	if t != nil && strings.HasPrefix(text, "stack:") { // TAP: the stack follows
		t.listens = false
	}
	if t == nil || !t.listens || text == "" || len(t.heard) == messageLines || noMessage().MatchString(line) {
		return
	}
	if rest, ok := strings.CutSuffix(text, ":"); ok && t.numbered && len(t.heard) == 0 {
		t.test += " " + rest
		return
	}
	t.heard = append(t.heard, text)
}
