package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/internal/strictjson"
	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// maxSelected is how much of the lines under a comment is quoted with it, in bytes.
const maxSelected = 32 << 10

// AnchorComment binds a comment on a file to the subject of a review: the commit,
// the file's blob and the text of its lines. Text that the comment quotes already
// must be what stands there. It is a *NotFoundError when the file is not in that
// version, and an *InputError when the lines are not in the file.
func (s *Store) AnchorComment(ctx context.Context, subject Subject, c Comment) (Comment, error) {
	if c.File == "" {
		c.StartLine, c.EndLine, c.SelectedText, c.Side = 0, 0, "", ""
		c.Commit = subject.Tree
		return c, nil
	}
	c.Commit = subject.Tree
	var err error
	if subject.Base, err = s.ComparedWith(ctx, subject); err != nil {
		return c, fmt.Errorf("place comment: %w", err)
	}
	switch c.Side {
	case SideOld:
		c.Commit = subject.Base
	case "", SideNew:
		c.Side = SideNew
	default:
		return c, &InputError{fmt.Sprintf("side %q is none of new, old", c.Side)}
	}
	text, err := s.anchoredText(ctx, subject, &c)
	if noSuchFile(err) {
		return c, &NotFoundError{What: "file", ID: c.File, Where: "in " + c.Commit.Short()}
	}
	if err != nil {
		return c, fmt.Errorf("place comment: %w", err)
	}
	c.Blob = blobID(s.Repo.SHA256(), text)
	return c, c.quote(text)
}

// quote fills in the lines that c is about, out of the whole file.
func (c *Comment) quote(text []byte) error {
	c.EndLine = cmp.Or(c.EndLine, c.StartLine)
	if c.StartLine == 0 && c.EndLine == 0 {
		c.SelectedText = ""
		return nil
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" { // what follows the last line feed is no line
		lines = lines[:len(lines)-1]
	}
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return &InputError{fmt.Sprintf("%q is binary: comment on the file, without lines", c.File)}
	case c.StartLine < 1 || c.EndLine < c.StartLine:
		return &InputError{fmt.Sprintf("%d-%d is no range of lines", c.StartLine, c.EndLine)}
	case c.EndLine > len(lines):
		return &InputError{fmt.Sprintf("%q has %s, no line %d", c.File, prose.Count(len(lines), "line"), c.EndLine)}
	}
	there := strings.TrimSuffix(strings.Join(lines[c.StartLine-1:c.EndLine], ""), "\n")
	if c.SelectedText != "" && !sameLines(c.SelectedText, there) {
		return &InputError{fmt.Sprintf("%s does not read as the selected text says", c.Place())}
	}
	c.SelectedText = prose.Cut(strings.ToValidUTF8(there, "\uFFFD"), maxSelected)
	return nil
}

// sameLines compares what was selected with what is there, but for how lines end
// and for what a selection cuts off at its ends.
func sameLines(selected, there string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimRight(s, " \t\r\n"), "\r\n", "\n") }
	selected, there = plain(selected), plain(there)
	return selected == there || strings.TrimSpace(selected) != "" && strings.Contains(there, strings.TrimSpace(selected)) &&
		strings.Count(selected, "\n") == strings.Count(there, "\n")
}

// blobID is git's name for a file's content.
func blobID(sha256Repo bool, content []byte) gitstore.ID {
	object := append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)
	if sha256Repo {
		sum := sha256.Sum256(object)
		return gitstore.ID(hex.EncodeToString(sum[:]))
	}
	sum := sha1.Sum(object)
	return gitstore.ID(hex.EncodeToString(sum[:]))
}

// MaxCommentsFile bounds what DecodeComments reads, in bytes.
const MaxCommentsFile = 1 << 20

// maxComments is how many comments one document may hold.
const maxComments = 2000

// commentInput is a comment in a document: in the names of existing clients, or in ours.
type commentInput struct {
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

// DecodeComments reads a JSON list of comments: [{"file", "startLine", "endLine",
// "selectedText", "comment"}] as existing clients write them, or in the spelling of Comment.
// It is strict: an unknown, doubled or misspelt key, a line below 1 where there is a
// range, or bytes after the list are an *InputError.
func DecodeComments(data []byte) ([]Comment, error) {
	if len(data) > MaxCommentsFile {
		return nil, &InputError{fmt.Sprintf("comments are more than %d bytes", MaxCommentsFile)}
	}
	var raw []json.RawMessage
	if err := strictjson.Decode(data, &raw); err != nil {
		return nil, &InputError{"comments: " + strictjson.Words(err)}
	}
	if raw == nil || len(raw) > maxComments {
		return nil, &InputError{fmt.Sprintf("comments are wanted as a list of at most %d", maxComments)}
	}
	comments := make([]Comment, len(raw))
	for i, one := range raw {
		var err error
		if comments[i], err = decodeComment(one); err != nil {
			return nil, &InputError{fmt.Sprintf("comment %d: %v", i+1, err)}
		}
	}
	return comments, nil
}

func decodeComment(data []byte) (Comment, error) {
	var in commentInput
	if len(data) == 0 || data[0] != '{' {
		return Comment{}, errors.New("an object is wanted")
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

func (c Comment) checkInput(in commentInput) error {
	switch {
	case strings.TrimSpace(c.Comment) == "":
		return errors.New("it says nothing")
	case min(in.StartLine, in.EndLine, in.OurStartLine, in.OurEndLine) < 0 || c.EndLine != 0 && c.EndLine < c.StartLine || c.EndLine > 0 && c.StartLine == 0:
		return fmt.Errorf("%d-%d is no range of lines", c.StartLine, c.EndLine)
	case c.File == "" && c.StartLine > 0:
		return errors.New("it has lines and no file")
	case c.Severity != "" && reply.SeverityRank(c.Severity) < 0:
		return fmt.Errorf("severity %q is none of critical, warning, note", c.Severity)
	case c.Side != "" && c.Side != SideNew && c.Side != SideOld:
		return fmt.Errorf("side %q is none of new, old", c.Side)
	}
	return nil
}
