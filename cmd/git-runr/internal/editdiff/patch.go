package editdiff

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// patchPlace is the place to which a line of a patch belongs: lines of one side of a file, or the whole file if start
// is 0.
type patchPlace struct {
	file       *unidiff.File
	side       record.Side
	start, end int
	first      int // where the hunk begins on that side
}

// path returns the file's name on the place's side.
func (p patchPlace) path() string {
	if p.side == record.SideOld {
		return p.file.Old
	}
	return p.file.Path()
}

// upwards extends the place to n lines ending at it, or returns false if the hunk has too few lines on that side.
func (p patchPlace) upwards(n int) (patchPlace, bool) {
	p.start = p.end - n + 1
	return p, n >= 1 && p.end > 0 && p.start >= p.first
}

// readPatch returns the place of each row of a patch.
func readPatch(rows []string) []patchPlace {
	places := slices.Repeat([]patchPlace{{file: &unidiff.File{}}}, len(rows))
	for f := range unidiff.Files(strings.Join(rows, "\n") + "\n") {
		for i := range strings.Count(f.Text, "\n") {
			places[f.Row+i].file = &f
		}
		for _, h := range f.Hunks {
			placeHunk(places, &f, h)
		}
	}
	return places
}

// placeHunk sets the places of a hunk's rows. The heading is the place of the whole hunk; a context line is a place on
// the new side.
func placeHunk(places []patchPlace, file *unidiff.File, h unidiff.Hunk) {
	places[h.Row] = patchPlace{file, record.SideNew, h.NewStart, h.NewStart + h.NewCount - 1, h.NewStart}
	if h.NewCount == 0 {
		places[h.Row] = patchPlace{file, record.SideOld, h.OldStart, h.OldStart + h.OldCount - 1, h.OldStart}
	}
	for _, l := range h.Lines {
		place := patchPlace{file, record.SideNew, l.New, l.New, h.NewStart}
		if l.Kind == '-' {
			place = patchPlace{file, record.SideOld, l.Old, l.Old, h.OldStart}
		}
		places[l.Row] = place
		if l.NoEOL {
			places[l.Row+1] = place
		}
	}
}
