// Package comment is what people say of lines, files and whole changes: its ids, its form as a JSON list,
// and as Markdown for whoever addresses it.
package comment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
)

// Side is which of the two versions of a file a comment's lines are of.
type Side string

const (
	New Side = "new"
	Old Side = "old"
)

// Comment is one remark of a person: on lines, on a file (StartLine 0), or (File "")
// on the whole. Field names of existing clients where they have them, in our spelling.
type Comment struct {
	ID           string         `json:"id"` // "c-" and ten hexadecimal digits
	File         string         `json:"file,omitempty"`
	StartLine    int            `json:"start_line,omitempty"` // from 1; 0 for a whole file
	EndLine      int            `json:"end_line,omitempty"`   // inclusive
	SelectedText string         `json:"selected_text,omitempty"`
	Comment      string         `json:"comment"`            // Markdown
	Side         Side           `json:"side,omitempty"`     // "" is new
	Commit       gitstore.ID    `json:"commit,omitempty"`   // commit or tree whose lines they are
	Blob         gitstore.ID    `json:"blob,omitempty"`     // of the file there
	Severity     reply.Severity `json:"severity,omitempty"` // "" is a warning, or a note with an approval
}

// Place is where the comment is: "file:line", "file:line-end", "file", or "".
func (c Comment) Place() string {
	return reply.Finding{File: c.File, Line: c.StartLine, EndLine: c.EndLine}.Place()
}

// Where is Place, and says which side it is on if that is the old one.
func (c Comment) Where() string {
	if c.Side == Old {
		return c.Place() + " before the change"
	}
	return c.Place()
}

// FillIn gives a comment an id that is not in taken, unless it has one that is not,
// and makes its lines a range. What a log says may be anything.
func (c *Comment) FillIn(actor string, taken map[string]bool) {
	c.StartLine = max(c.StartLine, 0)
	c.EndLine = max(c.EndLine, c.StartLine)
	if c.StartLine == 0 {
		c.EndLine = 0
	}
	if !IsID(c.ID) || taken[c.ID] {
		c.ID = newID(actor, *c, taken)
	}
	taken[c.ID] = true
}

// newID is an id for c that is not in taken.
func newID(actor string, c Comment, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%s\x00%s\x00%d", actor, c.File, c.StartLine, c.EndLine,
			c.Side, c.Comment, n))
		if id := "c-" + hex.EncodeToString(sum[:5]); !taken[id] {
			return id
		}
	}
}

// IsID reports whether s has the form of a comment's id.
func IsID(s string) bool {
	digits, ok := strings.CutPrefix(s, "c-")
	return ok && len(digits) == 10 && strings.Trim(digits, "0123456789abcdef") == ""
}

// IDs are the ids that comments have.
func IDs(comments []Comment) map[string]bool {
	return each.SetOf(comments, func(c Comment) string { return c.ID })
}
