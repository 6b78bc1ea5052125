package builtin

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

var (
	goTestEnd     = lazy(`^\s*--- (FAIL|PASS|SKIP): (\S+)`)
	goTestRun     = lazy(`^=== (?:RUN|CONT|NAME|PAUSE)\s+(\S+)`)
	goTestMessage = lazy(`^ {4,}([\w.-]+\.go):(\d+): ?(.*)$`)
	goPackageEnd  = lazy(`^(FAIL|ok  |\?   )\t(\S+)`)
	goPanic       = lazy(`^(?:panic|fatal error): (.*)$`)
	goFrame       = lazy(`^\t(/?\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
)

// goTest reads the output of go test. The package is named after its tests, so their messages
// are kept until it is known.
type goTest struct {
	at      *places
	current string              // test of the next message
	said    map[string]*failure // first message of each test
	order   []string            // names of the tests that failed
	panics  []goPanicFrames
	open    *failure // collects the continuation lines of its message
	done    []failure
	n       int            // current line, from 0
	named   int            // the line that named current
	failed  map[string]int // line of each failed test's FAIL
}

// goPanicFrames is a panic and the frames of its stack.
type goPanicFrames struct {
	msg    string
	at     int
	frames []goStackFrame
	caller string // function named on the previous line
}

type goStackFrame struct {
	function, file string
	line           int
}

func goTestFailures(lines []string, at *places) []failure {
	at.learnModule(lines)
	g := &goTest{at: at}
	g.reset()
	for g.n = range lines {
		g.line(lines[g.n])
	}
	g.settle("")
	return g.done
}

func (g *goTest) reset() {
	g.current, g.said, g.order, g.panics, g.open, g.failed = "", map[string]*failure{}, nil, nil, nil, map[string]int{}
}

func (g *goTest) line(line string) {
	if m := goTestEnd().FindStringSubmatch(line); m != nil {
		g.current, g.open, g.named = m[2], nil, g.n
		if m[1] == "FAIL" {
			g.order = append(g.order, m[2])
			g.failed[m[2]] = g.n
		}
		return
	}
	if m := goTestRun().FindStringSubmatch(line); m != nil {
		g.current, g.open, g.named = m[1], nil, g.n
		return
	}
	if m := goPackageEnd().FindStringSubmatch(line); m != nil {
		g.settle(m[2])
		return
	}
	if g.panicLine(line) || g.message(line) {
		return
	}
	g.more(line)
}

// message reads "    x_test.go:12: text". Of several messages the first gives the place.
func (g *goTest) message(line string) bool {
	m := goTestMessage().FindStringSubmatch(line)
	if m == nil || g.current == "" {
		return false
	}
	if first := g.said[g.current]; first != nil {
		first.msg += "; " + m[3]
		g.open = first
		return true
	}
	g.open = &failure{test: g.current, file: m[1], line: markdown.Number(m[2]), msg: m[3], at: g.named}
	g.said[g.current] = g.open
	return true
}

// more adds a continuation line to the previous message.
func (g *goTest) more(line string) {
	text := strings.TrimSpace(line)
	if g.open == nil || !strings.HasPrefix(line, "        ") {
		g.open = nil
		return
	}
	if text != "" && !strings.HasPrefix(text, "Error Trace:") && len(g.open.msg) < 300 {
		g.open.msg = strings.TrimSpace(g.open.msg + " " + text)
	}
}

func (g *goTest) panicLine(line string) bool {
	if m := goPanic().FindStringSubmatch(line); m != nil {
		g.panics = append(g.panics, goPanicFrames{msg: m[1], at: g.n})
		return true
	}
	if len(g.panics) == 0 {
		return false
	}
	last := &g.panics[len(g.panics)-1]
	if m := goFrame().FindStringSubmatch(line); m != nil {
		last.frames = append(last.frames, goStackFrame{last.caller, m[1], markdown.Number(m[2])})
		return true
	}
	last.caller = line
	return false
}

// settle turns the collected messages into failures of a package.
func (g *goTest) settle(pkg string) {
	dir, known := g.at.packageDir(pkg)
	for _, name := range g.order {
		f := failure{test: name, pkg: pkg, at: g.failed[name]}
		below := func(other string) bool { return strings.HasPrefix(other, name+"/") }
		if said := g.said[name]; said != nil {
			f = *said
			f.pkg = pkg
			f.file, f.line, f.msg = inPackage(f, dir, known)
			f.at = min(f.at, g.failed[name])
		} else if slices.ContainsFunc(g.order, below) || len(g.panics) > 0 {
			continue
		}
		g.done = append(g.done, f)
	}
	for _, p := range g.panics {
		g.done = append(g.done, g.panicFailure(p, pkg, dir, known))
	}
	g.reset()
}

// inPackage joins the file to its directory; if the directory is unknown, the place goes into the message.
func inPackage(f failure, dir string, known bool) (file string, line int, msg string) {
	if known {
		return path.Join(dir, f.file), f.line, f.msg
	}
	return "", 0, strings.TrimSpace(fmt.Sprintf("%s:%d: %s", f.file, f.line, f.msg))
}

// panicFailure uses the first frame in a changed file, or else in the package.
func (g *goTest) panicFailure(p goPanicFrames, pkg, dir string, known bool) failure {
	f := failure{pkg: pkg, msg: "panic: " + p.msg, at: p.at}
	if len(g.order) > 0 {
		f.test = g.order[len(g.order)-1]
		f.at = min(f.at, g.failed[f.test])
	}
	for _, frame := range p.frames {
		if c := g.at.bySuffix(frame.file); c != "" {
			f.file, f.line = c, frame.line
			return f
		}
	}
	for _, frame := range p.frames {
		if known && pkg != "" && strings.HasPrefix(frame.function, pkg+".") {
			f.file, f.line = path.Join(dir, path.Base(frame.file)), frame.line
			return f
		}
	}
	return f
}

// learnModule finds the module's path from the packages in the output: a package whose path
// ends in a changed directory reveals it.
func (p *places) learnModule(lines []string) {
	var packages []string
	for _, line := range lines {
		if m := goPackageEnd().FindStringSubmatch(line); m != nil {
			packages = append(packages, m[2])
		}
	}
	best := ""
	for _, dir := range p.goDirs() {
		for _, pkg := range packages {
			if dir != "." && strings.HasSuffix(pkg, "/"+dir) && len(dir) > len(best) {
				best, p.module = dir, strings.TrimSuffix(pkg, "/"+dir)
			}
		}
	}
	if p.module == "" && len(packages) > 0 && slices.Contains(p.goDirs(), ".") {
		p.module = commonParent(packages)
	}
}

// commonParent returns the shortest package if it is the parent of all others.
func commonParent(packages []string) string {
	shortest := slices.MinFunc(packages, func(a, b string) int { return len(a) - len(b) })
	for _, pkg := range packages {
		if pkg != shortest && !strings.HasPrefix(pkg, shortest+"/") {
			return ""
		}
	}
	return shortest
}

// goDirs returns the directories of the changed Go files, relative to the command's directory.
func (p *places) goDirs() []string {
	var dirs []string
	for _, c := range p.list {
		rel, ok := c, true
		if p.dir != "" {
			rel, ok = strings.CutPrefix(c, p.dir+"/")
		}
		if ok && strings.HasSuffix(rel, ".go") {
			dirs = append(dirs, path.Dir(rel))
		}
	}
	return dirs
}

// packageDir returns the directory of a package, relative to the top of the tree.
func (p *places) packageDir(pkg string) (dir string, known bool) {
	if p.module == "" || pkg == "" {
		return "", false
	}
	if pkg == p.module {
		return p.dir, true
	}
	rest, ok := strings.CutPrefix(pkg, p.module+"/")
	return path.Join(p.dir, rest), ok
}
