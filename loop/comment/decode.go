package comment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/reply"
)

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
