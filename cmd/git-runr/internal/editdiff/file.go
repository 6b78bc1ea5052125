package editdiff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// maxPatch is the maximum size in bytes of a diff opened in an editor.
const maxPatch = 32 << 20

// ErrNoLines reports a change without lines to comment on.
var ErrNoLines = errors.New("no line is changed")

// File is the file that a person edits. Its name is derived from the change, so that a person who returns to the same
// change finds an earlier text.
type File struct {
	Text
	Path  string
	Found bool // it existed already
}

// Open creates the file for a change, unless it exists. draft is the person's existing draft.
func Open(ctx context.Context, store *store.Store, subject record.Subject, draft store.Draft) (File, error) {
	change, err := reviewing.ReadChange(ctx, store, subject,
		role.Limits{Binary: true, Opens: true, Generated: true, MaxBytes: maxPatch})
	if err != nil {
		return File{}, err
	}
	if len(change.Patch) == 0 {
		return File{}, ErrNoLines
	}
	name := sha256.Sum256(change.Patch)
	made := File{
		Text: New(change.Patch, notes(subject, change, draft)),
		Path: filepath.Join(store.Repo.StateDir(), "edit", hex.EncodeToString(name[:6])+".diff"),
	}
	if text, err := made.Read(); err == nil && text != "" {
		made.Found = true
		return made, nil
	}
	if err := safefile.WriteFile(made.Path, []byte(made.String()), 0o600); err != nil {
		return made, fmt.Errorf("open the diff: %w", err)
	}
	return made, nil
}

// notes returns lines that say what the diff is, and what it leaves out.
func notes(subject record.Subject, change reviewing.Change, draft store.Draft) []string {
	lines := []string{fmt.Sprintf("The change: %s %s", subject.Spec, subject.Title)}
	for _, m := range subject.Messages {
		lines = append(lines, "commit "+m.Commit.Short())
		for line := range strings.Lines(m.Text) {
			lines = append(lines, "    "+strings.TrimRight(line, "\r\n"))
		}
	}
	for _, left := range change.Census.LeftOut {
		lines = append(lines, fmt.Sprintf("Not shown (%s): %s", left.Why, left.Path))
	}
	if n := len(draft.Comments); n > 0 {
		lines = append(lines, fmt.Sprintf("Your draft has %s already, to be submitted with this.", prose.Count(n, "comment")))
	}
	return lines
}

// Read returns the file's text. A missing file counts as empty.
func (f File) Read() (string, error) {
	text, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read what was written: %w", err)
	}
	return string(text), nil
}

// Untouched reports whether nothing was written into the file.
func (f File) Untouched() bool {
	text, err := f.Read()
	if err != nil {
		return false
	}
	written, err := f.Parse(text)
	return err == nil && written.Empty()
}

// Drop removes the file. If that fails, the text is offered again.
func (f File) Drop() { os.Remove(f.Path) }

// Bind binds the comments to the files of subject. An error names the line of the text.
func (w Written) Bind(ctx context.Context, store *store.Store, subject record.Subject) ([]record.Comment, error) {
	var bound []record.Comment
	for _, said := range w.Comments {
		comment, err := locate.AnchorComment(ctx, store, subject, record.Comment{File: said.Path, Side: said.Side,
			StartLine: said.Start, EndLine: said.End})
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", said.Line, err)
		}
		comment.Comment = said.Text
		bound = append(bound, comment)
	}
	return bound, nil
}
