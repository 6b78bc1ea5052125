package web

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/syntax"
)

// maxShown is how much of one line is shown at once, in bytes. The rest of a longer line, which is usually generated,
// is behind a fold that needs no script.
const maxShown = 16 << 10

// codeHTML returns one line of source as HTML: tokens coloured, the byte ranges marks emphasised, and characters that
// are invisible or reorder text spelled out. The text is escaped; only fixed tags surround it. The folded rest has no
// colours, and its fold is open if a mark reaches into it.
func codeHTML(line string, toks []syntax.Token, marks [][2]int) template.HTML {
	var b strings.Builder
	shown := cutLine(line)
	b.Grow(len(line) + 32*len(toks))
	writeLine(&b, shown, toks, marks)
	if rest := line[len(shown):]; rest != "" {
		open := ""
		var behind [][2]int
		for _, m := range marks {
			if m[1] > len(shown) {
				open = " open"
				behind = append(behind, [2]int{max(0, m[0]-len(shown)), m[1] - len(shown)})
			}
		}
		b.WriteString(`<details class="cut"` + open + `><summary>… ` + strconv.Itoa(len(rest)) + ` more bytes</summary>`)
		writeLine(&b, rest, nil, behind)
		b.WriteString("</details>")
	}
	return template.HTML(b.String())
}

// writeLine writes text with its tokens and marks.
func writeLine(b *strings.Builder, text string, toks []syntax.Token, marks [][2]int) {
	begin := 0
	for _, t := range append(toks[:len(toks):len(toks)], syntax.Token{End: len(text)}) {
		end := min(t.End, len(text))
		for begin < end {
			next, marked := worddiff.Piece(marks, begin, end)
			writePiece(b, text[begin:next], t.Kind, marked)
			begin = next
		}
	}
}

// cutLine returns line up to maxShown bytes, cut between characters.
func cutLine(line string) string {
	if len(line) <= maxShown {
		return line
	}
	end := maxShown
	for end > maxShown-utf8.UTFMax && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}

// writePiece writes text of one kind. Strings and comments are isolated, so that right-to-left letters in them do not
// reorder the text beside them.
func writePiece(b *strings.Builder, text string, kind syntax.Kind, marked bool) {
	if marked {
		b.WriteString("<mark>")
	}
	if kind != syntax.Plain {
		b.WriteString(`<span class="`)
		b.WriteByte(byte(kind))
		b.WriteString(`">`)
	}
	writeVisible(b, text)
	if kind != syntax.Plain {
		b.WriteString("</span>")
	}
	if marked {
		b.WriteString("</mark>")
	}
}

// writeVisible escapes text and marks what safetext spells out.
func writeVisible(b *strings.Builder, text string) {
	if isPlain(text) {
		template.HTMLEscape(b, []byte(text))
		return
	}
	before := ""
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		char := text[:size]
		spelled := safetext.Text(before + char)
		if spelled == before+char {
			b.WriteString(template.HTMLEscapeString(char))
		} else {
			b.WriteString(`<span class="iv">` + template.HTMLEscapeString(safetext.Text(char)) + `</span>`)
		}
		before = ""
		if size > 1 && safetext.Text(char) == char {
			before = char // a selector behind it may be fine
		}
		text = text[size:]
	}
}

// isPlain reports whether text consists of visible ASCII and tabs.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}
