package builtin

import (
	"regexp"
	"strings"
)

// testHeads are the forms of a line that names a test. Every such line contains the hint.
var testHeads = []struct {
	hint    string
	pattern func() *regexp.Regexp
	listens bool
}{
	{"● ", lazy(`^\s*● (.*)$`), true},                                       // jest
	{"not ok ", lazy(`^\s*not ok \d+ (?:- )?(.*?)(?: # .*)?$`), true},       // TAP
	{"FAIL ", lazy(`^\s*FAIL +(\S+\.\w+ (?:> |\[ ).*?)(?: \d+ms)?$`), true}, // vitest
	{"___ ", lazy(`^_{3,} (\S.*?) _{3,}$`), false},                          // pytest
	{": ", lazy(`^(?:FAIL|ERROR): (\w+) \([\w.]+\)$`), false},               // unittest
}

// Numbered lists are lists of tests only after such a line: mocha, RSpec, PHPUnit.
var (
	numberedHead = lazy(`^\s{0,4}\d+\) (\S.*)$`)
	numberedList = lazy(`^\s*\d+ failing$|^Failures:$|^There (?:was|were) \d+ (?:failures?|errors?):$`)
)

var (
	pytestResult = lazy(`^(?:FAILED|ERROR) (\S+?)::(\S+)(?: - (.*))?$`)
	testsEnd     = lazy(
		`^\s*(?:=+ |Test Suites?:|Tests:|Test Files |Ran \d+ test|\d+ (?:passing|failing|passed|failed)\b|failures:$|test result:|FAILED \(|ok \d+|\d+\.\.\d+$|# )|^> \S+@`)
	noMessage = lazy(
		`^\s*(?:>?\s*\d+ ?\||\||at |❯ |---$|\.\.\.$|\^+$|[-+] (?:Expected|Received)\b|\+ expected - actual$|(?:duration_ms|type|failureType|code|stack|operator|name|error): *(?:[|>]-?|'[^']*'|[\d.]+)?$)`)
)

// testLine reads a line that names a test, or that ends the output about one.
func (p *placed) testLine(line string) bool {
	for _, head := range testHeads {
		if !strings.Contains(line, head.hint) {
			continue
		}
		if m := head.pattern().FindStringSubmatch(line); m != nil {
			p.startTest(m[1], head.listens)
			return true
		}
	}
	if m := p.numberedTest(line); m != nil {
		p.startTest(m[1], true)
		return true
	}
	if strings.Contains(line, "::") {
		if m := pytestResult().FindStringSubmatch(line); m != nil {
			p.endTest()
			p.result(strings.ReplaceAll(m[2], "::", "."), m[1], m[3])
			return true
		}
	}
	if p.test != nil && testsEnd().MatchString(line) {
		p.endTest()
	}
	return false
}

// numberedTest matches an entry of a numbered list of tests.
func (p *placed) numberedTest(line string) []string {
	if p.numbered {
		return numberedHead().FindStringSubmatch(line)
	}
	hinted := strings.Contains(line, " failing") || strings.HasPrefix(line, "Failures:") ||
		strings.HasPrefix(line, "There w")
	p.numbered = hinted && numberedList().MatchString(line)
	return nil
}

// startTest begins a test. If listens is set, its message consists of the lines that have no
// other meaning.
func (p *placed) startTest(name string, listens bool) {
	p.endTest()
	p.header, p.soft, p.detail = "", false, false
	if name == "Console" { // jest's heading for what a test printed
		return
	}
	p.test = &test{failure: failure{test: strings.TrimSpace(name), at: p.n}, listens: listens, numbered: p.numbered}
}

// endTest stores the current test.
func (p *placed) endTest() {
	t := p.test
	if t == nil {
		return
	}
	p.test = nil
	if t.msg == "" {
		t.msg = strings.Join(t.heard, " ")
	}
	if t.msg == "" && p.detail {
		t.msg = p.header
	}
	p.header, p.detail = "", false
	p.list = append(p.list, t.failure)
}

// result reads a line of pytest's summary, which in some styles is the only line about a
// test.
func (p *placed) result(name, file, msg string) {
	f := failure{test: name, msg: msg, at: p.n}
	f.file, _ = p.at.find(file)
	for i := range p.list {
		known := &p.list[i]
		if known.test == "" && known.file == f.file {
			known.test = name
		}
		if known.test == name {
			return
		}
	}
	p.list = append(p.list, f)
}
