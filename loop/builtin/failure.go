package builtin

import (
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/syntax"
)

var changingPart = lazy(`0x[0-9a-fA-F]+|[0-9]+`)

// steady removes the parts of a failure that differ between two runs.
func steady(s string) string {
	return changingPart().ReplaceAllString(strings.Join(strings.Fields(s), " "), "#")
}

var terminalCodes = lazy(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?`)

// outputLines splits output into lines without colours and carriage returns.
func outputLines(output string) []string {
	output = terminalCodes().ReplaceAllString(output, "")
	return strings.Split(strings.ReplaceAll(output, "\r", ""), "\n")
}

// failure is one failure reported in a check's output.
type failure struct {
	test    string // name of the test, if it is one
	pkg     string
	file    string // relative to the top of the tree; empty if unknown
	line    int
	msg     string
	name    string // last element of the path in the output
	foreign bool   // its file is not in the tree
	at      int    // first output line about it, from 0
}

// key returns a key that is equal for the same failure in two runs, in whatever directory they ran.
func (f failure) key() string {
	if f.test != "" {
		return "test " + f.pkg + " " + f.name + " " + f.test
	}
	return f.name + " " + steady(f.msg)
}

// places maps file names in an output to paths in the tree.
type places struct {
	dir    string   // working directory of the command, relative to the top; "" is the top
	list   []string // the changed files
	module string   // Go module path, once known
}

var commandDir = lazy(`^cd (?:'([^']*)'|([\w@%+=:,./-]+)) && `)

func newPlaces(command string, changed []string) *places {
	p := &places{list: changed}
	if m := commandDir().FindStringSubmatch(command); m != nil {
		p.dir = strings.TrimPrefix(path.Clean(m[1]+m[2]), "./")
	}
	return p
}

// find returns the path in the tree for name, "" if it is not in the tree. source is false
// if name does not look like a source file.
func (p *places) find(name string) (file string, source bool) {
	name = strings.ReplaceAll(strings.TrimPrefix(name, "file://"), `\`, "/")
	full := path.Join(p.dir, name)
	if slices.Contains(p.list, full) {
		return full, true
	}
	if c := p.bySuffix(path.Clean(name)); c != "" {
		return c, true
	}
	if strings.Contains(name, ":") || (syntax.Reviewed(full) == nil && !isA(full, "documents")) {
		return "", false
	}
	if path.IsAbs(name) || strings.HasPrefix(full, "..") || isA(full, "vendored") {
		return "", true
	}
	return full, true
}

// bySuffix returns the longest changed path that matches an absolute or shortened name.
func (p *places) bySuffix(name string) string {
	match := ""
	for _, c := range p.list {
		long := strings.HasSuffix(name, "/"+c) && strings.Contains(c, "/")
		short := strings.Contains(name, "/") && strings.HasSuffix(c, "/"+name)
		if (long || short || path.IsAbs(name) && path.Base(name) == c) && len(c) > len(match) {
			match = c
		}
	}
	return match
}
