// Package comment is what people say of lines, files and whole changes: its ids, its form as a JSON list,
// and as Markdown for whoever addresses it.
package comment

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
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

// messageHead begins the text that an agent reads.
const messageHead = "## Review Comments\n\nThe following review comments were left on the specified files. Please " +
	"summarize your plan to address each comment, then wait for confirmation before making changes."

// Message is comments as Markdown for whoever addresses them, without a newline at the end. Comments on lines are
// compared byte for byte by existing clients: files in the order of their first comment, each file's comments in the
// order given, a comment's text as it is. What those do not know goes beside that: comments on the whole come before
// the first file, comments on a file are headed File, and lines of the old version are called old.
func Message(comments []Comment) string {
	return strings.Join(append([]string{messageHead}, Blocks(comments)...), "\n\n")
}

// Blocks are the paragraphs of comments, in the order of Message.
func Blocks(comments []Comment) []string {
	var blocks []string
	var files []string
	ofFile := map[string][]string{}
	for _, c := range comments {
		if c.File == "" {
			blocks = append(blocks, c.Comment)
			continue
		}
		if ofFile[c.File] == nil {
			files = append(files, c.File)
		}
		ofFile[c.File] = append(ofFile[c.File], c.messageBlocks()...)
	}
	for _, file := range files {
		heading := file
		if safetext.Line(file) != file { // it has several lines, or what does not print
			heading = strconv.Quote(file)
		}
		blocks = append(append(blocks, "### "+heading), ofFile[file]...)
	}
	return blocks
}

// messageBlocks are a comment's lines with their quotation, if it has some, and its text.
func (c Comment) messageBlocks() []string {
	if c.StartLine == 0 {
		return []string{"**File:**", c.Comment}
	}
	quote := "> " + strings.ReplaceAll(c.SelectedText, "\n", "\n> ")
	return []string{c.lineHeading() + "\n" + quote, c.Comment}
}

func (c Comment) lineHeading() string {
	old := ""
	if c.Side == Old {
		old = " (old)"
	}
	if c.EndLine == 0 || c.EndLine == c.StartLine {
		return fmt.Sprintf("**Line %d%s:**", c.StartLine, old)
	}
	return fmt.Sprintf("**Lines %d-%d%s:**", c.StartLine, c.EndLine, old)
}

// MaxFile bounds what Decode reads, in bytes.
const MaxFile = 1 << 20

// maxList is how many comments one document may hold.
const maxList = 2000

// input is a comment in a document: in the names of existing clients, or in ours.
type input struct {
	File          string         `json:"file"`
	StartLine     int            `json:"startLine"`
	EndLine       int            `json:"endLine"`
	SelectedText  string         `json:"selectedText"`
	OurStartLine  int            `json:"start_line"`
	OurEndLine    int            `json:"end_line"`
	OurSelected   string         `json:"selected_text"`
	Comment       string         `json:"comment"`
	Side          Side           `json:"side"`
	Severity      reply.Severity `json:"severity"`
	ignoredFields                // what our own output has beside
}

type ignoredFields struct {
	ID     string `json:"id"`
	Commit string `json:"commit"`
	Blob   string `json:"blob"`
}

// Decode reads a JSON list of comments: [{"file", "startLine", "endLine", "selectedText", "comment"}] as existing
// clients write them, or in the spelling of Comment. It is strict: an unknown, doubled or misspelt key, a line below 1
// where there is a range, or bytes after the list are an error.
func Decode(data []byte) ([]Comment, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("comments are more than %d bytes", MaxFile)
	}
	var raw []json.RawMessage
	if err := strictjson.Decode(data, &raw); err != nil {
		return nil, errors.New("comments: " + strictjson.Words(err))
	}
	if raw == nil || len(raw) > maxList {
		return nil, fmt.Errorf("comments must be a list of at most %d", maxList)
	}
	comments := make([]Comment, len(raw))
	for i, one := range raw {
		var err error
		if comments[i], err = decodeOne(one); err != nil {
			return nil, fmt.Errorf("comment %d: %v", i+1, err)
		}
	}
	return comments, nil
}

func decodeOne(data []byte) (Comment, error) {
	var in input
	if len(data) == 0 || data[0] != '{' {
		return Comment{}, errors.New("must be an object")
	}
	if err := strictjson.CheckKeys(data, &in); err != nil {
		return Comment{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Comment{}, errors.New(strictjson.Words(err))
	}
	c := Comment{
		File: in.File, StartLine: max(in.StartLine, in.OurStartLine), EndLine: max(in.EndLine, in.OurEndLine),
		SelectedText: cmp.Or(in.SelectedText, in.OurSelected), Comment: in.Comment, Side: in.Side, Severity: in.Severity,
	}
	return c, c.checkInput(in)
}

func (c Comment) checkInput(in input) error {
	switch {
	case strings.TrimSpace(c.Comment) == "":
		return errors.New("it says nothing")
	case min(in.StartLine, in.EndLine, in.OurStartLine, in.OurEndLine) < 0 || c.EndLine != 0 && c.EndLine < c.StartLine ||
		c.EndLine > 0 && c.StartLine == 0:
		return fmt.Errorf("%d-%d is not a range of lines", c.StartLine, c.EndLine)
	case c.File == "" && c.StartLine > 0:
		return errors.New("it has lines, but no file")
	case c.Severity != "" && reply.SeverityRank(c.Severity) < 0:
		return fmt.Errorf("unknown severity %q: use critical, warning or note", c.Severity)
	case c.Side != "" && c.Side != New && c.Side != Old:
		return fmt.Errorf("unknown side %q: use new or old", c.Side)
	}
	return nil
}
