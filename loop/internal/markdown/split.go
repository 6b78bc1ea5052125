package markdown

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/prose"
)

// Split classifies each line of text. One of lineEnds ends a line of the author's words, but
// not of a quotation or of code, which would then end unnoticed by the author.
func Split(text string) Text {
	raw := strings.Split(text, "\n")
	s := splitter{raw: raw, bare: bareFenceNext(raw), closes: closingTags(raw)}
	md := Text{Lines: make([]Line, 0, len(raw))}
	for i, text := range raw {
		l := s.next(i, text)
		if l.Enclosed = s.closing != ""; l.Kind == LineText {
			s.enclose(i, text)
		}
		if l.Kind != LineText || !strings.ContainsAny(text, lineEnds) {
			md.Lines = append(md.Lines, l)
			continue
		}
		for n, piece := range strings.FieldsFunc(text+"\n", func(r rune) bool { return strings.ContainsRune(lineEnds, r) }) {
			md.Lines = append(md.Lines, tornLine(l, strings.TrimSuffix(piece, "\n"), n > 0))
		}
	}
	md.Unclosed = s.fence.size > 0 || s.comment
	return md
}

func tornLine(l Line, text string, torn bool) Line {
	l.Text, l.Torn = text, torn
	if strings.HasPrefix(strings.TrimSpace(text), ">") {
		l.Kind = LineQuote
	}
	return l
}

// enclosures are the marks that open and close the HTML of Line.Enclosed.
var enclosures = [][2]string{{"<!--", "-->"}, {"<pre>", "</pre>"}, {"<pre ", "</pre>"}, {"<code>", "</code>"}}

// enclose records whether HTML is open below line i. A mark in a code span is named, and one that is never closed is a
// part of a sentence.
func (s *splitter) enclose(i int, text string) {
	for _, span := range slices.Backward(prose.Spans(text, "`")) {
		text = text[:span.From] + text[span.To:]
	}
	text = strings.ToLower(text)
	at := strings.Index(text, s.closing)
	if at < 0 {
		return
	}
	text, s.closing = text[at:], ""
	for _, marks := range enclosures {
		at := strings.LastIndex(text, marks[0])
		if at >= 0 && !strings.Contains(text[at:], marks[1]) && s.closes[marks[1]] > i {
			s.closing = marks[1]
		}
	}
}

// closingTags returns, for each element, the last line that begins with its closing tag, and for each mark that closes
// one of enclosures the last line that holds it.
func closingTags(raw []string) map[string]int {
	closes := map[string]int{}
	for i, text := range raw {
		if name, ok := strings.CutPrefix(strings.TrimSpace(text), "</"); ok {
			closes[strings.TrimSuffix(name, ">")] = i
		}
		text = strings.ToLower(text)
		for _, marks := range enclosures {
			if strings.Contains(text, marks[1]) {
				closes[marks[1]] = i
			}
		}
	}
	return closes
}

// echoed are the elements of our own prompts, and those that agents use for thinking.
var echoed = prose.WordSet(
	`references review_scope request objective task done_criteria instructions earlier_attempts notes_from_people fix_instructions previous_attempt_failures
	previous_findings subtask_done_criteria files_modified files_already_modified executor_verification check_results interventions_by_people thinking think scratchpad reasoning`)

// bareFenceNext reports for each line whether the next fence mark below it has no info string
// and so may close a fence.
func bareFenceNext(raw []string) []bool {
	bare := make([]bool, len(raw))
	next := false
	for i := len(raw) - 1; i >= 0; i-- {
		bare[i] = next
		if f, ok := fenceMark(raw[i]); ok && f.mark == '`' {
			next = f.info == ""
		}
	}
	return bare
}

type splitter struct {
	raw     []string
	bare    []bool
	closes  map[string]int
	fence   fence // the open one; size 0: none
	comment bool
	element string // closing tag of the open element
	closing string // of the open one of enclosures
	hunk    hunkLeft
}

func (s *splitter) next(i int, text string) Line {
	trimmed := strings.TrimSpace(text)
	switch {
	case s.comment:
		s.comment = !strings.Contains(text, "-->")
		return Line{Text: text, Kind: LineComment}
	case s.element != "":
		if strings.Contains(text, s.element) {
			s.element = ""
		}
		return Line{Text: text, Kind: LineQuote}
	case s.fence.size > 0:
		if f, ok := fenceMark(text); ok && s.fence.closedBy(f) {
			s.fence = fence{}
			return Line{Text: text, Kind: LineFence}
		}
		return Line{Text: text, Kind: LineCode}
	case s.hunk.takes(text):
		return Line{Text: text, Kind: lineDiff}
	case strings.HasPrefix(trimmed, ">"):
		return Line{Text: text, Kind: LineQuote}
	case strings.HasPrefix(trimmed, "<!--"):
		s.comment = !strings.Contains(trimmed, "-->")
		return Line{Text: text, Kind: LineComment}
	}
	if name := strings.TrimSuffix(strings.TrimPrefix(trimmed, "<"), ">"); len(name) == len(trimmed)-2 &&
		echoed.Has(name) && s.closes[name] > i {
		s.element = "</" + name + ">"
		return Line{Text: text, Kind: LineQuote}
	}
	if h, ok := hunkHeader(text); ok {
		s.hunk = h
		return Line{Text: text, Kind: lineDiff}
	}
	return s.opens(i, text)
}

// hunkLeft is how many lines of a hunk are left.
type hunkLeft struct{ old, new int }

// hunkHeader parses "@@ -1,2 +3,4 @@".
func hunkHeader(text string) (hunkLeft, bool) {
	fields := strings.Fields(text)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" || !strings.HasPrefix(fields[1], "-") ||
		!strings.HasPrefix(fields[2], "+") {
		return hunkLeft{}, false
	}
	count := func(span string) int {
		if _, n, ok := strings.Cut(span, ","); ok {
			return Number(n)
		}
		return 1
	}
	return hunkLeft{old: count(fields[1]), new: count(fields[2])}, true
}

// takes reports whether text is the next line of the hunk. A line that cannot be part of a
// diff ends the hunk, whatever its header said.
func (h *hunkLeft) takes(text string) bool {
	sign := text[:min(1, len(text))]
	switch {
	case h.old <= 0 && h.new <= 0:
		return false
	case sign == "" || sign == " ":
		h.old--
		h.new--
	case sign == "-":
		h.old--
	case sign == "+":
		h.new--
	case sign != `\`:
		*h = hunkLeft{}
		return false
	}
	return true
}

// opens reads a line outside of any block. It may open a fence: alone, after a bullet, or at
// its end ("**Fix:** ```go").
func (s *splitter) opens(i int, text string) Line {
	if f, ok := fenceMark(text); ok {
		s.fence = f
		return Line{Text: text, Kind: LineFence, Info: f.info}
	}
	if _, rest, ok := CutBullet(text); ok {
		if f, ok := fenceMark(rest); ok {
			s.fence = f
			return Line{Text: text, Kind: LineFence, Info: f.info}
		}
	}
	if s.bare[i] && EndsInFence(text) {
		s.fence = fence{mark: '`', size: 3}
	}
	return Line{Text: text}
}

// EndsInFence reports whether a line of prose ends with the start of a fence: "**Fix:** ```go".
func EndsInFence(text string) bool {
	if strings.Count(text, "```")%2 == 0 {
		return false
	}
	info := text[strings.LastIndex(text, "```")+3:]
	return !strings.ContainsFunc(strings.TrimRight(info, " \t"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_+#.-", r)
	})
}

// fence is a run of three or more ` or ~ and the words after it.
type fence struct {
	mark byte
	size int
	info string
}

func (f fence) closedBy(g fence) bool { return g.mark == f.mark && g.size >= f.size && g.info == "" }

// fenceMark parses a line that is a fence, with any indentation, as in a list.
func fenceMark(text string) (fence, bool) {
	s := strings.TrimLeft(text, " \t")
	if s == "" || (s[0] != '`' && s[0] != '~') {
		return fence{}, false
	}
	size := len(s) - len(strings.TrimLeft(s, s[:1]))
	f := fence{mark: s[0], size: size, info: strings.TrimSpace(s[size:])}
	if size < 3 || (f.mark == '`' && strings.Contains(f.info, "`")) {
		return fence{}, false
	}
	return f, true
}
