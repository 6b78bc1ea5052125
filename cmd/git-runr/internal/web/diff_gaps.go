package web

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// gapView is lines that nothing changed, between hunks: Count of them, from line Old and
// New on. First says that nothing is shown before it, Last that nothing is behind it.
type gapView struct {
	Old, New, Count int
	First, Last     bool
}

// gapStep is how many lines of a gap one click shows.
const gapStep = 20

// Step is gapStep where there is more than that.
func (g gapView) Step() int {
	if g.Count <= gapStep {
		return 0
	}
	return gapStep
}

// gapIn is a gap with what its row needs of the file: All is where the whole file is shown,
// Lines the address of a part of the gap, without which one.
type gapIn struct {
	gapView
	Rest       string // the function that the lines behind it are in
	Columns    int
	All, Lines string
}

// gapsOf are the gaps before each of hunks and, behind them, the one to the end of the
// file, whose text whole is; nil: it is not known.
func gapsOf(hunks []unidiff.Hunk, whole []byte) []gapView {
	gaps := make([]gapView, len(hunks)+1)
	oldAt, newAt := 1, 1
	for i, h := range hunks {
		oldStart, newStart := h.OldStart, h.NewStart
		if h.OldCount == 0 { // git names the line before
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

// gapRows are the lines of a file from number new on, which are old on the other side.
func (p *pages) gapRows(ctx context.Context, c comparison, f changedFile, o viewOptions, old, new, count int) ([]rowView, error) {
	whole, err := p.repo.Blob(ctx, c.to, f.Path)
	if err != nil {
		return nil, err
	}
	maker := rowMaker{split: o.split, notes: o.remarks[f.Index], shown: map[shown.Line]bool{}}
	rows, _ := maker.whole(f.Path, whole, new, count, func(n int) (int, int) { return old + n - new, n })
	return rows, nil
}

// gapLines shows a part of a gap, for a script that puts it into its place.
func (p *pages) gapLines(w http.ResponseWriter, r *http.Request, c comparison, list *fileList, o viewOptions, common page) error {
	f, known := list.find(r.FormValue("path"))
	if !known || f.Status == "D" {
		return &record.NotFoundError{What: "file", ID: r.FormValue("path")}
	}
	var at [3]int
	for i, name := range []string{"old", "new", "count"} {
		n, err := strconv.Atoi(r.FormValue(name))
		if err != nil || n < 1 {
			return badRequest("%s %q is no number of lines", name, r.FormValue(name))
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
	rows, err := p.gapRows(r.Context(), c, f, o, at[0], at[1], min(at[2], rowsShown))
	if err != nil {
		return err
	}
	v := fileView{Split: o.split, Hunks: []hunkView{{Rows: rows}}, Blamed: r.FormValue("blame") != ""}
	if v.Blamed {
		_ = p.blamed(r.Context(), c, f, v.Hunks) // the lines above say why not
	}
	return p.show(w, http.StatusOK, "rows", diffView{common, v})
}

func (p *pages) reviewLines(w http.ResponseWriter, r *http.Request, review record.Review) error {
	o, err := p.open(r, review)
	if err != nil {
		return err
	}
	return p.gapLines(w, r, o.change, o.files, o.options(o.files, o.remarks), o.page)
}

func (p *pages) runLines(w http.ResponseWriter, r *http.Request) error {
	c, list, err := p.compared(r.Context(), r)
	if err != nil {
		return err
	}
	common := p.page(r, "Run", "runs")
	return p.gapLines(w, r, c, list, common.look, common)
}
