package gitstore

import (
	"bytes"
	"context"
)

// Bounds limit the hunks in a patch, for each file and in total. A line is a row of the patch.
type Bounds struct{ FileLines, FileBytes, Lines, Bytes int }

// PatchBounds are the bounds for a change whose lines are parsed: each line takes about 300 bytes of memory.
var PatchBounds = Bounds{FileLines: 200_000, FileBytes: 16 << 20, Lines: 500_000, Bytes: 64 << 20}

// DiffWithin returns the patch of Diff with LargeBinary. A file that exceeds bounds is reduced to its header with the
// "---" and "+++" lines, so that the use of memory does not depend on what somebody committed.
func (r *Repo) DiffWithin(ctx context.Context, spec DiffSpec, bounds Bounds) ([]byte, error) {
	w := &boundedPatch{bounds: bounds}
	spec.LargeBinary = true
	err := r.WriteDiff(ctx, spec, w)
	return w.kept, err
}

// boundedPatch keeps a patch within bounds while git writes it.
type boundedPatch struct {
	bounds Bounds
	kept   []byte
	piece  []byte // read and not yet put: a whole line, or the next part of a long one
	inLine bool   // a part of the line was put
	hunks  int    // where the hunks of the file begin in kept; 0: in its header
	lines  int    // rows of these hunks
	before int    // rows of the hunks of earlier files
	cut    bool   // the file exceeds the bounds
}

func (w *boundedPatch) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		whole := end > 0
		if !whole {
			end = len(rest)
		}
		w.piece = append(w.piece, rest[:end]...)
		if rest = rest[end:]; whole || w.inLine || len(w.piece) >= len("diff --git ") {
			w.put(whole)
		}
	}
	return len(p), nil
}

// put adds a piece of a line. ends says whether the piece completes the line.
func (w *boundedPatch) put(ends bool) {
	switch {
	case w.inLine:
	case bytes.HasPrefix(w.piece, []byte("diff --git ")):
		w.before += w.lines
		w.hunks, w.lines, w.cut = 0, 0, false
	case w.hunks == 0 && bytes.HasPrefix(w.piece, []byte("@@ ")):
		w.hunks = len(w.kept)
	}
	if !w.cut {
		w.kept = append(w.kept, w.piece...)
	}
	if ends && w.hunks > 0 && !w.cut {
		w.lines++
	}
	if size := len(w.kept) - w.hunks; w.hunks > 0 && (size > w.bounds.FileBytes || len(w.kept) > w.bounds.Bytes ||
		w.lines > w.bounds.FileLines || w.before+w.lines > w.bounds.Lines) {
		w.kept, w.lines, w.cut = w.kept[:w.hunks], 0, true
	}
	w.piece, w.inLine = w.piece[:0], !ends
}
