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

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/workspace"
)

// nowView is the step that a run is at while it is carried out here.
type nowView struct {
	page
	What  string
	By    string // the agent, "" for checks
	Since time.Time
	Said  string // the last lines of what the agent writes
}

// nowSaid is how much of it is shown, in lines, and in bytes of a line.
const (
	nowSaid = 12
	nowLine = 400
)

// For is how long the step has taken so far.
func (v nowView) For() string {
	return took(duration.Duration(max(0, v.now.Sub(v.Since).Round(time.Second))))
}

// Began and Clock are when the step began, for machines and for people.
func (v nowView) Began() string { return v.Since.UTC().Format("2006-01-02T15:04:05.000Z") }
func (v nowView) Clock() string { return v.Since.UTC().Format("15:04:05Z") }

// nowOf is the step that run is at; nil where nobody carries it out here.
func (p *pages) nowOf(common page, run record.Run) *nowView {
	if run.Status != record.RunRunning || !workspace.Live(p.Store, run.ID) {
		return nil
	}
	v := &nowView{page: common, Since: run.UpdatedAt, What: "It decides what comes next"}
	log := ""
	switch step := runner.Next(run, run.Plan.Policy); step.Action {
	case runner.DoAttempt:
		v.What, v.By = fmt.Sprintf("Attempt %d (%s)", step.Number, step.Mode), cmp.Or(step.Work.Agent, run.Plan.Implementer)
		log = fmt.Sprintf("attempt-%d.log", step.Number)
	case runner.DoReview:
		v.What, v.By = fmt.Sprintf("Review, round %d", step.Number), cmp.Or(step.Work.Agent, run.Plan.Reviewer)
		log = fmt.Sprintf("review-%d.log", step.Number)
	case runner.DoChecks:
		var names []string
		for _, c := range run.Plan.Checks {
			names = append(names, c.Name)
		}
		v.What = strings.TrimSuffix("Checks: "+strings.Join(names, ", "), ": ")
	case runner.DoRevert:
		v.What = fmt.Sprintf("Attempt %d is taken back", step.Number)
	}
	if log != "" {
		v.Said = lastLines(filepath.Join(workspace.FilesDir(p.Store, run.ID), log), v.Since)
	}
	return v
}

// lastLines are the last lines of a file that was written to since then, as text to show; "" for none.
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
		lines = lines[1:] // it begins somewhere in it
	}
	lines = lines[max(0, len(lines)-nowSaid):]
	for i, line := range lines {
		if len(line) > nowLine {
			lines[i] = strings.ToValidUTF8(line[:nowLine], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// runNow is the step that a run is at, for a page that shows it; without content where it is at none.
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
