package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// Prose is what the answer says beside the block that was asked for, whose contents are
// the summary and the findings; "" where it says nothing else.
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

// onlyVerdict reports whether text is a verdict and not a word more.
func onlyVerdict(text string) bool {
	return !slices.ContainsFunc(markdown.Split(text).Lines, func(l markdown.Line) bool {
		_, isVerdict := verdictLine(l)
		return !isVerdict && !l.Blank()
	})
}

// withoutTagged is text, an answer as ownWords keeps it, less the blocks of our own form
// that were read: one that was not says what nothing else does.
func withoutTagged(text string) string {
	md := markdown.Split(text)
	var kept []string
	inside := false
	for i, l := range md.Lines {
		opens := l.Kind == markdown.LineFence && l.Info == blockTag && wasRead(md.CodeBelow(i))
		if !opens && !inside {
			kept = append(kept, l.Text)
		}
		inside = opens || inside && l.Kind == markdown.LineCode
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

func wasRead(body string) bool {
	_, unread, err := readBlock(markdown.Printable(body), &markdown.Warnings{})
	return err == nil && unread == ""
}
