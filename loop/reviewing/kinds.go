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

// kindText returns what a review of one kind looks for. The program's own text is an instruction; the text of a request
// is quoted like everything that others wrote.
func kindText(p record.Panel) string {
	if p.Kind == "" {
		return ""
	}
	lead := "\nThis is a review of one kind: " + safetext.Line(p.Kind) +
		". Report only faults of this kind: other reviews look for the rest. Your verdict is about this kind alone.\n"
	if p.KindPrompt != "" {
		return lead + tagged("what_this_kind_looks_for", safetext.Quote(p.KindPrompt))
	}
	text, _ := kinds.ReadFile("kinds/" + p.Kind + ".md")
	return lead + "Look for:\n" + string(text)
}
