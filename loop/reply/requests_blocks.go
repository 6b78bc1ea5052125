package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/internal/markdown"
)

type blockKind byte

const (
	blockGap     blockKind = iota // a rule, code, a quotation: it ends what a lead-in introduced
	blockHeading                  // also a line in bold alone
	blockItem                     // with the lines that are wrapped below it
	blockLines                    // a paragraph
	blockRow                      // of a table
)

// block is a piece of a review's text.
type block struct {
	kind   blockKind
	level  int      // of a heading
	indent int      // of an item or a paragraph
	text   string   // of a heading or an item
	lines  []string // of an item or a paragraph
	cells  []string // of a row
}

// levelSummary is the level of the summary of HTML details: below bold lines.
const levelSummary = markdown.LevelBold + 1

// blockReader splits a text into blocks.
type blockReader struct {
	lines  []markdown.Line
	base   int // indentation of the whole text
	folded int // the last line that ends HTML details
	blocks []block
	open   bool // the last block may go on in the next line
	inList bool // a list began and no paragraph ended it
	blank  bool // the line before was blank
	code   bool // within indented code
}

func readBlocks(md markdown.Text) []block {
	r := &blockReader{lines: md.Lines, base: baseIndent(md), folded: -1, blank: true}
	for i, l := range r.lines {
		if strings.HasPrefix(strings.TrimSpace(l.Text), "</details>") {
			r.folded = i
		}
	}
	for i := 0; i < len(r.lines); i++ {
		if i = r.skipFolded(i); i >= len(r.lines) || r.endsMail(i) {
			break
		}
		r.line(r.lines[i])
	}
	for i, b := range r.blocks {
		if b.kind == blockItem {
			r.blocks[i].text = strings.Join(b.lines, " ")
		}
	}
	return r.blocks
}

// baseIndent is by how much all lines are indented.
func baseIndent(md markdown.Text) int {
	base := -1
	for _, l := range md.Lines {
		if indent := markdown.IndentOf(l.Text); l.Kind == markdown.LineText && !l.Blank() && (base < 0 || indent < base) {
			base = indent
		}
	}
	return max(base, 0)
}

// skipFolded steps over folded parts about the past.
func (r *blockReader) skipFolded(i int) int {
	title, ok := summaryOf(r.lines[i].Text)
	if !ok || r.lines[i].Kind != markdown.LineText || r.folded <= i || kindOfTitle(title) != sectionMuted {
		return i
	}
	for !strings.Contains(r.lines[i].Text, "</details>") {
		i++
	}
	return i + 1
}

// summaryOf is the title of HTML details.
func summaryOf(text string) (string, bool) {
	_, title, ok := strings.Cut(text, "<summary>")
	title, _, closed := strings.Cut(title, "</summary>")
	return strings.TrimSpace(title), ok && closed
}

// endsMail: below "-- " stands a signature.
func (r *blockReader) endsMail(i int) bool {
	return strings.TrimRight(r.lines[i].Text, " ") == "--" && r.lines[i].Kind == markdown.LineText && len(r.lines)-i <= 10
}

func (r *blockReader) add(b block) {
	r.blocks = append(r.blocks, b)
	r.open = b.kind == blockItem || b.kind == blockLines
	r.inList = b.kind == blockItem || r.inList && b.kind != blockHeading && (b.kind != blockLines || b.indent > 0)
}

func (r *blockReader) last() *block {
	if len(r.blocks) == 0 {
		return &block{}
	}
	return &r.blocks[len(r.blocks)-1]
}

func (r *blockReader) line(l markdown.Line) {
	if l.Blank() && l.Kind == markdown.LineText {
		r.open, r.blank = false, true
		return
	}
	blank := r.blank
	r.blank = false
	if l.Kind != markdown.LineText {
		r.add(block{kind: blockGap})
		return
	}
	indent := markdown.IndentOf(l.Text) - r.base
	if r.code = indent >= 4 && (r.code || blank && !r.inList); r.code {
		r.add(block{kind: blockGap})
		return
	}
	r.text(indent, l)
}

// text reads a line that is no code.
func (r *blockReader) text(indent int, l markdown.Line) {
	text := strings.TrimSpace(l.Text)
	if title, ok := summaryOf(text); ok {
		r.add(block{kind: blockHeading, level: levelSummary, text: title})
		return
	}
	if text = withoutTags(text); text == "" || isTag(text) {
		r.open = false
		return
	}
	switch level, title := headingIn(text); {
	case r.underlines(text):
		title := strings.Join(r.last().lines, " ")
		*r.last() = block{kind: blockHeading, level: 1 + strings.Count(text[:1], "-"), text: title}
		r.open, r.inList = false, false
	case isVerdictLine(text), isRule(text), strings.Trim(text, "=") == "":
		r.add(block{kind: blockGap})
	case level > 0:
		r.add(block{kind: blockHeading, level: level, text: title})
	case strings.HasPrefix(text, "|"):
		r.row(text)
	default:
		r.words(indent, text)
	}
}

func isVerdictLine(text string) bool {
	_, ok := verdictLine(markdown.Line{Text: text})
	return ok
}

// underlines reports whether text makes a heading of the paragraph above it.
func (r *blockReader) underlines(text string) bool {
	above := r.last()
	return r.open && above.kind == blockLines && len(above.lines) <= 2 && len(text) > 2 && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

// headingIn reads a heading, or a line in bold alone.
func headingIn(text string) (level int, title string) {
	if s := strings.TrimSuffix(text, ":"); strings.HasPrefix(s, "__") && strings.HasSuffix(s, "__") {
		text = strings.ReplaceAll(text, "__", "**")
	}
	return markdown.Line{Text: text}.HeadingOrBold()
}

// row reads a row of a table. The line of dashes says that the row above it is the header.
func (r *blockReader) row(text string) {
	if isDashes(text) {
		if r.last().kind == blockRow {
			*r.last() = block{kind: blockGap}
		}
		return
	}
	r.add(block{kind: blockRow, cells: tableCells(text)})
}

// words reads an item, or a line that goes on with what is above it.
func (r *blockReader) words(indent int, text string) {
	above := r.last()
	_, item, listed := cutItem(text)
	if !listed && (isStatusLine(text) || isPlaced(text)) {
		item, listed = text, true
	}
	switch {
	case listed && strings.HasPrefix(item, ">"):
		r.add(block{kind: blockGap})
	case listed:
		r.add(block{kind: blockItem, indent: indent, lines: []string{item}})
	case r.open && above.kind == blockItem && indent <= above.indent && breaksAfter(above.lines[len(above.lines)-1], text):
		r.add(block{kind: blockLines, lines: []string{text}})
	case r.open:
		above.lines = append(above.lines, text)
	default:
		if !r.inList {
			indent = 0
		}
		r.add(block{kind: blockLines, indent: indent, lines: []string{text}})
	}
}

// listEnd is where the list that begins at i ends.
func listEnd(blocks []block, i int) int {
	end := i
	for end < len(blocks) && (blocks[end].kind == blockItem || blocks[end].kind == blockLines && blocks[end].indent > blocks[i].indent) {
		end++
	}
	return end
}

// htmlTags are what is taken off the start and the end of a line. The words of an
// item stand behind a list mark.
var htmlTags = []string{"<ol>", "</ol>", "<ul>", "</ul>", "</li>", "<p>", "</p>", "<br>", "<br/>", "<br />", "<details>", "<details open>", "</details>", "<div>", "</div>"}

func withoutTags(text string) string {
	for again := true; again && (strings.HasPrefix(text, "<") || strings.HasSuffix(text, ">")); {
		again = false
		for _, tag := range htmlTags {
			if cut := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, tag), tag)); cut != text {
				text, again = cut, true
			}
		}
	}
	if item, ok := strings.CutPrefix(text, "<li>"); ok {
		return "- " + strings.TrimSpace(item)
	}
	return text
}

// isTag reports whether text is one element's tag, or one address, and nothing else.
func isTag(text string) bool {
	if strings.Contains(text, "://") && !strings.ContainsAny(text, " \t") {
		return true
	}
	name, ok := strings.CutPrefix(text, "<")
	name, closed := strings.CutSuffix(name, ">")
	return ok && closed && name != "" && !strings.ContainsAny(name, "<> :.@")
}

// cutItem takes a list mark off a line: those of cutBullet, other bullets, "(1)",
// "a)", "iv.", a number in a circle or on a key.
func cutItem(text string) (indent int, rest string, ok bool) {
	if indent, rest, ok = markdown.CutBullet(text); ok {
		return indent, rest, true
	}
	s := strings.TrimLeft(text, " \t")
	indent = markdown.IndentOf(text)
	mark, after, found := strings.Cut(s, " ")
	if !found || !isMark(mark) {
		after, found = cutWideMark(s)
	}
	if !found {
		return indent, s, false
	}
	return indent, strings.TrimSpace(after), true
}

func isMark(mark string) bool {
	if utf8.RuneCountInString(mark) == 1 {
		r, _ := utf8.DecodeRuneInString(mark)
		return strings.ContainsRune("◦▪▫‣●○■–—→➤►▶✦·∙⁃", r) || r >= '①' && r <= '⑳'
	}
	if strings.HasSuffix(mark, "\u20e3") {
		return unicode.IsDigit(rune(mark[0]))
	}
	inner, closed := strings.CutSuffix(mark, ")")
	if !closed {
		if inner, closed = strings.CutSuffix(mark, "."); !closed {
			return false
		}
	}
	inner, opened := strings.CutPrefix(inner, "(")
	if !isNumber(inner) || !opened {
		return isLetterMark(inner)
	}
	return inner != "" && len(inner) < 5
}

// isLetterMark reports whether s numbers an item: one letter, or a small roman numeral.
func isLetterMark(s string) bool {
	roman := []string{"ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii"}
	return len(s) == 1 && unicode.IsLetter(rune(s[0])) || slices.Contains(roman, strings.ToLower(s))
}

// cutWideMark takes off "1、" and "1．", which no space follows.
func cutWideMark(s string) (rest string, ok bool) {
	rest = strings.TrimLeft(s, "0123456789")
	if digits := len(s) - len(rest); digits == 0 || digits > 4 {
		return s, false
	}
	for _, mark := range []string{"、", "．", "）"} {
		if after, found := strings.CutPrefix(rest, mark); found {
			return after, true
		}
	}
	return s, false
}
