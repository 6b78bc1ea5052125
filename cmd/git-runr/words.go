package main

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// wordsTimeout bounds the comparison of one pair of lines.
const wordsTimeout = 50 * time.Millisecond

// markWords shows in a unified patch what changed within lines, as git's
// --word-diff does: [-old-]{+new+}. Lines are paired where as many go as come; the
// others stay as they are.
func markWords(patch string) string {
	var out strings.Builder
	var gone, come []string
	flush := func() {
		out.WriteString(pairLines(gone, come))
		gone, come = nil, nil
	}
	inHunk := false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHunk = false
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && line[0] == '-' && len(come) == 0:
			gone = append(gone, line[1:])
			continue
		case inHunk && line[0] == '+':
			come = append(come, line[1:])
			continue
		}
		flush()
		if inHunk && line[0] == '-' {
			gone = append(gone, line[1:])
			continue
		}
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// pairLines writes a block of lines that go and lines that come.
func pairLines(gone, come []string) string {
	var out strings.Builder
	if len(gone) == len(come) {
		for i := range gone {
			out.WriteString(wordLine(gone[i], come[i]))
		}
		return out.String()
	}
	for _, l := range gone {
		out.WriteString("-" + l)
	}
	for _, l := range come {
		out.WriteString("+" + l)
	}
	return out.String()
}

// wordLine is one changed line with its changes marked, or both lines where they
// have little in common.
func wordLine(old, new string) string {
	differ := diffmatchpatch.New()
	differ.DiffTimeout = wordsTimeout
	a, b := []rune(strings.TrimSuffix(old, "\n")), []rune(strings.TrimSuffix(new, "\n"))
	parts := differ.DiffCleanupSemantic(differ.DiffMainRunes(a, b, false))
	if 2*shared(parts) <= min(len(a), len(b)) {
		return "-" + old + "+" + new
	}
	var out strings.Builder
	out.WriteString("~")
	for _, p := range parts {
		switch p.Type {
		case diffmatchpatch.DiffDelete:
			out.WriteString("[-" + p.Text + "-]")
		case diffmatchpatch.DiffInsert:
			out.WriteString("{+" + p.Text + "+}")
		default:
			out.WriteString(p.Text)
		}
	}
	return out.String() + "\n"
}

// shared is the number of characters that both sides have.
func shared(parts []diffmatchpatch.Diff) int {
	n := 0
	for _, p := range parts {
		if p.Type == diffmatchpatch.DiffEqual {
			n += utf8.RuneCountInString(p.Text)
		}
	}
	return n
}
