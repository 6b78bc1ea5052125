package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
	"github.com/git-runr/git-runr/loop/workspace"
)

// runView is the page of one run.
type runView struct {
	page
	Run       record.Run
	Report    diagnose.Report
	Task      template.HTML
	Diagnosis *diagnose.Diagnosis
	Tree      string // command that changes to the run's working tree; "" if it has none here
	Picture   picture
	Entries   []entryView
	Steps     []stepTree // states whose trees can be compared
	From, To  int        // of the shown comparison
	Missing   string
	Resumed   bool     // it was resumed from this page, and has not begun to work
	Wrote     string   // output of the resume command
	Now       *nowView // the current step, or nil
	Views     []fileView
	Total     int
	Added     int
	Deleted   int
	// CanComment means that its lines take comments for the next attempt.
	CanComment bool
	acts       []*runAct
}

// entryView is a line of the timeline, with links to the attachments of its event.
type entryView struct {
	diagnose.ReportEntry
	Attached []link
	Kept     []link
}

// Asked returns the requests of a review without findings. With findings, the requests only repeat them.
func (e entryView) Asked() []string {
	if len(e.Review.Report.Findings) == 0 {
		return e.Review.Report.Requests
	}
	return nil
}

// State returns the state of the run now.
func (v *runView) State() runState {
	run := v.Run.Summary()
	run.Status = v.Report.Outcome
	return stateOf(run)
}

// Asked returns the requests of all rounds. Requests with the same text are merged, in the state of the last.
func (v *runView) Asked() (all []track.Request) {
	for _, r := range v.Diagnosis.Requests {
		i := slices.IndexFunc(all, func(a track.Request) bool { return a.Text == r.Text })
		if i < 0 {
			all = append(all, r)
			continue
		}
		r.Times += all[i].Times
		all[i] = r
	}
	return all
}

// Repeats reports whether an action to edit a file only repeats a request.
func (v *runView) Repeats(a diagnose.Action) bool {
	return a.Edit != "" && slices.ContainsFunc(v.Diagnosis.Requests, func(r track.Request) bool {
		return strings.Contains(r.Text, a.Description)
	})
}

// Spent returns the usage of agents' calls for the entry.
func (e entryView) Spent() spend.Spent {
	switch {
	case e.Attempt != nil:
		return e.Attempt.Spent
	case e.Review != nil:
		return e.Review.Spent
	}
	return spend.Spent{}
}

func (p *pages) run(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	events, err := p.Store.RunEvents(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	run, _ := record.FoldRun(events)
	if run.ID == "" && len(events) > 0 { // the start of the run has not arrived here
		run.ID = events[0].Run
	}
	v := runView{page: p.page(r, "Run: "+run.Plan.Entity.Name(), "runs"), Run: run,
		Task: markdownHTML(run.Plan.Task, quotedLines{})}
	v.short = p.Store.ShortIDs([]string{run.ID})
	v.Watched, v.Now = run.ID, p.nowOf(v.page, run)
	in := diagnose.ReportInput{
		Run: run, Events: events, Live: v.Now != nil,
		Died:     workspace.Status(p.Store, run.Summary()) == record.RunDied,
		Attempts: map[int][]gitstore.FileStat{},
	}
	if in.Attachments, err = p.Store.Attached(ctx, events); err != nil {
		return err
	}
	v.Report = diagnose.NewReport(in)
	v.retitle()
	v.Picture = newPicture(v.Report.Timeline)
	for _, entry := range v.Report.Timeline {
		v.Entries = append(v.Entries, entryView{entry, attachmentLinks(run.ID, entry), p.keptOf(run.ID, entry)})
	}
	p.diagnosis(ctx, &v)
	if v.acts, err = p.actsOf(ctx, run); err != nil {
		return err
	}
	v.Resumed = r.FormValue("resumed") == strconv.Itoa(len(events)) && !v.Report.Live
	if v.Resumed {
		v.Wrote = lastLines(filepath.Join(p.repo.StateDir(), "web", "resume-"+run.ID+".log"), v.now.Add(-time.Minute))
	}
	if err := p.interdiff(r, &v); err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "run.html", &v)
}

// retitle rewrites titles of the timeline for the page. A stop says after which attempt of how many it came. An attempt
// in progress is shown as such with its duration so far, and not as a killed one.
func (v *runView) retitle() {
	for i, e := range v.Report.Timeline {
		entry := &v.Report.Timeline[i]
		switch {
		case e.Stop != nil:
			entry.Title = "stopped: " + strings.ReplaceAll(e.Stop.Reason, "_", " ")
			if e.Stop.Round > 0 {
				entry.Title += fmt.Sprintf(" (attempt %d of %d)", e.Stop.Round, e.Stop.MaxRounds+1)
			}
		case v.Now != nil && i == len(v.Report.Timeline)-1 && e.Unfinished():
			going := *e.Attempt
			going.EndedAt = v.now
			entry.Attempt, entry.Duration = &going, duration.Duration(max(0, v.now.Sub(e.At)))
			entry.Title = strings.Replace(e.Title, "begun, not finished", "going on", 1)
		}
	}
}

// diagnosis adds why the run stopped. It offers commands of checks only if this clone wrote the run, or they are
// trusted here.
func (p *pages) diagnosis(ctx context.Context, v *runView) {
	if v.Run.Stop == nil {
		return
	}
	run := v.Run
	if !p.repo.Owns(run.Writer) {
		run = run.Elsewhere()
		run.Plan.Checks = slices.Clone(run.Plan.Checks)
		for i, c := range run.Plan.Checks {
			if !slices.ContainsFunc(p.Checks, func(known runplan.Check) bool { return known.Command == c.Command }) {
				run.Plan.Checks[i].Command = ""
			}
		}
	}
	run = runner.Heard(ctx, p.Store, run)
	d := diagnose.Of(run, *run.Stop)
	v.Diagnosis = &d
	dir := workspace.TreeDir(p.Store, run.ID)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		v.Tree = safetext.ShellLine("cd", dir)
	}
}

// intervening reports whether the run takes comments now. One that is executing would be stopped by them.
func intervening(acts []*runAct) bool {
	return slices.ContainsFunc(acts, func(act *runAct) bool { return act.Name == "intervene" && !act.Stops })
}

// gone reports whether err means that objects are not here.
func gone(err error) bool {
	return errors.Is(err, gitstore.ErrNotFound) || errors.As(err, new(*gitstore.GitError))
}
