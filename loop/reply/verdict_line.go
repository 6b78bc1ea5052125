package reply

import (
	"regexp"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// verdictWord is what a verdict line says.
type verdictWord struct {
	label string
	value string // empty when it stands on a line below
	asked bool   // in one of the two documented forms, "### Verdict: X" and "**Verdict:** X"
}

// The labels of verdict lines.
const (
	labelVerdict = "verdict"
	labelMerge   = "ready to merge"
	labelOverall = "overall"
)

// askedVerdict begins a verdict line as it is documented: nothing else states a pass.
var askedVerdict = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ {0,3}(?i:#+[ \t]*Verdict:|\*\*Verdict:\*\*)`)
})

// verdictLine reads "### Verdict: X", "**Verdict:** X", "Verdict: X", "### Final
// verdict — X" and "Ready to merge? X". The value is empty when it stands on a line below.
// Other forms than the documented ones state a verdict only where they refuse.
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
		return v, false // a code span names a line and does not say it
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

// verdictValue reads what follows the label. Only a heading may do without a colon
// or, where it asks, a question mark.
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
