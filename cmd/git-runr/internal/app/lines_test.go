package app

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLinesEnd: no line of Go is longer than 120 characters, but for raw strings and addresses on the web.
func TestLinesEnd(t *testing.T) {
	const longest = 120
	eachSource(t, 1000, ".", func(path string, src []byte) {
		raw := rawLines(t, path, src)
		number := 0
		for line := range bytes.Lines(src) {
			number++
			text := strings.TrimRight(string(line), "\n")
			if utf8.RuneCountInString(text) > longest && !raw[number] && !strings.Contains(text, "https://") {
				t.Errorf("%s:%d has %d characters", path, number, utf8.RuneCountInString(text))
			}
		}
	})
}

// TestFilesOpen: gitstore opens files for reading by safefile, because a pipe in the place of a file would hang.
func TestFilesOpen(t *testing.T) {
	eachSource(t, 100, "gitstore", func(path string, src []byte) {
		dir := filepath.Base(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || dir == "safefile" || dir == "testtmp" || dir == "testrepo" {
			return
		}
		for _, call := range []string{"os.Open(", "os.ReadFile("} {
			if bytes.Contains(src, []byte(call)) {
				t.Errorf("%s calls %s)", path, call)
			}
		}
	})
}

// eachSource calls do with each file of Go below a directory, which has at least that many.
func eachSource(t *testing.T, least int, dir string, do func(path string, src []byte)) {
	seen := 0
	root := filepath.Join("..", "..", "..", "..", dir)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		seen++
		src, err := os.ReadFile(path)
		do(path, src)
		return err
	})
	if err != nil || seen < least {
		t.Errorf("%d files were read: %v", seen, err)
	}
}

// rawLines returns the numbers of the lines on which a raw string is.
func rawLines(t *testing.T, path string, src []byte) map[int]bool {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || lit.Value[0] != '`' {
			return true
		}
		for i := fset.Position(lit.Pos()).Line; i <= fset.Position(lit.End()).Line; i++ {
			lines[i] = true
		}
		return true
	})
	return lines
}
