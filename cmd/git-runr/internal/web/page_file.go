package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// wholeView is the page of a whole file on one side of a change.
type wholeView struct {
	page
	Name    string
	Side    record.Side
	Other   string // the other side, or ""
	Note    string
	Rows    []rowView
	Notes   []*remark // on the whole file
	More    string
	Back    string
	Compose string
	Lines   int
}

// showWhole shows the file and side named in the request.
func (p *pages) showWhole(w http.ResponseWriter, r *http.Request, c comparison, list *fileList, o viewOptions,
	common page) error {
	f, known := list.find(r.FormValue("path"))
	if !known {
		return &record.NotFoundError{What: "file", ID: r.FormValue("path")}
	}
	v := wholeView{page: common, Name: f.Path, Side: record.SideNew, Back: c.url("") + "#" + f.Key()}
	tree, other := c.to, record.SideOld
	if r.FormValue("side") == string(record.SideOld) {
		v.Side, v.Name, tree, other = record.SideOld, f.From(), c.from, record.SideNew
	}
	if f.Status != "A" && f.Status != "D" {
		v.Other = c.url("file", "path", f.Path, "side", string(other))
	}
	if o.compose {
		v.Compose = c.url("comment", "path", f.Path)
	}
	if err := p.wholeRows(r, &v, tree, o.remarks[f.Index], c); err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "file.html", v)
}

// wholeRows adds the lines of the file, as many as one page shows.
func (p *pages) wholeRows(r *http.Request, v *wholeView, tree gitstore.ID, notes remarksAt, c comparison) error {
	sizes, err := p.repo.FileSizes(r.Context(), tree, []string{v.Name})
	if err != nil {
		return err
	}
	if sizes[v.Name] > maxPatch {
		v.Note = "The file is too large for this page"
		return nil
	}
	data, err := p.repo.Blob(r.Context(), tree, v.Name)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		v.Note = "Binary file"
		return nil
	}
	skip, _ := strconv.Atoi(r.FormValue("skip")) // 0 unless it is a number
	v.Notes = notes[shown.Line{Side: v.Side, Line: 0}]
	maker := rowMaker{notes: notes, shown: map[shown.Line]bool{}}
	v.Rows, v.Lines = maker.whole(v.Name, data, skip+1, rowsShown, func(n int) (old, new int) {
		if v.Side == record.SideOld {
			return n, 0
		}
		return 0, n
	})
	if v.Lines > skip+rowsShown {
		v.More = c.url("file", "path", v.Name, "side", string(v.Side), "skip", strconv.Itoa(skip+rowsShown))
	}
	return nil
}
