// Package markdown says of each line of a text whether its author speaks in it, and finds
// the sections, labels and JSON objects in it, as agents write them and not as a standard does.
package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/prose"
)

// MaxParsed is how much of an answer is read: far above any real one.
const MaxParsed = 4 << 20

// maxParseWarnings keeps a hostile answer from filling the report with warnings.
const maxParseWarnings = 50

// Warnings collects what could not be read as it stood.
type Warnings struct {
	lines []string
	more  int
}

// Add keeps a warning. From the 51st on they are only counted.
func (l *Warnings) Add(warning string) {
	if len(l.lines) >= maxParseWarnings {
		l.more++
		return
	}
	l.lines = append(l.lines, warning)
}

// All is never nil.
func (l *Warnings) All() []string {
	out := append([]string{}, l.lines...)
	if l.more > 0 {
		out = append(out, "more warnings were left out")
	}
	return out
}

// Clean makes an agent's output readable: one kind of line end, valid UTF-8,
// no byte order mark, no terminal colours, at most MaxParsed bytes.
func Clean(text string, log *Warnings) (clean string, whole bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = withoutColours(strings.TrimPrefix(text, "\uFEFF"))
	if len(text) > MaxParsed {
		log.Add("the answer is longer than 4 MiB: the rest was not read")
	}
	return prose.Cut(text, MaxParsed), len(text) <= MaxParsed
}

// withoutColours takes out the escape sequences by which terminals colour text.
func withoutColours(s string) string {
	before, rest, found := strings.Cut(s, "\x1b[")
	if !found {
		return s
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		rest = strings.TrimLeft(rest, "0123456789;")
		if rest != "" && (rest[0] == 'm' || rest[0] == 'K') {
			rest = rest[1:]
		}
		before, rest, found = strings.Cut(rest, "\x1b[")
	}
	b.WriteString(before)
	return b.String()
}

// lineEnds are what some programs end a line at beside "\n" and "\r\n", and some do not.
const lineEnds = "\r\v\f\u0085\u2028\u2029"

// Printable is clean with U+2028 for each of lineEnds, and U+FFFD for the other
// control characters: they part words, as a character that nobody can read does.
func Printable(clean string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(lineEnds, r):
			return '\u2028'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return utf8.RuneError
		}
		return r
	}, clean)
}

type lineKind byte

const (
	LineText    lineKind = iota
	LineFence            // opens or closes a code fence
	LineCode             // inside a fence
	lineDiff             // inside a hunk of a diff that stands without a fence
	LineQuote            // blockquote, or an element of a prompt that was said again
	LineComment          // HTML comment
	LineTaken            // already read as part of a report
)

// Line is one line of Markdown and how much its words count: only a LineText
// line is the author speaking.
type Line struct {
	Text string
	Kind lineKind
	Info string // of the fence that the line opens
	// Torn: the line begins behind one of lineEnds, so only some programs show it as one.
	Torn bool
}

// Blank reports whether the line holds white space only.
func (l Line) Blank() bool { return strings.TrimSpace(l.Text) == "" }

// Silent reports whether l is not part of what the author says.
func (l Line) Silent() bool { return l.Blank() || l.Kind == LineQuote || l.Kind == LineComment }

// Text is a text, line by line.
type Text struct {
	Lines []Line
	// unclosed: a fence or comment runs to the end. What it hides may matter.
	Unclosed bool
	Torn     bool // some lines are
}

// Read splits text into lines. An answer that is one single fence
// (models wrap whole answers in one) is read as what it holds; quotations beside it
// are not the answer.
func Read(text string) Text {
	md := Split(text)
	first, last := md.Bounds()
	if last-first < 2 || md.Lines[first].Kind != LineFence || md.Lines[last].Kind != LineFence || !wrapsText(md.Lines[first].Info) {
		return md
	}
	var inner []string
	for _, l := range md.Lines[first+1 : last] {
		if l.Kind != LineCode {
			return md
		}
		inner = append(inner, l.Text)
	}
	return Split(strings.Join(inner, "\n"))
}

func wrapsText(info string) bool {
	switch strings.ToLower(info) {
	case "", "md", "markdown", "text", "txt":
		return true
	}
	return false
}

// Bounds is the first and the last line that is neither blank nor quoted.
func (md Text) Bounds() (first, last int) {
	last = len(md.Lines) - 1
	for first < last && md.Lines[first].Silent() {
		first++
	}
	for last > first && md.Lines[last].Silent() {
		last--
	}
	return first, last
}

// Split says of each line of text what it is. One of lineEnds ends a line of what the
// author says, and neither a quotation nor code, which would end unseen by its author.
func Split(text string) Text {
	raw := strings.Split(text, "\n")
	s := splitter{raw: raw, bare: bareFenceNext(raw), closes: closingTags(raw)}
	md := Text{Lines: make([]Line, 0, len(raw))}
	for i, text := range raw {
		l := s.next(i, text)
		if l.Kind != LineText || !strings.ContainsAny(text, lineEnds) {
			md.Lines = append(md.Lines, l)
			continue
		}
		for n, piece := range strings.FieldsFunc(text+"\n", func(r rune) bool { return strings.ContainsRune(lineEnds, r) }) {
			md.Lines = append(md.Lines, tornLine(strings.TrimSuffix(piece, "\n"), n > 0))
			md.Torn = md.Torn || n > 0
		}
	}
	md.Unclosed = s.fence.size > 0 || s.comment
	return md
}

func tornLine(text string, torn bool) Line {
	l := Line{Text: text, Torn: torn}
	if strings.HasPrefix(strings.TrimSpace(text), ">") {
		l.Kind = LineQuote
	}
	return l
}

// closingTags is, for each element, the last line that begins with its closing tag.
func closingTags(raw []string) map[string]int {
	closes := map[string]int{}
	for i, text := range raw {
		if name, ok := strings.CutPrefix(strings.TrimSpace(text), "</"); ok {
			closes[strings.TrimSuffix(name, ">")] = i
		}
	}
	return closes
}

// echoed are the elements of our own prompts, and those in which agents think aloud.
var echoed = prose.WordSet(`references review_scope request objective task done_criteria instructions earlier_attempts notes_from_people fix_instructions previous_attempt_failures
	previous_findings subtask_done_criteria files_modified files_already_modified executor_verification check_results interventions_by_people thinking think scratchpad reasoning`)

// bareFenceNext says for each line whether the next fence mark below it is one
// without an info string, which is what ends a fence.
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
	element string // closing tag of the one that is open
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
	if name := strings.TrimSuffix(strings.TrimPrefix(trimmed, "<"), ">"); len(name) == len(trimmed)-2 && echoed.Has(name) && s.closes[name] > i {
		s.element = "</" + name + ">"
		return Line{Text: text, Kind: LineQuote}
	}
	if h, ok := hunkHeader(text); ok {
		s.hunk = h
		return Line{Text: text, Kind: lineDiff}
	}
	return s.opens(i, text)
}

// hunkLeft is how many lines of a hunk are still to come.
type hunkLeft struct{ old, new int }

// hunkHeader reads "@@ -1,2 +3,4 @@".
func hunkHeader(text string) (hunkLeft, bool) {
	fields := strings.Fields(text)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" || !strings.HasPrefix(fields[1], "-") || !strings.HasPrefix(fields[2], "+") {
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

// takes reports whether text is the next line of the hunk. One that no diff holds
// ends it, whatever its header said.
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

// opens reads a line outside of everything, which may open a fence: alone, after
// a bullet, or at its end ("**Fix:** ```go").
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

// EndsInFence reports whether a line of words ends in what opens a fence: "**Fix:** ```go".
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

// fenceMark reads a line that is a fence, however far it is indented (in a list it is).
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

// IndentOf is the width of the white space before s.
func IndentOf(s string) int {
	width := 0
	for _, r := range s {
		switch r {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width
		}
	}
	return width
}

// CutBullet takes a list mark ("- ", "* ", "+ ", "• ", "◦ ", "1. ", "1) ", "(1) ", "a) ") off a line.
func CutBullet(text string) (indent int, rest string, ok bool) {
	s := strings.TrimLeft(text, " \t")
	indent = IndentOf(text)
	number := strings.TrimPrefix(s, "(")
	digits := len(number) - len(strings.TrimLeft(number, "0123456789"))
	switch {
	case digits > 0 && digits < 5 && len(number) > digits && (number[digits] == '.' || number[digits] == ')'):
		rest = number[digits+1:]
	case len(number) > 1 && unicode.IsLetter(rune(number[0])) && number[1] == ')':
		rest = number[2:]
	case strings.HasPrefix(s, "•"):
		return indent, strings.TrimSpace(s[len("•"):]), true
	case strings.IndexAny(s, "-*+◦▪●○■‣–→") == 0:
		_, size := utf8.DecodeRuneInString(s)
		rest = s[size:]
	default:
		return indent, s, false
	}
	if rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
		return indent, s, false
	}
	return indent, strings.TrimSpace(rest), true
}

// HeadingOf reads an ATX heading: its level (0: none) and its text. The space
// after the marks may be missing: "###Verdict: PASS".
func HeadingOf(text string) (level int, title string) {
	if IndentOf(text) > 3 {
		return 0, ""
	}
	s := strings.TrimSpace(text)
	level = len(s) - len(strings.TrimLeft(s, "#"))
	if level == 0 || level > 6 || len(s) == level {
		return 0, ""
	}
	if level == 1 && s[1] != ' ' && s[1] != '\t' { // #include, #42
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(s[level:], "# \t"))
}

// IsDecor reports whether r is something people put around a word: emphasis,
// emoji, white space, marks without width.
func IsDecor(r rune) bool {
	return strings.ContainsRune("*_`", r) || unicode.IsSpace(r) || unicode.In(r, unicode.So, unicode.Sk, unicode.Cf, unicode.Mn)
}

// TrimDecor is s without what IsDecor names at both ends.
func TrimDecor(s string) string { return strings.TrimFunc(s, IsDecor) }

// BoldOnly is the text of a line that is bold from end to end, such as "**Findings:**".
func BoldOnly(text string) (string, bool) {
	s := strings.TrimSpace(text)
	s = strings.TrimSuffix(s, ":")
	if len(s) < 5 || IndentOf(text) > 3 || !strings.HasPrefix(s, "**") || !strings.HasSuffix(s, "**") {
		return "", false
	}
	inner := s[2 : len(s)-2]
	return strings.TrimSpace(strings.TrimRight(inner, ":")), !strings.Contains(inner, "**")
}

// Labelled takes bullet and emphasis off a line that may begin with a label; "" for
// one that has no colon near its start.
func Labelled(text string) string {
	if !strings.Contains(prose.Cut(text, 80), ":") && !strings.Contains(prose.Cut(text, 80), "：") {
		return ""
	}
	_, s, _ := CutBullet(text)
	return strings.TrimLeftFunc(s, IsDecor)
}

// CutLabel takes label (lower case) and its colon off what Labelled gives: "Issue:** text",
// "Issue**: text", "Issue: text".
func CutLabel(s, label string) (value string, ok bool) {
	if len(s) < len(label) || !strings.EqualFold(s[:len(label)], label) {
		return "", false
	}
	return CutColon(s[len(label):])
}

// CutColon takes the colon and the emphasis around it off the rest of a label.
func CutColon(s string) (string, bool) {
	s = strings.TrimLeftFunc(s, IsDecor)
	rest, ok := strings.CutPrefix(s, ":")
	if !ok {
		rest, ok = strings.CutPrefix(s, "：")
	}
	if !ok {
		return "", false
	}
	for _, mark := range []string{"**", "__"} {
		rest = strings.TrimPrefix(rest, mark)
		if strings.Count(rest, mark)%2 == 1 {
			rest = strings.TrimSuffix(strings.TrimSpace(rest), mark)
		}
	}
	return strings.TrimSpace(rest), true
}

// Section is the lines [from, to) below a heading, and its first line's text.
type Section struct {
	Title    string
	From, To int
}

// Sections finds the headings whose title wanted accepts, and what stands below
// each until a heading of the same or a higher level. A line in bold alone starts
// a section too; boldEnds says whether the next such line ends it.
func (md Text) Sections(wanted func(title string) bool, boldEnds bool) []Section {
	var found []Section
	open := 0 // level of the section that is open; 0: none
	for i, l := range md.Lines {
		level, title := l.HeadingOrBold()
		if level == 0 {
			title = l.bareTitle()
			if title == "" || open > 0 && open < LevelBold || !wanted(title) {
				continue
			}
			level = LevelBold
		}
		if open > 0 && level <= open {
			found[len(found)-1].To, open = i, 0
		}
		if open == 0 && wanted(title) {
			found, open = append(found, Section{Title: title, From: i + 1, To: len(md.Lines)}), level
			if level == LevelBold && !boldEnds {
				open = levelSection
			}
		}
	}
	return found
}

// LevelBold is the level of a line in bold alone: below every heading.
const LevelBold = 7

// levelSection is the level of the sections in a report: "### Findings".
const levelSection = 3

// HeadingOrBold is the level of a heading or of a line in bold alone, 0 for another line,
// and its text less what decorates it.
func (l Line) HeadingOrBold() (level int, title string) {
	level, title = l.Title()
	return level, TrimDecor(title)
}

// Title is HeadingOrBold with the emphasis and the pictures in the text.
func (l Line) Title() (level int, title string) {
	if l.Kind != LineText {
		return 0, ""
	}
	if level, title := HeadingOf(l.Text); level > 0 {
		return level, title
	}
	if title, ok := BoldOnly(l.Text); ok {
		return LevelBold, title
	}
	return 0, ""
}

// bareTitle is an undecorated line that may title what stands below it, such as
// "Findings:", or "**Files Modified:** a.go".
func (l Line) bareTitle() string {
	_, s, listed := CutBullet(l.Text)
	if l.Kind != LineText || listed || IndentOf(l.Text) > 3 || !strings.Contains(s, ":") || len(s) > 2000 {
		return ""
	}
	if before, after, ok := strings.Cut(s, ":**"); ok && strings.HasPrefix(before, "**") {
		s = before + ":" + after
	}
	return strings.TrimSuffix(TrimDecor(s), ":")
}

// Text is the lines of a section as they stand.
func (md Text) Text(s Section) string {
	var b strings.Builder
	for _, l := range md.Lines[s.From:s.To] {
		b.WriteString(l.Text + "\n")
	}
	return strings.TrimSpace(b.String())
}

// TitleIs reports whether title begins with one of the words (lower case), and
// whether the first word ends there.
func TitleIs(title string, words ...string) bool {
	for _, w := range words {
		if len(title) < len(w) || !strings.EqualFold(title[:len(w)], w) {
			continue
		}
		r, _ := utf8.DecodeRuneInString(title[len(w):])
		if len(title) == len(w) || (!unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			return true
		}
	}
	return false
}

// Number is 0 for what cannot be one.
func Number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}
