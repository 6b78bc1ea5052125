package builtin

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
)

// whitespace reports at most one note for each file and fault, with a count: otherwise a file
// written with the wrong editor would hide everything else. Blanks in a multi-line string are
// content.
func whitespace(f File, k kind, lines []codeLine) []reply.Finding {
	if k.patch || isA(f.Path, "tabular") {
		return nil
	}
	markdown := isA(f.Path, "markdown")
	content := map[int]bool{}
	for _, l := range lines {
		if l.leftOpen {
			content[l.Number] = true
		}
	}
	var found []reply.Finding
	add := func(issue, fix string, bad func(Line) bool) {
		if n, first := count(f.Added, bad); n > 0 {
			found = append(found, whitespaceFinding(f, first, counted(issue, n, first), fix))
		}
	}
	add("trailing white space", "remove the blanks at the ends of the lines", func(l Line) bool {
		return !content[l.Number] && hasTrailingBlank(l.Text, markdown)
	})
	add("a space before a tab in the indentation", "indent with one of the two", func(l Line) bool {
		return !content[l.Number] && strings.Contains(l.Text[:len(l.Text)-len(strings.TrimLeft(l.Text, " \t"))], " \t")
	})
	if cr, mixed := mixedLineEnds(f); mixed {
		what := "CRLF line ends in a file that has LF"
		if !cr {
			what = "LF line ends in a file that has CRLF"
		}
		add(what, "use one kind of line end in a file", func(l Line) bool { return l.CR == cr })
	}
	if n := len(f.Added); f.NoNewline && n > 0 {
		found = append(found, whitespaceFinding(f, f.Added[n-1].Number, "no newline at the end of the file",
			"end the last line with a newline"))
	}
	return found
}

func whitespaceFinding(f File, line int, issue, fix string) reply.Finding {
	return reply.Finding{Severity: reply.Note, File: f.Path, Line: line, Issue: issue, Fix: fix, Rule: "whitespace"}
}

func count(lines []Line, bad func(Line) bool) (n, first int) {
	for _, l := range lines {
		if !bad(l) {
			continue
		}
		if n == 0 {
			first = l.Number
		}
		n++
	}
	return n, first
}

func counted(issue string, n, first int) string {
	if n == 1 {
		return issue
	}
	return fmt.Sprintf("%s: %d lines, first at %d", issue, n, first)
}

// hasTrailingBlank reports trailing blanks, except Markdown's hard break: two or more spaces after a text.
func hasTrailingBlank(text string, markdown bool) bool {
	cut := strings.TrimRight(text, " \t")
	if len(cut) == len(text) {
		return false
	}
	blanks := text[len(cut):]
	return !(markdown && cut != "" && len(blanks) >= 2 && !strings.Contains(blanks, "\t"))
}

// mixedLineEnds compares the line ends of the added lines with those of the lines around them,
// or with each other if there are none. cr is the unusual kind among the added lines.
func mixedLineEnds(f File) (cr, mixed bool) {
	addedCR, _ := count(f.Added, func(l Line) bool { return l.CR })
	addedLF := len(f.Added) - addedCR
	if f.NoNewline {
		addedLF-- // the last line has no line end
	}
	contextCR, _ := count(f.Context, func(l Line) bool { return l.CR })
	contextLF := len(f.Context) - contextCR
	switch {
	case contextCR > contextLF:
		return false, addedLF > 0
	case contextLF > contextCR:
		return true, addedCR > 0
	}
	return addedCR <= addedLF, addedCR > 0 && addedLF > 0
}
