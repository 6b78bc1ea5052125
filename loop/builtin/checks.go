package builtin

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"git-runr/loop"
)

// maxPerCheck is how many findings one check gives.
const maxPerCheck = 10

// CheckFailed reports whether a result counts against the change: the check ran,
// failed, and did not fail in the same way on the base. base is nil when it was
// not run there.
func CheckFailed(result loop.CheckResult, base *loop.CheckResult) bool {
	return judgeCheck(result, base, nil).failed()
}

// CheckFindings turns a result into findings with the places that its output
// names: warnings for what failed, notes for what could not run or failed before.
// changed are the paths of the change; a file name in the output that fits one of
// them is taken for it.
func CheckFindings(result loop.CheckResult, base *loop.CheckResult, changed []string) []loop.Finding {
	j := judgeCheck(result, base, changed)
	note := func(text string) loop.Finding { return checkFinding(result.Name, loop.Note, failure{msg: text}) }
	switch {
	case j.notRun != "":
		return []loop.Finding{note("could not run: " + j.notRun)}
	case j.ok:
		return nil
	case j.same:
		return []loop.Finding{note("fails on the base too: " + lastLines(result))}
	}
	shown := ours(j.fresh)
	if len(shown) == 0 {
		return []loop.Finding{checkFinding(result.Name, loop.Warning, failure{msg: "failed: " + lastLines(result)})}
	}
	var found []loop.Finding
	for _, f := range shown[:min(len(shown), maxPerCheck)] {
		found = append(found, checkFinding(result.Name, loop.Warning, f))
	}
	if left := len(shown) - maxPerCheck; left > 0 {
		last := &found[maxPerCheck-1]
		last.Issue += fmt.Sprintf(" (and %d more)", left)
	}
	if j.known > 0 {
		found = append(found, note(plural(j.known, "failure is", "failures are")+" on the base too"))
	}
	return found
}

func checkFinding(name string, severity loop.Severity, f failure) loop.Finding {
	text, _ := RedactSecrets(oneLine(f.text(), 500))
	return loop.Finding{
		Severity: severity, File: f.file, Line: f.line,
		Issue: "check " + oneLine(name, 60) + ": " + text, Rule: "check:" + name,
	}
}

// checkJudgement is what a result means beside the base's.
type checkJudgement struct {
	ok     bool
	notRun string    // why it could not run; empty when it ran
	same   bool      // it failed, in the same way as on the base
	fresh  []failure // failures that the base does not have
	known  int       // failures that the base has as well
}

func (j checkJudgement) failed() bool { return !j.ok && j.notRun == "" && !j.same }

// judgeCheck decides the same whatever the changed paths are: they only name places.
func judgeCheck(result loop.CheckResult, base *loop.CheckResult, changed []string) checkJudgement {
	if result.OK() {
		return checkJudgement{ok: true}
	}
	if reason := notRun(result, base); reason != "" {
		return checkJudgement{notRun: reason}
	}
	now := readFailures(result, changed)
	if base == nil || base.OK() || notRun(*base, nil) != "" {
		return checkJudgement{fresh: now}
	}
	was := readFailures(*base, changed)
	if len(now)+len(was) == 0 {
		return checkJudgement{same: steady(lastLines(result)) == steady(lastLines(*base))}
	}
	j := checkJudgement{fresh: missingFrom(was, now)}
	j.known = len(now) - len(j.fresh)
	j.same = len(j.fresh) == 0 && len(now) > 0
	return j
}

// missingFrom gives the failures of now that was does not have. The same failure
// may stand at another line.
func missingFrom(was, now []failure) []failure {
	seen := map[string]bool{}
	for _, f := range was {
		seen[f.key()] = true
	}
	var fresh []failure
	for _, f := range now {
		if !seen[f.key()] {
			fresh = append(fresh, f)
		}
	}
	return fresh
}

var changingPart = lazy(`0x[0-9a-fA-F]+|[0-9]+`)

// steady removes what differs between two runs of the same failure.
func steady(s string) string {
	return changingPart().ReplaceAllString(strings.Join(strings.Fields(s), " "), "#")
}

// notRunSigns are the words by which a tool says that it lacks something. Those
// that a change can cause itself count only when the base has not passed.
var notRunSigns = []struct {
	pattern   func() *regexp.Regexp
	byMachine bool
}{
	{lazy(`(?m)^(?:go: .*|.*proxy\.golang\.org.*)(?:dial tcp|lookup .*: |no such host|i/o timeout|connection refused|TLS handshake)`), true},
	{lazy(`(?m)^npm (?:ERR!|error) (?:code |network )?(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|network)`), true},
	{lazy(`(?m)Could not resolve host|failed to download from|Temporary failure in name resolution|failed to get .* as a dependency of package`), true},
	{lazy(`(?m)^go: (?:download go\S*|no such tool|go\.mod requires go >=|cannot find GOROOT).*`), true},
	{lazy(`(?mi)^.*: (?:no space left on device|cannot allocate memory)$`), true},
	{lazy(`(?m)(?:no required module provides package|missing go\.sum entry|cannot find module providing package).*`), false},
	{lazy(`(?m)(?:build constraints exclude all Go files|no Go files in|matched no packages).*`), false},
	{lazy(`(?m)Cannot find (?:module|package) '[^./'][^']*'`), false},
	{lazy(`(?m)ModuleNotFoundError: No module named .*|No module named pytest`), false},
	{lazy(`(?m)^(?:/bin/)?(?:sh|bash|dash|zsh)(?:: (?:line )?\d+)?: \S+: (?:command )?not found$`), false},
}

// notRun says why a check could not run for reasons of the machine, or "".
func notRun(result loop.CheckResult, base *loop.CheckResult) string {
	if result.Reason != "" && !isCrash(result.Reason) {
		return strings.ReplaceAll(oneLine(result.Reason, 200), "_", " ")
	}
	switch result.ExitCode {
	case 126, 127:
		return lastLines(result)
	case 130, 137, 143:
		return fmt.Sprintf("it was killed (exit status %d)", result.ExitCode)
	}
	if strings.Contains(result.Output, "--- FAIL: ") {
		return ""
	}
	basePassed := base != nil && base.OK()
	for _, sign := range notRunSigns {
		if basePassed && !sign.byMachine {
			continue
		}
		if m := sign.pattern().FindString(result.Output); m != "" {
			return oneLine(m, 200)
		}
	}
	return ""
}

// isCrash tells the signals by which a program ends itself from those that others send.
func isCrash(reason string) bool {
	name, ok := strings.CutPrefix(strings.ToUpper(reason), "SIGNAL:")
	if !ok {
		return false
	}
	switch strings.TrimPrefix(name, "SIG") {
	case "SEGV", "ABRT", "BUS", "FPE", "ILL", "TRAP", "SYS", "SEGMENTATION FAULT", "ABORTED", "BUS ERROR", "TRACE/BREAKPOINT TRAP":
		return true
	}
	return false
}

// lastLines is the end of the output as one line, or the exit status.
func lastLines(result loop.CheckResult) string {
	lines := nonBlank(outputLines(result.Output))
	if len(lines) == 0 {
		return fmt.Sprintf("exit status %d, no output", result.ExitCode)
	}
	return oneLine(strings.Join(lines[max(0, len(lines)-4):], " | "), 400)
}

func nonBlank(lines []string) []string {
	var kept []string
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

var terminalCodes = lazy(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?`)

// outputLines removes colours and carriage returns.
func outputLines(output string) []string {
	output = terminalCodes().ReplaceAllString(output, "")
	return strings.Split(strings.ReplaceAll(output, "\r", ""), "\n")
}

// oneLine joins s to one line without control characters, of at most n bytes.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return clip(strings.Join(strings.Fields(s), " "), n)
}

// failure is one thing that a check's output says is wrong.
type failure struct {
	test    string // name of the test, if it was one
	pkg     string
	file    string // relative to the top of the tree; empty when unknown
	line    int
	msg     string
	name    string // last element of the path in the output
	foreign bool   // its file is none of the tree's
}

func (f failure) text() string {
	switch {
	case f.test == "":
		return f.msg
	case f.msg == "":
		return f.test + " failed"
	}
	return f.test + ": " + f.msg
}

// key is the same for the same failure in two runs, wherever the tree lay.
func (f failure) key() string {
	if f.test != "" {
		return "test " + f.pkg + " " + f.test
	}
	return f.name + " " + steady(f.msg)
}

// readFailures reads the output of go test, then what any compiler or linter writes.
func readFailures(result loop.CheckResult, changed []string) []failure {
	lines := outputLines(result.Output)
	at := newPlaces(result.Command, changed)
	return append(goTestFailures(lines, at), placedFailures(lines, at)...)
}

// ours are the failures in files of the tree, or in none, each place once.
func ours(all []failure) []failure {
	seen := map[string]bool{}
	var kept []failure
	for _, f := range all {
		place := f.key()
		if f.file != "" {
			place = fmt.Sprintf("%s:%d", f.file, f.line)
		}
		if !f.foreign && !seen[place] {
			seen[place] = true
			kept = append(kept, f)
		}
	}
	return kept
}

// places finds the file that an output means.
type places struct {
	dir     string // where the command ran, relative to the top; "" is the top
	changed map[string]bool
	list    []string
	module  string // Go module path, once it is known
}

var commandDir = lazy(`^cd (?:'([^']*)'|([\w@%+=:,./-]+)) && `)

func newPlaces(command string, changed []string) *places {
	p := &places{changed: map[string]bool{}, list: changed}
	for _, c := range changed {
		p.changed[c] = true
	}
	if m := commandDir().FindStringSubmatch(command); m != nil {
		p.dir = strings.TrimPrefix(path.Clean(m[1]+m[2]), "./")
	}
	return p
}

// find gives the path in the tree that name means, "" when it is none of ours.
// source is false when it does not look like a file that people write.
func (p *places) find(name string) (file string, source bool) {
	name = strings.ReplaceAll(strings.TrimPrefix(name, "file://"), `\`, "/")
	full := path.Join(p.dir, name)
	if p.changed[full] {
		return full, true
	}
	if c := p.bySuffix(path.Clean(name)); c != "" {
		return c, true
	}
	if strings.Contains(name, ":") || (languageOf(full) == nil && !isDocs(full)) {
		return "", false
	}
	if path.IsAbs(name) || strings.HasPrefix(full, "..") || isVendored(full) {
		return "", true
	}
	return full, true
}

// bySuffix finds the only changed path that an absolute or shortened name ends in.
func (p *places) bySuffix(name string) string {
	match := ""
	for _, c := range p.list {
		long := strings.HasSuffix(name, "/"+c) && strings.Contains(c, "/")
		short := strings.Contains(name, "/") && strings.HasSuffix(c, "/"+name)
		if !long && !short && !(path.IsAbs(name) && path.Base(name) == c) {
			continue
		}
		if match != "" && len(match) >= len(c) {
			continue
		}
		match = c
	}
	return match
}
