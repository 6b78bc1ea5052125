package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/reply"
)

// Side is which of the two versions of a file a comment's lines are of.
type Side string

const (
	SideNew Side = "new"
	SideOld Side = "old"
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

// fillIn gives a comment an id that is not in taken, unless it has one that is not,
// and makes its lines a range. What a log says may be anything.
func (c *Comment) fillIn(actor string, taken map[string]bool) {
	c.StartLine = max(c.StartLine, 0)
	c.EndLine = max(c.EndLine, c.StartLine)
	if c.StartLine == 0 {
		c.EndLine = 0
	}
	if !isCommentID(c.ID) || taken[c.ID] {
		c.ID = commentID(actor, *c, taken)
	}
	taken[c.ID] = true
}

// commentID is an id for c that is not in taken.
func commentID(actor string, c Comment, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%s\x00%s\x00%d", actor, c.File, c.StartLine, c.EndLine, c.Side, c.Comment, n))
		if id := "c-" + hex.EncodeToString(sum[:5]); !taken[id] {
			return id
		}
	}
}

// isCommentID reports whether s has the form of a comment's id.
func isCommentID(s string) bool {
	digits, ok := strings.CutPrefix(s, "c-")
	return ok && len(digits) == 10 && strings.Trim(digits, "0123456789abcdef") == ""
}

// commentIDs are the ids that comments have.
func commentIDs(comments []Comment) map[string]bool {
	taken := map[string]bool{}
	for _, c := range comments {
		taken[c.ID] = true
	}
	return taken
}

// AnswerKind is what became of a finding or a comment.
type AnswerKind string

const (
	AnswerFixed    AnswerKind = "fixed"    // by a commit
	AnswerRefuted  AnswerKind = "refuted"  // for a reason
	AnswerDeferred AnswerKind = "deferred" // to later
	AnswerGone     AnswerKind = "gone"     // with the code that it speaks of, in a commit
)

// Answer is what the one who addresses a review says of one finding or comment.
type Answer struct {
	Finding string      `json:"finding"` // its id
	Kind    AnswerKind  `json:"answer"`
	Commit  gitstore.ID `json:"commit,omitempty"` // that fixed it
	Reason  string      `json:"reason,omitempty"`
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"`
}

// What is what became of the finding: "refuted", "fixed by 3f2a9c1", "gone in 3f2a9c1".
func (a Answer) What() string {
	switch {
	case a.Commit == "":
		return string(a.Kind)
	case a.Kind == AnswerGone:
		return string(a.Kind) + " in " + a.Commit.Short()
	}
	return string(a.Kind) + " by " + a.Commit.Short()
}
