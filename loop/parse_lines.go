package loop

import (
	"git-runr/loop/prose"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParsed is how much of an answer is read: far above any real one.
const maxParsed = 4 << 20

// maxParseWarnings keeps a hostile answer from filling the report with warnings.
const maxParseWarnings = 50

// parseLog collects what could not be read as it stood.
type parseLog struct {
	lines []string
	more  int
}

func (l *parseLog) add(warning string) {
	if len(l.lines) >= maxParseWarnings {
		l.more++
		return
	}
	l.lines = append(l.lines, warning)
}

// all is never nil.
func (l *parseLog) all() []string {
	out := append([]string{}, l.lines...)
	if l.more > 0 {
		out = append(out, "more warnings were left out")
	}
	return out
}

// cleanInput makes an agent's output readable: one kind of line end, valid UTF-8,
// no byte order mark, no terminal colours, at most maxParsed bytes.
func cleanInput(text string, log *parseLog) (clean string, whole bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = withoutColours(strings.TrimPrefix(text, "\uFEFF"))
	if len(text) > maxParsed {
		log.add("the answer is longer than 4 MiB: the rest was not read")
	}
	return prose.Cut(text, maxParsed), len(text) <= maxParsed
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

type lineKind byte

const (
	lineText    lineKind = iota
	lineFence            // opens or closes a code fence
	lineCode             // inside a fence
	lineDiff             // inside a hunk of a diff that stands without a fence
	lineQuote            // blockquote, or an element of a prompt that was said again
	lineComment          // HTML comment
	lineTaken            // already read as part of a report
)

// mdLine is one line of Markdown and how much its words count: only a lineText
// line is the author speaking.
type mdLine struct {
	text string
	kind lineKind
	info string // of the fence that the line opens
}

func (l mdLine) blank() bool { return strings.TrimSpace(l.text) == "" }

// silent reports whether l is not part of what the author says.
func (l mdLine) silent() bool { return l.blank() || l.kind == lineQuote || l.kind == lineComment }

// mdText is a text, line by line.
type mdText struct {
	lines []mdLine
	// unclosed: a fence or comment runs to the end. What it hides may matter.
	unclosed bool
}

// readMarkdown splits text into lines. An answer that is one single fence
// (models wrap whole answers in one) is read as what it holds; quotations beside it
// are not the answer.
func readMarkdown(text string) mdText {
	md := splitMarkdown(text)
	first, last := md.span()
	if last-first < 2 || md.lines[first].kind != lineFence || md.lines[last].kind != lineFence || !wrapsText(md.lines[first].info) {
		return md
	}
	var inner []string
	for _, l := range md.lines[first+1 : last] {
		if l.kind != lineCode {
			return md
		}
		inner = append(inner, l.text)
	}
	return splitMarkdown(strings.Join(inner, "\n"))
}

func wrapsText(info string) bool {
	switch strings.ToLower(info) {
	case "", "md", "markdown", "text", "txt":
		return true
	}
	return false
}

// span is the first and the last line that is neither blank nor quoted.
func (md mdText) span() (first, last int) {
	last = len(md.lines) - 1
	for first < last && md.lines[first].silent() {
		first++
	}
	for last > first && md.lines[last].silent() {
		last--
	}
	return first, last
}

func splitMarkdown(text string) mdText {
	raw := strings.Split(text, "\n")
	s := splitter{raw: raw, bare: bareFenceNext(raw), closes: closingTags(raw)}
	lines := make([]mdLine, len(raw))
	for i, text := range raw {
		lines[i] = s.next(i, text)
	}
	return mdText{lines: lines, unclosed: s.fence.size > 0 || s.comment}
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
var echoed = map[string]bool{
	"references": true, "review_scope": true, "request": true, "objective": true, "task": true, "done_criteria": true, "instructions": true,
	"earlier_attempts": true, "notes_from_people": true, "fix_instructions": true, "previous_attempt_failures": true, "previous_findings": true,
	"subtask_done_criteria": true, "files_modified": true, "files_already_modified": true, "executor_verification": true, "check_results": true,
	"interventions_by_people": true, "thinking": true, "think": true, "scratchpad": true, "reasoning": true,
}

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

func (s *splitter) next(i int, text string) mdLine {
	trimmed := strings.TrimSpace(text)
	switch {
	case s.comment:
		s.comment = !strings.Contains(text, "-->")
		return mdLine{text: text, kind: lineComment}
	case s.element != "":
		if strings.Contains(text, s.element) {
			s.element = ""
		}
		return mdLine{text: text, kind: lineQuote}
	case s.fence.size > 0:
		if f, ok := fenceMark(text); ok && s.fence.closedBy(f) {
			s.fence = fence{}
			return mdLine{text: text, kind: lineFence}
		}
		return mdLine{text: text, kind: lineCode}
	case s.hunk.takes(text):
		return mdLine{text: text, kind: lineDiff}
	case strings.HasPrefix(trimmed, ">"):
		return mdLine{text: text, kind: lineQuote}
	case strings.HasPrefix(trimmed, "<!--"):
		s.comment = !strings.Contains(trimmed, "-->")
		return mdLine{text: text, kind: lineComment}
	}
	if name := strings.TrimSuffix(strings.TrimPrefix(trimmed, "<"), ">"); len(name) == len(trimmed)-2 && echoed[name] && s.closes[name] > i {
		s.element = "</" + name + ">"
		return mdLine{text: text, kind: lineQuote}
	}
	if h, ok := hunkHeader(text); ok {
		s.hunk = h
		return mdLine{text: text, kind: lineDiff}
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
			return lineNumber(n)
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
func (s *splitter) opens(i int, text string) mdLine {
	if f, ok := fenceMark(text); ok {
		s.fence = f
		return mdLine{text: text, kind: lineFence, info: f.info}
	}
	if _, rest, ok := cutBullet(text); ok {
		if f, ok := fenceMark(rest); ok {
			s.fence = f
			return mdLine{text: text, kind: lineFence, info: f.info}
		}
	}
	if s.bare[i] && endsInFence(text) {
		s.fence = fence{mark: '`', size: 3}
	}
	return mdLine{text: text}
}

func endsInFence(text string) bool {
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

// indentOf is the width of the white space before s.
func indentOf(s string) int {
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

// cutBullet takes a list mark ("- ", "* ", "+ ", "• ", "1. ", "1) ") off a line.
func cutBullet(text string) (indent int, rest string, ok bool) {
	s := strings.TrimLeft(text, " \t")
	indent = indentOf(text)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case digits > 0 && digits < 5 && len(s) > digits && (s[digits] == '.' || s[digits] == ')'):
		rest = s[digits+1:]
	case strings.HasPrefix(s, "•"):
		return indent, strings.TrimSpace(s[len("•"):]), true
	case s != "" && strings.ContainsRune("-*+", rune(s[0])):
		rest = s[1:]
	default:
		return indent, s, false
	}
	if rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
		return indent, s, false
	}
	return indent, strings.TrimSpace(rest), true
}

// headingOf reads an ATX heading: its level (0: none) and its text. The space
// after the marks may be missing, as in seed 004's pattern.
func headingOf(text string) (level int, title string) {
	if indentOf(text) > 3 {
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

// isDecor reports whether r is something people put around a word: emphasis,
// emoji, white space, marks without width.
func isDecor(r rune) bool {
	return strings.ContainsRune("*_`", r) || unicode.IsSpace(r) || unicode.In(r, unicode.So, unicode.Sk, unicode.Cf, unicode.Mn)
}

func trimDecor(s string) string { return strings.TrimFunc(s, isDecor) }

// boldOnly is the text of a line that is bold from end to end, such as "**Findings:**".
func boldOnly(text string) (string, bool) {
	s := strings.TrimSpace(text)
	s = strings.TrimSuffix(s, ":")
	if len(s) < 5 || indentOf(text) > 3 || !strings.HasPrefix(s, "**") || !strings.HasSuffix(s, "**") {
		return "", false
	}
	inner := s[2 : len(s)-2]
	return strings.TrimSpace(strings.TrimRight(inner, ":")), !strings.Contains(inner, "**")
}

// labelled takes bullet and emphasis off a line that may begin with a label; "" for
// one that has no colon near its start.
func labelled(text string) string {
	if !strings.Contains(prose.Cut(text, 80), ":") && !strings.Contains(prose.Cut(text, 80), "：") {
		return ""
	}
	_, s, _ := cutBullet(text)
	return strings.TrimLeftFunc(s, isDecor)
}

// cutLabel takes label (lower case) and its colon off what labelled gives: "Issue:** text",
// "Issue**: text", "Issue: text".
func cutLabel(s, label string) (value string, ok bool) {
	if len(s) < len(label) || !strings.EqualFold(s[:len(label)], label) {
		return "", false
	}
	return cutColon(s[len(label):])
}

// cutColon takes the colon and the emphasis around it off the rest of a label.
func cutColon(s string) (string, bool) {
	s = strings.TrimLeftFunc(s, isDecor)
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

// mdSection is the lines [from, to) below a heading, and its first line's text.
type mdSection struct {
	title    string
	from, to int
}

// sections finds the headings whose title wanted accepts, and what stands below
// each until a heading of the same or a higher level. A line in bold alone starts
// a section too; boldEnds says whether the next such line ends it.
func (md mdText) sections(wanted func(title string) bool, boldEnds bool) []mdSection {
	var found []mdSection
	open := 0 // level of the section that is open; 0: none
	for i, l := range md.lines {
		level, title := l.headingOrBold()
		if level == 0 {
			title = l.bareTitle()
			if title == "" || open > 0 && open < levelBold || !wanted(title) {
				continue
			}
			level = levelBold
		}
		if open > 0 && level <= open {
			found[len(found)-1].to, open = i, 0
		}
		if open == 0 && wanted(title) {
			found, open = append(found, mdSection{title: title, from: i + 1, to: len(md.lines)}), level
			if level == levelBold && !boldEnds {
				open = levelSection
			}
		}
	}
	return found
}

// levelBold is the level of a line in bold alone: below every heading.
const levelBold = 7

// levelSection is the level of the headings in seed 004's reports.
const levelSection = 3

func (l mdLine) headingOrBold() (level int, title string) {
	if l.kind != lineText {
		return 0, ""
	}
	if level, title := headingOf(l.text); level > 0 {
		return level, trimDecor(title)
	}
	if title, ok := boldOnly(l.text); ok {
		return levelBold, trimDecor(title)
	}
	return 0, ""
}

// bareTitle is an undecorated line that may title what stands below it, such as
// "Findings:", or "**Files Modified:** a.go".
func (l mdLine) bareTitle() string {
	_, s, listed := cutBullet(l.text)
	if l.kind != lineText || listed || indentOf(l.text) > 3 || !strings.Contains(s, ":") || len(s) > 2000 {
		return ""
	}
	if before, after, ok := strings.Cut(s, ":**"); ok && strings.HasPrefix(before, "**") {
		s = before + ":" + after
	}
	return strings.TrimSuffix(trimDecor(s), ":")
}

// text is the lines of a section as they stand.
func (md mdText) text(s mdSection) string {
	var b strings.Builder
	for _, l := range md.lines[s.from:s.to] {
		b.WriteString(l.text + "\n")
	}
	return strings.TrimSpace(b.String())
}

// titleIs reports whether title begins with one of the words (lower case), and
// whether the first word ends there.
func titleIs(title string, words ...string) bool {
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

// lineNumber is 0 for what cannot be one.
func lineNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}
