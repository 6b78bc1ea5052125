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
	root, seen := filepath.Join("..", "..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		seen++
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := rawLines(t, path, src)
		number := 0
		for line := range bytes.Lines(src) {
			number++
			text := strings.TrimRight(string(line), "\n")
			if utf8.RuneCountInString(text) > longest && !raw[number] && !strings.Contains(text, "https://") {
				t.Errorf("%s:%d has %d characters", path, number, utf8.RuneCountInString(text))
			}
		}
		return nil
	})
	if err != nil || seen < 1000 {
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
