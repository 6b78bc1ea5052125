package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everywhere lists the programs that a test may start without looking for them: git, go, programs that the tests
// make, and tools of POSIX.
var everywhere = strings.Fields(`git git-runr go fake-agent ask-for-ever $RUNR
	awk cat chmod cp find grep ln ls mkdir mkfifo mv rm sed sh sleep test touch true wc /bin/sh`)

// askedOfRoot lists programs that tests start only as root, and can do without.
var askedOfRoot = []string{"chattr", "mount", "umount"}

// notPOSIX matches a core utility that POSIX does not have at the begin of a shell command.
var notPOSIX = regexp.MustCompile(`(?:^|[\n;|&(]\s*|(?:do|then) )(seq|tac|yes|shuf|realpath|mktemp|setsid|flock|truncate|` +
	`nproc|base64|(?:sha1|sha256|md5)sum|numfmt) +[-\w.$'"/]`)

// TestLookUps: tests look for every other program, and for every file that a distribution installs, with package
// testneed, which skips the test with a message. Scripts have a PATH with nothing else on it.
func TestLookUps(t *testing.T) {
	seen := 0
	root := filepath.Join("..", "..", "..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testneed", path == filepath.Join(root, "testdata", "agents"):
			return fs.SkipDir // tests of foreign tools, which .ci/run installs
		case strings.HasSuffix(path, "_test.go"):
			seen++
			lookUpsOf(t, path)
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Errorf("%d files of tests were read: %v", seen, err)
	}
}

func lookUpsOf(t *testing.T, path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		if on, ok := call.Fun.(*ast.SelectorExpr); ok && nameOf(on.X) == "testneed" {
			needed[stringOf(call.Args[1])] = true
		}
		return true
	})
	allowed := func(name string) bool {
		return name == "" || slices.Contains(everywhere, name) || slices.Contains(askedOfRoot, name) || needed[name]
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if program := notPOSIX.FindStringSubmatch(stringOf(n)); program != nil && !needed[program[1]] {
			t.Errorf("%s has a shell start %s, which POSIX does not have", path, program[1])
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		on, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch name := nameOf(on.X) + "." + on.Sel.Name; {
		case name == "exec.LookPath" && !slices.Contains(everywhere, stringOf(call.Args[0])) &&
			!strings.HasSuffix(path, "loop/agent/main_test.go"):
			t.Errorf("%s looks for a program: testneed.Program does", path)
		case name == "exec.Command" && !allowed(stringOf(call.Args[0])):
			t.Errorf("%s starts %s, which testneed.Program has not looked for", path, stringOf(call.Args[0]))
		case name == "exec.CommandContext" && len(call.Args) > 1 && !allowed(stringOf(call.Args[1])):
			t.Errorf("%s starts %s, which testneed.Program has not looked for", path, stringOf(call.Args[1]))
		case name == "os.Stat" && strings.HasPrefix(stringOf(call.Args[0]), "/usr/"):
			t.Errorf("%s looks for %s: testneed.File does", path, stringOf(call.Args[0]))
		}
		return true
	})
}

func nameOf(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// stringOf returns the value of a string literal, or "".
func stringOf(n ast.Node) string {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	return ""
}
