package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Limits of a suggested note: number of requests, and length in bytes.
const (
	requestsInNote = 2
	noteWidth      = 72
)

// intervention returns the command with which a person tells the loop what they did, in parts to show one below the
// other. It returns nil if a word of it must not be shown, or if there is no note.
func intervention(id, reason, note string, commands []Suggestion) []string {
	first, ok := safetext.CommandLine("git", "runr", "intervene", id, "--reason", reason)
	word, noteOK := safetext.ShellWord(note)
	if !ok || !noteOK || note == "" {
		return nil
	}
	lines := []string{first, "--note " + word}
	var last []string
	for _, c := range commands {
		if cmd, ok := safetext.ShellWord(c.Command); ok {
			last = append(last, "--cmd "+cmd)
		}
	}
	if len(last) > 0 {
		lines = append(lines, strings.Join(last, " "))
	}
	return lines
}

// note returns which requests the intervention addresses, or else which checks it runs, or returns "". It copies only
// plain words from a reviewer's text, and prefers requests that have a command.
func (d Diagnosis) note(checks matcher) string {
	asked := each.Where(d.LastReviewRequests, func(r string) bool { return len(checks.commands(r)) > 0 })
	if len(asked) == 0 {
		asked = d.LastReviewRequests
	}
	asked = asked[:min(len(asked), requestsInNote)]
	names := each.Of(d.SuggestedCommands, func(c Suggestion) string { return c.Check })
	if len(asked) > 0 && (len(names) == 0 || !slices.ContainsFunc(asked, asksForEvidence)) {
		if note := plainNote("Addressed: " + strings.Join(each.Of(asked, bare), ", ")); note != "" {
			return note
		}
	}
	if len(names) == 0 {
		return ""
	}
	return cmp.Or(plainNote("Ran "+strings.Join(names, ", ")+" manually"), "Ran the checks manually")
}

// bare returns a request without its place, marks and final punctuation.
func bare(request string) string {
	text := strings.NewReplacer("`", "", "*", "", "\"", "").Replace(oneLine(withoutPlace(request)))
	return strings.TrimRight(text, ".!;: ")
}

// plainNote returns text if it is short and can be put between double quotes unchanged, else "".
func plainNote(text string) string {
	if word, ok := safetext.ShellWord(text); !ok || len(text) > noteWidth || word != `"`+text+`"` {
		return ""
	}
	return text
}
