package screen

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

const (
	around     = 1  // lines shown before and after the line
	codeIndent = 12 // below the remark
	narrow     = 60 // columns; a narrower screen has a smaller indent
	narrowDent = 4
	leastCode  = 8 // columns
)

// Code shows on a terminal a line of a file that a remark is about, with the lines before and after it. It shows
// nothing elsewhere, or if the tree has no such line.
func Code(w io.Writer, tree gitstore.ID, path string, line int) {
	screen, ok := w.(*Writer)
	if !ok || screen.File == nil || screen.Columns == 0 || path == "" || line < 1 || tree == "" {
		return
	}
	text := screen.File(tree, path)
	if len(text) == 0 || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
	if line > len(lines) {
		return
	}
	first, end := max(line-around, 1), min(line+around, len(lines))
	indent := codeIndent
	if screen.Columns < narrow {
		indent = narrowDent
	}
	digits := len(strconv.Itoa(end))
	room := max(screen.Columns-indent-digits-len(">  | "), leastCode)
	for i, code := range withoutMargin(lines[first-1 : end]) {
		mark, meaning := " ", Faint
		if first+i == line {
			mark, meaning = ">", Strong
		}
		if screen.Redact != nil {
			code = screen.Redact(code)
		}
		code = prose.CutColumns(safetext.Line(strings.ReplaceAll(code, "\t", "    ")), room)
		safetext.Fprintf(w, "%*s%s %*d | %s\n", indent, "", meaning.Of(mark), digits, first+i, meaning.Of(code))
	}
}

// withoutMargin removes the white space with which all lines begin.
func withoutMargin(lines []string) []string {
	margin := lines[0]
	for _, line := range lines {
		for strings.TrimSpace(line) != "" && !strings.HasPrefix(line, margin) || strings.TrimLeft(margin, " \t") != "" {
			margin = margin[:len(margin)-1]
		}
	}
	return each.Of(lines, func(line string) string { return strings.TrimPrefix(line, margin) })
}
