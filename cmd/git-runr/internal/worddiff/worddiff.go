// Package worddiff shows what changed within the lines of a patch.
package worddiff

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// Mark marks the changed words of lines in a unified patch as git's --word-diff does: [-old-]{+new+}. It pairs lines in
// blocks that remove as many as they add. Other lines, and what cannot be parsed, stay.
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

// wordLine returns one line with its changes marked, or both lines if they have little in common.
func wordLine(old, new string) string {
	a, b := words(old), words(new)
	gone, come, alike := Compare(a, b, weight)
	if !alike {
		return "-" + old + "\n+" + new + "\n"
	}
	var out strings.Builder
	out.WriteString("~")
	taken := func(words []string, changed []bool, open, end string) int {
		n := 0
		for n < len(words) && changed[n] {
			n++
		}
		if n > 0 {
			out.WriteString(open + strings.Join(words[:n], "") + end)
		}
		return n
	}
	for len(a) > 0 || len(b) > 0 {
		n, m := taken(a, gone, "[-", "-]"), taken(b, come, "{+", "+}")
		if n+m == 0 {
			out.WriteString(a[0])
			n, m = 1, 1
		}
		a, gone, b, come = a[n:], gone[n:], b[m:], come[m:]
	}
	return out.String() + "\n"
}
