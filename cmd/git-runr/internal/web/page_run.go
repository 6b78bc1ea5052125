package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/agent"
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
	Left []link
	Kept []link
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

// link is a link to an attachment of an event, or to a prompt or an agent's output that only this clone has.
type link struct{ Name, URL string }

// stepTree is a state of the run's work: its base, or the result of an attempt.
type stepTree struct {
	Number int // of the attempt, 0 for the base
	Label  string
	tree   gitstore.ID
	commit gitstore.ID // the commit with the tree, or ""
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
		Attempts: map[int][]gitstore.FileStat{}, Attachments: map[gitstore.ID][]string{},
	}
	for _, e := range events {
		if in.Attachments[e.ID], err = p.repo.Attachments(ctx, e.ID); err != nil {
			return err
		}
	}
	v.Report = diagnose.NewReport(in)
	v.tell()
	v.Picture = newPicture(v.Report.Timeline)
	for _, entry := range v.Report.Timeline {
		v.Entries = append(v.Entries, entryView{entry, leftBehind(run.ID, entry), p.keptOf(run.ID, entry)})
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

// tell rewrites titles of the timeline for the page. A stop says after which attempt of how many it came. An attempt in
// progress is shown as such with its duration so far, and not as a killed one.
func (v *runView) tell() {
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

// leftBehind returns links to the attachments of an entry's event.
func leftBehind(run string, entry diagnose.ReportEntry) []link {
	var left []link
	for _, name := range entry.Attachments {
		u := url.URL{Path: "/run/" + run + "/left/" + string(entry.Event), RawQuery: url.Values{"name": {name}}.Encode()}
		left = append(left, link{name, u.String()})
	}
	return left
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

// intervening reports whether the run takes comments now. One that is executing would be stopped by them.
func intervening(acts []*runAct) bool {
	return slices.ContainsFunc(acts, func(act *runAct) bool { return act.Name == "intervene" && !act.Stops })
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

// gone reports whether err means that objects are not here.
func gone(err error) bool {
	return errors.Is(err, gitstore.ErrNotFound) || errors.As(err, new(*gitstore.GitError))
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

// leftShown is the maximum number of bytes of an attachment that is shown.
const leftShown = 1 << 20

// runLeft shows an attachment of a run's event as text.
func (p *pages) runLeft(w http.ResponseWriter, r *http.Request) error {
	events, err := p.Store.RunEvents(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	id, name := gitstore.ID(r.PathValue("event")), r.FormValue("name")
	if !slices.ContainsFunc(events, func(e record.Event) bool { return e.ID == id }) {
		return &record.NotFoundError{What: "event", ID: string(id)}
	}
	data, err := p.Store.Attachment(r.Context(), id, name)
	if err != nil {
		return err
	}
	v := struct {
		page
		Name, Text, Back string
		Cut              int
	}{page: p.page(r, name, "runs"), Name: name, Back: (&url.URL{Path: "/run/" + events[0].Run}).String()}
	if len(data) > leftShown {
		v.Cut = len(data) - leftShown
		data = data[:leftShown]
	}
	v.Text = safetext.Text(string(data))
	return p.show(w, http.StatusOK, "left.html", v)
}

// nowView is the step that a run executes in this clone at the moment.
type nowView struct {
	page
	What  string
	By    string // the agent; "" for checks
	Since time.Time
	Said  string // the last lines of the agent's output
}

// Limits for the shown output: lines, and bytes per line.
const (
	nowSaid = 12
	nowLine = 400
)

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

// keptName matches the names of the files that a run keeps for its attempts and rounds: see execution.transcript.
var keptName = lazyre.Compile(`^(?:attempt-[1-9][0-9]{0,5}(?:\.prompt\.md|\.log)|review-[1-9][0-9]{0,5}\.log)$`)

// keptOf returns the kept files of the attempt or round in an entry of the timeline.
func (p *pages) keptOf(run string, e diagnose.ReportEntry) (kept []link) {
	offer := func(label, file string) {
		info, err := os.Stat(filepath.Join(workspace.FilesDir(p.Store, run), file))
		if err == nil && info.Size() > 0 {
			kept = append(kept, link{label, (&url.URL{Path: "/run/" + run + "/kept/" + file}).String()})
		}
	}
	switch {
	case e.Attempt != nil:
		offer("Prompt", fmt.Sprintf("attempt-%d.prompt.md", e.Attempt.Number))
		offer("Transcript", fmt.Sprintf("attempt-%d.log", e.Attempt.Number))
	case e.Review != nil:
		offer("Transcript", fmt.Sprintf("review-%d.log", e.Review.Number))
	}
	return kept
}

// runKept shows a prompt or a transcript: as a part of the run's page for scripts, else as a page of its own. Of a long
// one it shows the end, with links to the parts before.
func (p *pages) runKept(w http.ResponseWriter, r *http.Request) error {
	run, err := p.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	missing := &record.NotFoundError{What: "file", ID: name}
	if !keptName().MatchString(name) {
		return missing
	}
	file, err := os.Open(filepath.Join(workspace.FilesDir(p.Store, run.ID), name))
	if errors.Is(err, fs.ErrNotExist) {
		return missing
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end, err := strconv.ParseInt(r.FormValue("until"), 10, 64)
	if err != nil || end <= 0 || end > info.Size() {
		end = info.Size()
	}
	v := struct {
		page
		Name, Back string
		Before     int64  // bytes before the shown part
		Earlier    string // URL of the part before
		Parts      []agent.Told
	}{page: p.page(r, name, "runs"), Name: name, Back: "/run/" + run.ID, Before: max(0, end-leftShown)}
	if v.Before > 0 {
		v.Earlier = (&url.URL{Path: r.URL.Path,
			RawQuery: url.Values{"until": {strconv.FormatInt(v.Before, 10)}}.Encode()}).String()
	}
	text, err := io.ReadAll(io.NewSectionReader(file, v.Before, end-v.Before))
	if err != nil {
		return err
	}
	notice, err := p.Store.WithheldOutput(r.Context(), run, name)
	if err != nil {
		return err
	}
	if notice != "" {
		text, v.Before, v.Earlier = []byte(notice), 0, ""
	}
	v.Parts = []agent.Told{{Text: string(text)}}
	if filepath.Ext(name) == ".log" {
		v.Parts = agent.ReadTranscript(text)
	}
	if r.FormValue("fragment") != "" {
		return p.show(w, http.StatusOK, "kept", v)
	}
	return p.show(w, http.StatusOK, "kept.html", v)
}
