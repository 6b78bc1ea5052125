// Package worddiff shows what changed within the lines of a patch.
package worddiff

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// wordsTimeout bounds the comparison of one pair of lines.
const wordsTimeout = 50 * time.Millisecond

// Mark shows in a unified patch what changed within lines, as git's
// --word-diff does: [-old-]{+new+}. Lines are paired where as many go as come; the
// others, and what cannot be read, stay as they are.
func Mark(patch string) string {
	rows := slices.Collect(strings.Lines(patch))
	var out strings.Builder
	written := 0 // rows
	upTo := func(row int) {
		out.WriteString(strings.Join(rows[written:row], ""))
		written = row
	}
	for file := range unidiff.Files(patch) {
		for _, h := range file.Hunks {
			for i := 0; i < len(h.Lines); {
				gone, come := h.Block(i)
				block := h.Lines[i : i+gone+come]
				if gone == come && !slices.ContainsFunc(block, func(l unidiff.Line) bool { return l.NoEOL }) {
					upTo(h.Lines[i].Row)
					for k := range gone {
						out.WriteString(wordLine(block[k].Text, block[gone+k].Text))
					}
					written += gone + come
				}
				i += max(1, gone+come)
			}
		}
	}
	upTo(len(rows))
	return out.String()
}

// wordLine is one changed line with its changes marked, or both lines where they
// have little in common.
func wordLine(old, new string) string {
	differ := diffmatchpatch.New()
	differ.DiffTimeout = wordsTimeout
	a, b := []rune(old), []rune(new)
	parts := differ.DiffCleanupSemantic(differ.DiffMainRunes(a, b, false))
	if 2*shared(parts) <= min(len(a), len(b)) {
		return "-" + old + "\n+" + new + "\n"
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
