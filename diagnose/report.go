package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Report is what a run did and how long it took: the output of `git runr show --steps --json` after "v":1. Durations
// are in milliseconds and never negative. Names that runr's report has too have the same meaning: run_id, outcome,
// checkpoint_sha, the times and durations, phases, stop_reason and suggested_command.
type Report struct {
	RunID       string           `json:"run_id"`
	Entity      runplan.Entity   `json:"entity"`
	Outcome     record.RunStatus `json:"outcome"` // the run's status now; "unknown" if its start is not here
	Result      string           `json:"result,omitempty"`
	Live        bool             `json:"live"` // a process on this machine is working on it
	Branch      string           `json:"branch,omitempty"`
	Base        gitstore.ID      `json:"base_sha,omitempty"`
	Checkpoint  gitstore.ID      `json:"checkpoint_sha,omitempty"` // tip of the run's branch
	Landed      gitstore.ID      `json:"landed_sha,omitempty"`
	StopReason  string           `json:"stop_reason,omitempty"`
	Explanation string           `json:"stop_explanation,omitempty"`
	Suggested   string           `json:"suggested_command,omitempty"`

	StartedAt time.Time              `json:"started_at,omitzero"`
	EndedAt   time.Time              `json:"ended_at,omitzero"` // its end or its newest stop; none while it runs
	Total     duration.Duration      `json:"total_duration_ms"` // until its end, or until the newest event
	Waiting   duration.Duration      `json:"waiting_ms"`        // time between a stop and the resumption
	Phases    map[string]ReportPhase `json:"phases"`            // implement, check and review
	Usage     spend.Usage            `json:"usage,omitzero"`    // of all calls of agents
	Spending  spend.Spending         `json:"usage_by_agent,omitempty"`

	Changes  []gitstore.FileStat `json:"changes"` // from the run's base to its tip
	Timeline []ReportEntry       `json:"timeline"`
	Evidence []ReportEvidence    `json:"evidence"`
}

// ReportPhase is the time that steps of one kind took.
type ReportPhase struct {
	Duration duration.Duration `json:"duration_ms"`
	Count    int               `json:"count"`
}

// outcomeUnknown is the outcome of a run whose start is not in this clone.
const outcomeUnknown = record.RunStatus("unknown")

// NewReport returns the report of a run.
func NewReport(in ReportInput) Report {
	run := in.Run
	r := Report{
		RunID: run.ID, Entity: run.Plan.Entity, Outcome: run.Status, Result: run.Result, Live: in.Live,
		Branch: run.Plan.Branch, Base: run.Plan.Base, Checkpoint: run.Head(), StartedAt: run.CreatedAt,
		Changes: append([]gitstore.FileStat{}, in.Changes...), Usage: run.Usage, Spending: run.Spending,
		Phases:    map[string]ReportPhase{phaseImplement: {}, phaseCheck: {}, phaseReview: {}},
		Suggested: nextCommand(run, in.Live),
	}
	if run.WorkAway() { // its base here is where resuming begins
		r.Branch, r.Base, r.Checkpoint = "", "", ""
	}
	if in.Died {
		r.Outcome = record.RunDied
	}
	if run.ID == "" { // its start is in a log that has not arrived
		r.Outcome = outcomeUnknown
		for _, e := range in.Events[:min(1, len(in.Events))] {
			r.RunID, r.StartedAt = e.Run, e.Timestamp
		}
	}
	if run.Stop != nil {
		r.StopReason, r.Explanation = run.Stop.Reason, record.ReasonOf(run.Stop.Reason).Explanation
	}
	if run.Landed != nil {
		r.Landed = run.Landed.Commit
	}
	r.Timeline = newTimeline(in, r.StartedAt)
	r.addTimes(in)
	r.Evidence = reportEvidence(run, r.Timeline)
	return r
}

// Kinds of steps, used as names of phases.
const (
	phaseImplement = "implement"
	phaseCheck     = "check"
	phaseReview    = "review"
)

// phases are the kinds of entries whose time belongs to a phase.
var phases = map[string]string{entryAttempt: phaseImplement, entryChecks: phaseCheck, entryReview: phaseReview}

// addTimes divides the run's time into its steps, waiting and the rest.
func (r *Report) addTimes(in ReportInput) {
	moments := []time.Time{r.StartedAt}
	var stoppedAt time.Time
	for _, e := range r.Timeline {
		if name := phases[e.Kind]; name != "" {
			phase := r.Phases[name]
			r.Phases[name] = ReportPhase{Duration: addDurations(phase.Duration, e.Duration), Count: phase.Count + 1}
		}
		if e.goesOn() && !stoppedAt.IsZero() {
			r.Waiting = addDurations(r.Waiting, between(stoppedAt, e.At))
			stoppedAt = time.Time{}
		}
		if e.Kind == entryStopped {
			stoppedAt = e.At
		}
		if e.ends() {
			r.EndedAt = e.At
		}
	}
	if !in.Run.Done() || r.Outcome == outcomeUnknown {
		r.EndedAt = time.Time{}
		for _, e := range in.Events {
			moments = append(moments, e.Timestamp)
		}
	}
	r.Total = between(r.StartedAt, slices.MaxFunc(append(moments, r.EndedAt), time.Time.Compare))
}

// nextCommand returns what to type for run now, or "".
func nextCommand(run record.Run, live bool) string {
	switch {
	case run.ID == "", run.Status == record.RunRunning && live:
		return ""
	case run.Status == record.RunRunning:
		return "git runr resume " + run.ID
	case run.Status == record.RunCompleted && run.Landed == nil && !run.Plan.InPlace && run.Head() != run.Plan.Base:
		return "git runr land " + run.ID
	case run.Stop == nil || run.Status != record.RunStopped && run.Status != record.RunReviewing:
		return ""
	}
	if next := run.Stop.Explained().Next; len(next) > 0 {
		return next[0].For(run.ID)
	}
	return "git runr log " + run.ID
}

// totalLines returns the sums, each with a label.
func (r Report) totalLines() []string {
	time := took(r.Total)
	added, deleted := sums(r.Changes)
	for _, name := range []string{phaseImplement, phaseCheck, phaseReview} {
		time += fmt.Sprintf(", %s %s", name, took(r.Phases[name].Duration))
	}
	changed := fmt.Sprintf("%s, +%d -%d", prose.Count(len(r.Changes), "file"), added, deleted)
	attempts := each.Where(r.Timeline, func(e ReportEntry) bool { return e.Attempt != nil })
	if n := len(attempts); n > 0 && attempts[n-1].Unfinished() {
		changed += fmt.Sprintf(", without attempt %d, which was not finished", attempts[n-1].Attempt.Number)
	}
	lines := []string{"time      " + time + ", waiting " + took(r.Waiting), "changed   " + changed}
	if took := r.Spending.String(); took != "" {
		lines = append(lines, "agents    "+took)
	}
	return lines
}
