package editdiff

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// patchPlace is what a line of a patch is about: lines of one side of a file, or, with
// start 0, the file.
type patchPlace struct {
	file       *unidiff.File
	side       record.Side
	start, end int
	first      int // where the hunk begins on that side
}

// path is the file's name on the place's side.
func (p patchPlace) path() string {
	if p.side == record.SideOld {
		return p.file.Old
	}
	return p.file.Path()
}

// upwards is the place with the n-1 lines above it; false when the hunk does not have
// as many on that side.
func (p patchPlace) upwards(n int) (patchPlace, bool) {
	p.start = p.end - n + 1
	return p, n >= 1 && p.end > 0 && p.start >= p.first
}

// readPatch gives the place of each row of a patch.
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

// placeHunk sets the places of a hunk's rows: its heading stands for the whole hunk, and
// what stays is of the new side.
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
