package diagnose

import (
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Report is what a run did and how long it took: the output of `git runr show --steps --json` after "v":1. Durations
// are in milliseconds and never negative. Names that runr's report has too (its KPI, version 1) have the same meaning:
// run_id, outcome, checkpoint_sha, the times and durations, phases, verify, reliability, stop_reason, next_action and
// suggested_command.
type Report struct {
	RunID       string           `json:"run_id"`
	Entity      runplan.Entity   `json:"entity"`
	Outcome     record.RunStatus `json:"outcome"` // the run's status; "unknown" if its start has not arrived here
	Result      string           `json:"result,omitempty"`
	Live        bool             `json:"live"` // a process on this machine is working on it
	Implementer string           `json:"implementer,omitempty"`
	Reviewer    string           `json:"reviewer,omitempty"`
	Branch      string           `json:"branch,omitempty"`
	Base        gitstore.ID      `json:"base_sha,omitempty"`
	Checkpoint  gitstore.ID      `json:"checkpoint_sha,omitempty"` // tip of the run's branch
	Landed      gitstore.ID      `json:"landed_sha,omitempty"`

	StopReason  string `json:"stop_reason,omitempty"`
	Explanation string `json:"stop_explanation,omitempty"`
	// NextAction is none, land, resume, intervene, answer, fix_config, resolve_scope_violation or inspect_logs.
	NextAction string `json:"next_action"`
	Suggested  string `json:"suggested_command,omitempty"`

	StartedAt    time.Time              `json:"started_at,omitzero"`
	EndedAt      time.Time              `json:"ended_at,omitzero"` // its end or its newest stop; none while it runs
	Total        duration.Duration      `json:"total_duration_ms"` // until its end, or until the newest event
	Waiting      duration.Duration      `json:"waiting_ms"`        // time between a stop and the resumption
	Unattributed duration.Duration      `json:"unattributed_ms"`   // neither in a phase nor waiting
	Phases       map[string]ReportPhase `json:"phases"`            // implement, check and review
	Verify       ReportVerify           `json:"verify"`
	Reliability  ReportReliability      `json:"reliability"`
	Totals       ReportTotals           `json:"totals"`
	Usage        spend.Usage            `json:"usage,omitzero"` // of all calls of agents
	Spending     spend.Spending         `json:"usage_by_agent,omitempty"`

	Changes  []gitstore.FileStat `json:"changes"` // from the run's base to its tip
	Timeline []ReportEntry       `json:"timeline"`
	Evidence []ReportEvidence    `json:"evidence"`
}

// ReportPhase is the time that steps of one kind took.
type ReportPhase struct {
	Duration duration.Duration `json:"duration_ms"`
	Count    int               `json:"count"`
}

// ReportVerify summarises the check steps.
type ReportVerify struct {
	Attempts int               `json:"attempts"` // turns of a check step
	Retries  int               `json:"retries"`  // turns that followed a turn with a failed check
	Total    duration.Duration `json:"total_duration_ms"`
}

// ReportReliability counts problems around the work.
type ReportReliability struct {
	AgentFailures int `json:"agent_failures"`          // turns that ended without an answer
	Stalls        int `json:"stalls_triggered"`        // those that hit a time or idle limit
	Interrupted   int `json:"interrupted_attempts"`    // started and never finished
	LateResults   int `json:"late_results_ignored"`    // events that came when the run no longer allowed them
	Unreadable    int `json:"unreadable_events"`       // events whose payload could not be read
	ParseWarnings int `json:"parse_warnings"`          // about agents' answers
	Conflicts     int `json:"revert_conflicts"`        // files that a revert left alone
	Unclaimed     int `json:"unclaimed_files"`         // changed but not reported
	Unchanged     int `json:"claimed_files_unchanged"` // reported but not changed
}

// ReportTotals counts what happened.
type ReportTotals struct {
	Attempts      int `json:"attempts"`
	Rounds        int `json:"rounds"`
	ChecksRun     int `json:"checks_run"`
	ChecksFailed  int `json:"checks_failed"`
	Reverts       int `json:"reverts"`
	Stops         int `json:"stops"`
	Resumes       int `json:"resumes"`
	Interventions int `json:"interventions"`
	Files         int `json:"files_changed"` // of Changes
	Added         int `json:"lines_added"`
	Deleted       int `json:"lines_deleted"`
}

// outcomeUnknown is the outcome of a run whose start is not in this clone.
const outcomeUnknown = record.RunStatus("unknown")

// NewReport returns the report of a run.
func NewReport(in ReportInput) Report {
	run := in.Run
	r := Report{
		RunID: run.ID, Entity: run.Plan.Entity, Outcome: run.Status, Result: run.Result, Live: in.Live,
		Implementer: run.Plan.Implementer, Reviewer: run.Plan.Reviewer, Branch: run.Plan.Branch, Base: run.Plan.Base,
		Checkpoint: run.Head(), StartedAt: run.CreatedAt, Changes: in.Changes, Usage: run.Usage, Spending: run.Spending,
		Phases: map[string]ReportPhase{phaseImplement: {}, phaseCheck: {}, phaseReview: {}},
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
	if r.Changes == nil {
		r.Changes = []gitstore.FileStat{}
	}
	r.NextAction, r.Suggested = nextAction(run, in.Live)
	t := newTimeline(in, r.StartedAt)
	r.Timeline = t.entries
	r.addTimes(in)
	r.count(run)
	r.Evidence = reportEvidence(run, r.Timeline)
	return r
}

// Kinds of steps, used as names of phases.
const (
	phaseImplement = "implement"
	phaseCheck     = "check"
	phaseReview    = "review"
)

// phaseOf returns the phase to which an entry's time belongs, or "".
func phaseOf(kind string) string {
	switch kind {
	case entryAttempt:
		return phaseImplement
	case entryChecks:
		return phaseCheck
	case entryReview:
		return phaseReview
	}
	return ""
}

// addTimes divides the run's time into its steps, waiting and the rest.
func (r *Report) addTimes(in ReportInput) {
	end := r.StartedAt
	var stoppedAt time.Time
	for _, e := range r.Timeline {
		if name := phaseOf(e.Kind); name != "" {
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
			end = latest(end, e.Timestamp)
		}
	}
	r.Total = between(r.StartedAt, latest(end, r.EndedAt))
	spent := r.Waiting
	for _, phase := range r.Phases {
		spent = addDurations(spent, phase.Duration)
	}
	r.Unattributed = max(0, r.Total-spent)
	r.Verify.Total = r.Phases[phaseCheck].Duration
}

// count fills in the counts over the timeline.
func (r *Report) count(run record.Run) {
	failedBefore := false
	for _, e := range r.Timeline {
		switch e.Kind {
		case entryAttempt:
			r.countAttempt(*e.Attempt)
		case entryChecks:
			r.Verify.Attempts++
			if failedBefore {
				r.Verify.Retries++
			}
			failedBefore = r.countChecks(e.Checks)
		case entryReview:
			r.Totals.Rounds++
			r.countFailure(e.Review.Failure)
			r.Reliability.ParseWarnings += len(e.Review.Warnings)
		case entryReverted:
			r.Totals.Reverts++
			r.Reliability.Conflicts += len(e.Reverted.Conflicts)
		case entryStopped:
			r.Totals.Stops++
		case entryResumed:
			r.Totals.Resumes++
		case entryIntervened:
			r.Totals.Interventions++
			r.countChecks(e.Checks)
		case entryNotCounted:
			r.Reliability.LateResults++
		case entryUnreadable:
			r.Reliability.Unreadable++
		}
	}
	r.Totals.Attempts = len(run.Attempts)
	for _, f := range r.Changes {
		r.Totals.Files++
		r.Totals.Added += f.Added
		r.Totals.Deleted += f.Deleted
	}
}

func (r *Report) countAttempt(a ReportAttempt) {
	if !a.Finished {
		r.Reliability.Interrupted++
	}
	r.countFailure(a.Failure)
	r.Reliability.ParseWarnings += len(a.Warnings)
	r.Reliability.Unclaimed += len(a.Unclaimed)
	r.Reliability.Unchanged += len(a.Unchanged)
}

func (r *Report) countFailure(f *record.Failure) {
	if f == nil {
		return
	}
	r.Reliability.AgentFailures++
	if f.Reason == record.ReasonAgentTimeout || f.Reason == record.ReasonAgentIdle {
		r.Reliability.Stalls++
	}
}

// countChecks counts the results of configured checks and reports whether one of them failed.
func (r *Report) countChecks(checks []ReportCheck) bool {
	failed := 0
	for _, c := range checks {
		if c.Name == "" {
			continue // a command by a person, not a check
		}
		if c.NotRun == "" {
			r.Totals.ChecksRun++
		}
		if c.Fails {
			failed++
		}
	}
	r.Totals.ChecksFailed += failed
	return failed > 0
}

// nextAction returns what to do with run now, and the command for it.
func nextAction(run record.Run, live bool) (action, command string) {
	switch {
	case run.ID == "", run.Status == record.RunRunning && live:
		return "none", ""
	case run.Status == record.RunRunning:
		return "resume", "git runr resume " + run.ID
	case run.Status == record.RunCompleted && run.Landed == nil && !run.Plan.InPlace && run.Head() != run.Plan.Base:
		return "land", "git runr land " + run.ID
	case run.Stop == nil || run.Status != record.RunStopped && run.Status != record.RunReviewing:
		return "none", ""
	}
	reason := run.Stop.Explained()
	if len(reason.Next) == 0 {
		return "inspect_logs", "git runr log " + run.ID
	}
	command = reason.Next[0].For(run.ID)
	switch reason.Code {
	case record.ReasonUntrusted:
		return "fix_config", command
	case record.ReasonScope:
		return "resolve_scope_violation", command
	}
	return actionOf(command), command
}

// actionOf returns the action of one of this program's commands.
func actionOf(command string) string {
	words := strings.Fields(command)
	if slices.Contains(words, "--commit") {
		return "answer"
	}
	for _, verb := range []string{"resume", "intervene"} {
		if len(words) > 2 && words[2] == verb {
			return verb
		}
	}
	return "inspect_logs"
}
