package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// Prose returns the answer's text outside the requested block, whose content is in the
// summary and the findings; "" if there is no other text.
func (r Report) Prose() string {
	text := strings.TrimSpace(r.Text)
	switch {
	case markdown.Printable(text) == strings.TrimSpace(r.Summary), onlyVerdict(text):
		return ""
	case r.Format == formatTagged:
		return withoutTagged(text)
	case r.Format != FormatUnreadable && strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"):
		return ""
	}
	return text
}

// onlyVerdict reports whether text consists of verdict lines only.
func onlyVerdict(text string) bool {
	return !slices.ContainsFunc(markdown.Split(text).Lines, func(l markdown.Line) bool {
		_, isVerdict := verdictLine(l)
		return !isVerdict && !l.Blank()
	})
}

// withoutTagged returns text without the tagged blocks that were read. An unread block
// stays, because nothing else holds its content.
func withoutTagged(text string) string {
	md := markdown.Split(text)
	var kept []string
	inside := false
	for i, l := range md.Lines {
		opens := false
		if l.Kind == markdown.LineFence && l.Info == blockTag {
			_, unread, err := readBlock(markdown.Printable(md.CodeBelow(i)), &markdown.Warnings{})
			opens = err == nil && unread == ""
		}
		if !opens && !inside {
			kept = append(kept, l.Text)
		}
		inside = opens || inside && l.Kind == markdown.LineCode
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
