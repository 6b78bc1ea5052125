package diagnose

import (
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Markdown formats the report for a pull request.
func (r Report) Markdown() string {
	var b strings.Builder
	title := r.Entity.Name()
	if title == "" {
		title = "Run " + r.RunID
	}
	safetext.Fprintf(&b, "## %s\n\n**%s**\n\n", markdown(title), markdown(r.outcomeLine()))
	safetext.Fprintf(&b, "- run: `%s`\n", r.RunID)
	if r.Base != "" {
		safetext.Fprintf(&b, "- from %s to %s\n", markdown(r.Base.Short()), markdown(r.Checkpoint.Short()))
	}
	if r.StopReason != "" {
		safetext.Fprintf(&b, "\n%s\n", markdown(r.Explanation))
	}
	writeMarkdown(&b, "###", r.parts()...)
	return b.String()
}

// markdownEscapes replaces what Markdown and hosts interpret. The space without width is invisible; it keeps the next
// word from being a name or a number.
var markdownEscapes = strings.NewReplacer("\\", `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`,
	"~", `\~`, "!", `\!`, "$", `\$`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "@&#8203;", "#", "#&#8203;")

// markdown returns untrusted text as one line of Markdown that displays as written: without markup, HTML, mentions or
// issue links.
func markdown(s string) string {
	s = markdownEscapes.Replace(oneLine(s))
	body := strings.TrimLeft(s, "0123456789")
	switch number := s[:len(s)-len(body)]; {
	case number == "" && strings.IndexAny(s, "+-=") == 0:
		return `\` + s
	case number != "" && strings.IndexAny(body, ".)") == 0: // it would be an item of a numbered list
		return number + body[:1] + "&#8203;" + body[1:]
	}
	return s
}
