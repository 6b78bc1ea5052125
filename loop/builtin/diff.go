package builtin

import (
	"cmp"
	"context"
	"strings"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// File is one file of a diff. A file that changes its type (for example to a symbolic link)
// is two: one deleted, one new.
type File struct {
	Path    string // new path, or the old path of a deleted file; slash-separated, unquoted
	New     bool
	Named   bool // new, or renamed or copied to Path
	Deleted bool
	Binary  bool
	Mode    string // "100644"; empty if the diff does not say
	OldMode string
	Cut     bool   // too large: the diff does not show its lines
	OldID   string // blob of the old content; "" if the diff does not say
	ID      string // blob of the new content
	Size    int64  // bytes of the new content; -1 if the diff does not say
	OldSize int64  // bytes of the old content; -1 if the diff does not say

	Added   []Line // added lines, by line number
	Context []Line // unchanged lines that the diff shows, by line number
	Removed []Line // removed lines, by their old numbers

	// NoNewline is set if the last line lost its newline, or a new file ends without one.
	NoNewline bool
}

// Line is one line of the new content.
type Line struct {
	Number int    // from 1
	Text   string // without "\n" and "\r\n"
	CR     bool   // it ended in "\r\n"
}

// Symlink reports whether the new content is the target of a symbolic link.
func (f File) Symlink() bool { return f.Mode == "120000" }

// Submodule reports whether the entry is a commit of another repository.
func (f File) Submodule() bool { return f.Mode == "160000" || f.OldMode == "160000" }

// parseDiff reads a patch as unidiff.Files does. A patch that cannot be read to its end is an error.
func parseDiff(ctx context.Context, patch []byte) ([]File, error) {
	var files []File
	for f, err := range unidiff.Files(string(patch)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		files = append(files, fileOf(f))
	}
	return files, nil
}

func fileOf(d unidiff.File) File {
	f := File{
		Path: d.Path(), New: d.Old == "", Named: d.New != "" && d.New != d.Old, Deleted: d.New == "", Binary: d.Binary,
		Cut: d.Cut, OldID: d.OldID, ID: d.NewID,
		Mode: d.NewMode, OldMode: d.OldMode, Size: d.NewSize, OldSize: d.OldSize,
	}
	if !f.Submodule() {
		f.takeLines(d.Hunks)
	}
	switch {
	case f.Deleted:
		f.Size = 0
	case f.New:
		f.OldSize = 0
	}
	return f
}

func (f *File) takeLines(hunks []unidiff.Hunk) {
	oldNoEOL, newNoEOL := false, false
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case '+':
				f.Added = append(f.Added, newLine(l.New, l.Text))
			case ' ':
				f.Context = append(f.Context, newLine(l.New, l.Text))
			case '-':
				f.Removed = append(f.Removed, newLine(l.Old, l.Text))
			}
			oldNoEOL = oldNoEOL || l.NoEOL && l.Kind != '+'
			newNoEOL = newNoEOL || l.NoEOL && l.Kind != '-'
		}
	}
	f.NoNewline = newNoEOL && !oldNoEOL
}

func newLine(number int, text string) Line {
	cut, cr := strings.CutSuffix(text, "\r")
	return Line{Number: number, Text: cut, CR: cr}
}
