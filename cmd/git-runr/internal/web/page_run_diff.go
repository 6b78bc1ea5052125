package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// stepTree is a state of the run's work: its base, or the result of an attempt.
type stepTree struct {
	Number int // of the attempt, 0 for the base
	Label  string
	tree   gitstore.ID
	commit gitstore.ID // the commit with the tree, or ""
}

// stepTrees returns the states of a run's work that the run has recorded.
func stepTrees(run record.Run) []stepTree {
	steps := []stepTree{{0, "base", run.Plan.Base, run.Plan.Base}}
	for _, a := range run.Attempts {
		if tree := cmp.Or(a.Tree, a.Commit); tree != "" {
			steps = append(steps, stepTree{a.Number, fmt.Sprintf("attempt %d", a.Number), tree, a.Commit})
		}
	}
	return steps
}

// interdiff adds the comparison of two states of the run: from its base to its last attempt, unless the request names
// others.
func (p *pages) interdiff(r *http.Request, v *runView) error {
	v.Steps = stepTrees(v.Run)
	if len(v.Steps) < 2 || v.Run.Plan.Base == "" {
		return nil
	}
	c, from, to := runComparison(r, v.Run, v.Steps)
	v.From, v.To = from, to
	list, err := p.list(r.Context(), c)
	if gone(err) {
		v.Missing = "The commits of this run are not in this clone."
		return nil
	}
	if err != nil {
		return err
	}
	v.Total, v.Added, v.Deleted = len(list.files), list.added, list.deleted
	first, _ := list.page("")
	v.look.remarks = runRemarks(v.page, v.Run, c, list)
	v.CanComment = intervening(v.acts)
	v.Views, err = p.fileViews(r.Context(), c, first, v.look)
	return err
}

// runRemarks returns the comments on lines that the comparison shows.
func runRemarks(on page, run record.Run, c comparison, list *fileList) map[int]remarksAt {
	var remarks []*remark
	for _, iv := range run.Interventions {
		if iv.Lines == nil {
			continue
		}
		at, side := iv.Lines.Commit, iv.Lines.Side
		if side == record.SideOld && at == c.from || side == record.SideNew && (at == c.to || at == c.at) {
			remarks = append(remarks, runRemark(on, iv))
		}
	}
	return shown.ByFile(remarks, list.index)
}

func runRemark(on page, iv record.Intervention) *remark {
	c, text := iv.Lines, strings.TrimPrefix(iv.Note, iv.Lines.Where()+": ")
	said := &shown.Remark{ID: fmt.Sprintf("intervention-%d", iv.Number), Author: iv.By, At: iv.At, File: c.File,
		Side: c.Side, Start: c.StartLine, End: c.EndLine, Text: text, Quote: shown.QuoteOf(*c), Made: *c}
	return newRemark(on, record.Review{}, said, nil)
}

// postRunComment records a comment on lines of the shown comparison, on which the next attempt is asked to act.
func (p *pages) postRunComment(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	run, c, _, err := p.compared(ctx, r)
	if err != nil {
		return err
	}
	acts, err := p.actsOf(ctx, run)
	if err != nil {
		return err
	}
	if !intervening(acts) {
		return noAct(run)
	}
	in, err := commentFields(r)
	if err != nil {
		return err
	}
	placed, err := p.place(ctx, record.Subject{Base: c.from, Tree: c.to}, in)
	if err != nil {
		return err
	}
	placed.Comment = ""
	lines, _ := json.Marshal(placed) // our own types can be encoded
	err = refusal(p.Do(ctx, "-q", "intervene", run.ID, "--lines", string(lines), "--note", in.Comment))
	if err != nil {
		return err
	}
	if run, err = p.Store.Run(ctx, run.ID); err != nil {
		return err
	}
	if r.FormValue("fragment") != "" && len(run.Interventions) > 0 {
		last := run.Interventions[len(run.Interventions)-1]
		return p.show(w, http.StatusOK, "remark", runRemark(p.page(r, "", "runs"), last))
	}
	http.Redirect(w, r, c.url(""), http.StatusSeeOther)
	return nil
}

// runComparison returns the comparison of the two steps named in the request.
func runComparison(r *http.Request, run record.Run, steps []stepTree) (c comparison, from, to int) {
	pick := func(name string, fallback stepTree) stepTree {
		n, err := strconv.Atoi(r.FormValue(name))
		i := slices.IndexFunc(steps, func(s stepTree) bool { return err == nil && s.Number == n })
		if i < 0 {
			return fallback
		}
		return steps[i]
	}
	a, b := pick("from", steps[0]), pick("to", steps[len(steps)-1])
	c = comparison{from: a.tree, to: b.tree, at: b.commit, base: "/run/" + run.ID, query: url.Values{
		"from": {strconv.Itoa(a.Number)}, "to": {strconv.Itoa(b.Number)},
	}}
	return c, a.Number, b.Number
}

// compared returns the comparison for a part of a run's page.
func (p *pages) compared(ctx context.Context, r *http.Request) (record.Run, comparison, *fileList, error) {
	run, err := p.Store.Run(ctx, r.PathValue("id"))
	if err != nil {
		return run, comparison{}, nil, err
	}
	steps := stepTrees(run)
	if len(steps) < 2 || run.Plan.Base == "" {
		return run, comparison{}, nil, badRequest("run %s has nothing to compare", run.ID)
	}
	c, _, _ := runComparison(r, run, steps)
	list, err := p.list(ctx, c)
	return run, c, list, err
}

// ofRun returns a handler that calls show with a file of the comparison of two steps of a run; the request names all.
func (p *pages) ofRun(show fileShower) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		run, c, list, err := p.compared(r.Context(), r)
		if err != nil {
			return err
		}
		f := oneFile{page: p.page(r, r.FormValue("path"), "runs"), comparison: c}
		f.options = f.look
		f.options.remarks = runRemarks(f.page, run, c, list)
		if err := f.find(r, list); err != nil {
			return err
		}
		return show(w, r, f)
	}
}
