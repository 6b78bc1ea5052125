package reply

import (
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// verdictWord is the content of a verdict line.
type verdictWord struct {
	label string
	value string // empty if the value is on a line below
	asked bool   // in one of the two documented forms, "### Verdict: X" and "**Verdict:** X"
}

// The labels of verdict lines.
const (
	labelVerdict = "verdict"
	labelMerge   = "ready to merge"
	labelOverall = "overall"
)

// askedVerdict matches the start of a verdict line in a documented form; only such a line can pass.
var askedVerdict = lazyre.Compile(`^ {0,3}(?i:#+[ \t]*Verdict:|\*\*Verdict:\*\*)`)

// verdictLine reads "### Verdict: X", "**Verdict:** X", "Verdict: X", "### Final
// verdict — X" and "Ready to merge? X". The value is empty if it is on a line below.
// In a list, a verdict or "ready to merge" is recognised only if it refuses; so is "overall" anywhere.
func verdictLine(l markdown.Line) (v verdictWord, ok bool) {
	indent, s, listed := markdown.CutBullet(l.Text)
	if l.Kind != markdown.LineText || indent > 3 && !listed {
		return v, false
	}
	level, title := markdown.HeadingOf(l.Text)
	if level > 0 {
		_, s, _ = markdown.CutBullet(title)
	}
	_, isBold := markdown.BoldOnly(l.Text)
	decorated := s
	s = strings.TrimLeftFunc(s, markdown.IsDecor)
	decor := decorated[:len(decorated)-len(s)]
	if strings.Contains(decor, "`") {
		return v, false // a code span names such a line and does not state it
	}
	v.asked = askedVerdict().MatchString(l.Text)
	for _, word := range []string{"final ", "overall ", "review "} {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			s = s[len(word):]
		}
	}
	for _, v.label = range []string{labelVerdict, labelMerge, labelOverall} {
		if markdown.TitleIs(s, v.label) {
			v.value, ok = verdictValue(s[len(v.label):], v.label, level > 0 || isBold)
			return v, ok && (!listed && v.label != labelOverall || refuses(v.value))
		}
	}
	return v, false
}

// verdictValue reads the text after the label. Only a heading may lack a colon or, for
// a question, a question mark.
func verdictValue(s, label string, heading bool) (value string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "(") { // "(round 2)"
		if _, after, closed := strings.Cut(s, ")"); closed {
			s = after
		}
	}
	if value, ok := markdown.CutColon(s); ok {
		return value, true
	}
	if answer, ok := strings.CutPrefix(s, "?"); ok && label == labelMerge {
		return strings.TrimLeft(answer, "*_: "), true
	}
	if !heading {
		return "", false
	}
	s = strings.TrimLeftFunc(s, func(r rune) bool { return markdown.IsDecor(r) || strings.ContainsRune("-–—", r) })
	_, _, known := cutVerdict(verdictWords(s))
	return s, s == "" || known || isTemplate(s)
}
