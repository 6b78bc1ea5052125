package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// written maps the functions that write bytes unchanged to why they may.
var written = map[string]string{
	"WriteJSON":          "JSON spells control characters itself",
	"agentHook":          "JSON of what agenthook made safe",
	"writePatch":         "a patch goes into a pipe byte for byte",
	"showDiff":           "safeDiff made it safe",
	"writeProblemText":   "what safetext.Fprintf made, at once",
	"write":              "progress: what its callers made safe, between its own escape sequences",
	"Write":              "is a writer itself",
	"completionCommand":  "a script that is built in",
	"secretRulesCommand": "rules that are built in",
}

// TestWhatIsPrintedIsSafe: output for people is written with safetext.Fprintf, which makes every argument safe, or is
// a literal of the program. Functions that print in another way are listed in written.
func TestWhatIsPrintedIsSafe(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{".", "../config", "../demo", "../exit", "../follow",
		"../progress", "../overview", "../register", "../agenthook", "../stdio",
		"../notify", "../background", "../render", "../../../../diagnose"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", dir, files, err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				checkPrints(t, name, used)
			}
		}
	}
	for name := range written {
		if !used[name] {
			t.Errorf("%s writes nothing as it is any more: take it out of the list", name)
		}
	}
}

func checkPrints(t *testing.T, name string, used map[string]bool) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !printsAsIs(call) {
				return true
			}
			used[function.Name.Name] = true
			if written[function.Name.Name] == "" {
				t.Errorf("%s: %s prints what is not made safe: use safetext.Fprintf", set.Position(call.Pos()), function.Name.Name)
			}
			return true
		})
	}
}

// printsAsIs reports whether call writes more than literals to a writer without safetext.
func printsAsIs(call *ast.CallExpr) bool {
	if builtin, ok := call.Fun.(*ast.Ident); ok && (builtin.Name == "print" || builtin.Name == "println") {
		return true
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, _ := selector.X.(*ast.Ident)
	behind := call.Args
	switch name := selector.Sel.Name; {
	case from != nil && from.Name == "fmt" && strings.HasPrefix(name, "Fprint"),
		from != nil && from.Name == "io" && name == "WriteString":
		behind = call.Args[1:]
	case from != nil && from.Name == "fmt" && strings.HasPrefix(name, "Print"):
	case name == "WriteString" && ofProcess(selector.X):
	case name == "Write" && len(call.Args) == 1 && (from == nil || from.Name != "h"): // a hash
	default:
		return false
	}
	for _, arg := range behind {
		if !isLiteral(arg) {
			return true
		}
	}
	return false
}

// isLiteral reports whether x is a literal, or literals with + between them.
func isLiteral(x ast.Expr) bool {
	if sum, ok := x.(*ast.BinaryExpr); ok {
		return isLiteral(sum.X) && isLiteral(sum.Y)
	}
	_, ok := x.(*ast.BasicLit)
	return ok
}

// ofProcess reports whether x is os.Stdout or os.Stderr.
func ofProcess(x ast.Expr) bool {
	selector, ok := x.(*ast.SelectorExpr)
	return ok && (selector.Sel.Name == "Stdout" || selector.Sel.Name == "Stderr")
}
