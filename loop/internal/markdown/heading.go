package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/prose"
)

// HeadingOf parses an ATX heading: its level (0: not a heading) and its text. The space after
// the marks may be missing: "###Verdict: PASS".
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

// IsDecor reports whether r is decoration around a word: emphasis, emoji, white space,
// zero-width marks.
func IsDecor(r rune) bool {
	return strings.ContainsRune("*_`", r) || unicode.IsSpace(r) ||
		unicode.In(r, unicode.So, unicode.Sk, unicode.Cf, unicode.Mn)
}

// TrimDecor returns s without decoration at both ends.
func TrimDecor(s string) string { return strings.TrimFunc(s, IsDecor) }

// BoldOnly returns the text of a line that is bold from end to end, such as "**Findings:**".
func BoldOnly(text string) (string, bool) {
	s := strings.TrimSpace(text)
	s = strings.TrimSuffix(s, ":")
	if len(s) < 5 || IndentOf(text) > 3 || !strings.HasPrefix(s, "**") || !strings.HasSuffix(s, "**") {
		return "", false
	}
	inner := s[2 : len(s)-2]
	return strings.TrimSpace(strings.TrimRight(inner, ":")), !strings.Contains(inner, "**")
}

// Labelled removes bullet and emphasis from a line that may begin with a label; it returns ""
// for a line without a colon near its start.
func Labelled(text string) string {
	if !strings.Contains(prose.Cut(text, 80), ":") && !strings.Contains(prose.Cut(text, 80), "：") {
		return ""
	}
	_, s, _ := CutBullet(text)
	return strings.TrimLeftFunc(s, IsDecor)
}

// CutLabel cuts label (lower case) and its colon off the result of Labelled: "Issue:** text",
// "Issue**: text", "Issue: text".
func CutLabel(s, label string) (value string, ok bool) {
	if len(s) < len(label) || !strings.EqualFold(s[:len(label)], label) {
		return "", false
	}
	return CutColon(s[len(label):])
}

// CutColon cuts the colon and the emphasis around it off the text after a label.
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

// Section is the lines [From, To) below a heading, and the heading's text.
type Section struct {
	Title    string
	From, To int
}

// Sections returns the sections whose title is accepted by wanted. A section ends at a
// heading of the same or a higher level. A line in bold alone begins a section too; boldEnds
// says whether the next such line ends it.
func (md Text) Sections(wanted func(title string) bool, boldEnds bool) []Section {
	var found []Section
	open := 0 // level of the open section; 0: none
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

// LevelBold is the level of a line in bold alone, below every heading.
const LevelBold = 7

// levelSection is the level of a report's sections, such as "### Findings".
const levelSection = 3

// HeadingOrBold returns the level of a heading or of a line in bold alone, 0 for another line,
// and its text without decoration.
func (l Line) HeadingOrBold() (level int, title string) {
	level, title = l.Title()
	return level, TrimDecor(title)
}

// Title is HeadingOrBold, but keeps emphasis and pictures in the text.
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

// bareTitle returns an undecorated line that may be the title of the lines below, such as
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

// Text returns the unchanged lines of a section.
func (md Text) Text(s Section) string {
	var b strings.Builder
	for _, l := range md.Lines[s.From:s.To] {
		b.WriteString(l.Text + "\n")
	}
	return strings.TrimSpace(b.String())
}

// TitleIs reports whether title begins with one of words (lower case), followed by the end of
// a word.
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
