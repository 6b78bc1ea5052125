package reviewing

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// kinds holds, for each predefined kind of review, a file with what it looks for.
//
//go:embed kinds
var kinds embed.FS

// KindNames returns the names of the predefined kinds of review.
func KindNames() []string {
	files, _ := kinds.ReadDir("kinds")
	return each.Of(files, func(f fs.DirEntry) string { return strings.TrimSuffix(f.Name(), ".md") })
}

// writeKind writes what a review of one kind looks for. The program's own text is an instruction; the text of a request
// is quoted like everything that others wrote.
func writeKind(b *strings.Builder, p record.Panel) {
	if p.Kind == "" {
		return
	}
	b.WriteString("\nThis is a review of one kind: " + safetext.Line(p.Kind) +
		". Report only faults of this kind: other reviews look for the rest. Your verdict is about this kind alone.\n")
	if p.KindPrompt != "" {
		WriteBlock(b, "what_this_kind_looks_for", safetext.Quote(p.KindPrompt))
		return
	}
	text, _ := kinds.ReadFile("kinds/" + p.Kind + ".md")
	b.WriteString("Look for:\n" + string(text))
}
