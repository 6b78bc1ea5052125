package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// gapView is a gap of Count unchanged lines between hunks, beginning at lines Old and New. First means that nothing is
// shown before it, Last that nothing is shown after it.
type gapView struct {
	Old, New, Count int
	First, Last     bool
}

// gapStep is how many lines of a gap one click shows.
const gapStep = 20

// Step returns gapStep if the gap is longer than that, else 0.
func (g gapView) Step() int {
	if g.Count <= gapStep {
		return 0
	}
	return gapStep
}

// gapIn is a gap with what its row needs from the file. All is the address of the whole file, Lines the address of a
// part of the gap; either may be "".
type gapIn struct {
	gapView
	Rest       string // the function that contains the lines after the gap
	Columns    int
	All, Lines string
}

// gapsOf returns the gaps before each hunk and the gap to the end of the file. whole is the text of the file, or nil
// if it is unknown.
func gapsOf(hunks []unidiff.Hunk, whole []byte) []gapView {
	gaps := make([]gapView, len(hunks)+1)
	oldAt, newAt := 1, 1
	for i, h := range hunks {
		oldStart, newStart := h.OldStart, h.NewStart
		if h.OldCount == 0 { // git gives the line before
			oldStart++
		}
		if h.NewCount == 0 {
			newStart++
		}
		gaps[i] = gapView{Old: oldAt, New: newAt, Count: newStart - newAt, First: i == 0}
		oldAt, newAt = oldStart+h.OldCount, newStart+h.NewCount
	}
	lines := bytes.Count(whole, []byte("\n"))
	if len(whole) > 0 && whole[len(whole)-1] != '\n' {
		lines++
	}
	gaps[len(hunks)] = gapView{Old: oldAt, New: newAt, Count: max(0, lines-newAt+1), Last: true}
	return gaps
}

// gapLines serves a part of a gap, which a script inserts into the page.
func (p *pages) gapLines(w http.ResponseWriter, r *http.Request, one oneFile) error {
	f, c, o := one.file, one.comparison, one.options
	if f.Status == "D" {
		return &record.NotFoundError{What: "file", ID: f.Path}
	}
	var at [3]int
	for i, name := range []string{"old", "new", "count"} {
		n, err := strconv.Atoi(r.FormValue(name))
		if err != nil || n < 1 {
			return badRequest("%s %q is not a number of lines", name, r.FormValue(name))
		}
		at[i] = n
	}
	sizes, err := p.repo.FileSizes(r.Context(), c.to, []string{f.Path})
	if err != nil {
		return err
	}
	if sizes[f.Path] > maxPatch {
		return gitstore.ErrTooLarge
	}
	whole, err := p.repo.Blob(r.Context(), c.to, f.Path)
	if err != nil {
		return err
	}
	maker := rowMaker{split: o.split, notes: o.remarks[f.Index], shown: map[shown.Line]bool{}}
	rows, _ := maker.whole(f.Path, whole, at[1], min(at[2], rowsShown), func(n int) (old, new int) {
		return at[0] + n - at[1], n
	})
	v := fileView{Split: o.split, Hunks: []hunkView{{Rows: rows}}, Blamed: r.FormValue("blame") != ""}
	if v.Blamed {
		_ = p.blamed(r.Context(), c, f, v.Hunks) // the lines above say why not
	}
	return p.show(w, http.StatusOK, "rows", diffView{one.page, v})
}
