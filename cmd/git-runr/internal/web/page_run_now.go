package web

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

// nowView is the step that a run executes in this clone at the moment.
type nowView struct {
	page
	What  string
	By    string // the agent; "" for checks
	Since time.Time
	Said  string // the last lines of the agent's output
}

// For returns how long the step has taken so far.
func (v nowView) For() string {
	return took(duration.Duration(max(0, v.now.Sub(v.Since).Round(time.Second))))
}

// Began and Clock return when the step began, for machines and for people.
func (v nowView) Began() string { return v.Since.UTC().Format("2006-01-02T15:04:05.000Z") }

func (v nowView) Clock() string { return v.Since.UTC().Format("15:04:05Z") }

// nowOf returns the step that run is executing, or nil if no process of this clone executes it.
func (p *pages) nowOf(common page, run record.Run) *nowView {
	if run.Status != record.RunRunning || !workspace.Live(p.Store, run.ID) {
		return nil
	}
	v := &nowView{page: common, Since: run.UpdatedAt, What: "Deciding the next step"}
	log := ""
	switch step := runner.Next(run, run.Plan.Policy); step.Action {
	case runner.DoAttempt:
		v.What, v.By = fmt.Sprintf("Attempt %d (%s)", step.Number, step.Mode), cmp.Or(step.Work.Agent, run.Plan.Implementer)
		log = fmt.Sprintf("attempt-%d.log", step.Number)
	case runner.DoReview:
		v.What, v.By = fmt.Sprintf("Review, round %d", step.Number), cmp.Or(step.Work.Agent, run.Plan.Reviewer)
		log = fmt.Sprintf("review-%d.log", step.Number)
	case runner.DoChecks:
		names := each.Of(run.Plan.Checks, func(c runplan.Check) string { return c.Name })
		v.What = strings.TrimSuffix("Checks: "+strings.Join(names, ", "), ": ")
	case runner.DoRevert:
		v.What = fmt.Sprintf("Reverting attempt %d", step.Number)
	}
	if log != "" {
		v.Said = lastLines(filepath.Join(workspace.FilesDir(p.Store, run.ID), log), v.Since)
	}
	return v
}

// lastLines returns the last lines of a file as text, or "" if it was not written to since then.
func lastLines(path string, since time.Time) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.ModTime().Before(since.Truncate(time.Second)) {
		return ""
	}
	from := max(0, info.Size()-8*nowSaid*nowLine)
	data, _ := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // the first line is incomplete
	}
	lines = lines[max(0, len(lines)-nowSaid):]
	for i, line := range lines {
		if len(line) > nowLine {
			lines[i] = strings.ToValidUTF8(line[:nowLine], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// runNow serves the current step of a run for its page, or status 204 if there is none.
func (p *pages) runNow(w http.ResponseWriter, r *http.Request) error {
	run, err := p.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := p.nowOf(page{now: p.Now()}, run)
	if v == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return p.show(w, http.StatusOK, "now", v)
}

// Limits for the shown output: lines, and bytes per line.
const (
	nowSaid = 12
	nowLine = 400
)
