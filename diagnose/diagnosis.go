package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
)

// Place is where a run's files are, as paths that the user can type.
type Place struct {
	Files string // the directory of its files; "" if this clone has none
	Tree  string // its working tree; "" if this clone has none
	Dir   string // where its checks run; "" if that is the current directory or not here
	Width int    // of the terminal, in columns
}

// Action is one command to type or one place to change.
type Action struct {
	Command     string `json:"command,omitempty"` // a line that runs as it is in sh, bash, zsh and fish
	Edit        string `json:"edit,omitempty"`    // a path, with :LINE if known
	Description string `json:"description"`

	label string // the word before the command in a list
}

// labelRun is the label of a check's command.
const labelRun = "Run"

// Suggestion is a configured check that would show that a request is met.
type Suggestion struct {
	Check   string `json:"check"`
	Command string `json:"command"` // as configured: text for sh -c
	Was     string `json:"was"`     // its last result: "3 errors", "exit 1", "never run"

	line string // the command in a form to paste
	log  string // the run's file from which its output is read as evidence
}

// Checkpoint is the work that remains valid: a commit, and the attempt or intervention that made it.
type Checkpoint struct {
	Commit       gitstore.ID `json:"commit"`
	Attempt      int         `json:"attempt,omitempty"`
	Attempts     int         `json:"attempts"`
	Intervention int         `json:"intervention,omitempty"` // a person's work on top
}

// FailingCheck is a check that counts against the work, and where to find its output.
type FailingCheck struct {
	Check    string   `json:"check"`
	State    string   `json:"state"`              // "exit 1 (3 errors)"
	Failures []string `json:"failures,omitempty"` // what failed, how and where, the first few
	More     int      `json:"more,omitempty"`
	Log      string   `json:"log,omitempty"` // a command that shows the whole output
}

// Diagnosis says why a run stopped and what to do about it. Its first fields are those of runr's StopDiagnostics; times
// are UTC.
type Diagnosis struct {
	StopReason           string    `json:"stop_reason"`
	Explanation          string    `json:"explanation"`
	Detail               string    `json:"detail,omitempty"`
	LoopCount            int       `json:"loop_count,omitempty"`
	LastReviewRequests   []string  `json:"last_review_requests,omitempty"`
	LastEvidenceProvided []string  `json:"last_evidence_provided,omitempty"`
	UnmetChecks          []string  `json:"unmet_checks,omitempty"` // codes: see UnmetCodes
	LastActivityAt       time.Time `json:"last_activity_at,omitzero"`
	TimeSinceActivity    int64     `json:"time_since_activity_ms,omitempty"` // from LastActivityAt to the stop
	SuggestedActions     []Action  `json:"suggested_actions"`

	RunID             string            `json:"run_id,omitempty"`
	ReviewID          string            `json:"review_id,omitempty"`
	Title             string            `json:"title"`
	Family            record.Family     `json:"family"`
	Resumable         bool              `json:"resumable"`
	ExitStatus        int               `json:"exit_status"`
	Round             int               `json:"round,omitempty"`
	MaxRounds         int               `json:"max_rounds,omitempty"`
	Checkpoint        *Checkpoint       `json:"checkpoint,omitempty"`
	Files             []string          `json:"files,omitempty"`    // that caused the stop
	Requests          []track.Request   `json:"requests,omitempty"` // over all rounds
	SuggestedCommands []Suggestion      `json:"suggested_commands,omitempty"`
	NextSteps         []record.NextStep `json:"next_steps"`
	Accept            string            `json:"accept,omitempty"`       // command that accepts the work, or ""
	PutBack           []string          `json:"put_back,omitempty"`     // commands to undo an agent's other changes
	Intervention      string            `json:"intervention,omitempty"` // one line

	FailingChecks []FailingCheck   `json:"failing_checks,omitempty"`
	Setting       *runplan.Setting `json:"setting,omitempty"`        // the configured value that ended the run
	ResumeAfter   time.Time        `json:"resume_after,omitzero"`    // when the cause of the stop passes by itself
	Spending      spend.Spending   `json:"usage_by_agent,omitempty"` // of a run that a budget ended
	Said          string           `json:"said,omitempty"`           // the words of the agent that caused the stop
	SaidBy        string           `json:"said_by,omitempty"`        // that agent
	Transcript    string           `json:"transcript,omitempty"`     // file of the run with all the agent wrote

	intervention []string // the lines of Intervention as shown
	since        string   // from when LoopCount and Round count, unless from the start
	over         string   // how the run ended after the stop, or ""
}

// oneLine returns untrusted text on one line, without anything that a terminal interprets.
func oneLine(s string) string { return safetext.Line(prose.OneRow(s)) }

// runs returns the commands of the checks that would show that requests are met.
func (d Diagnosis) runs() []Action {
	var actions []Action
	for _, s := range d.SuggestedCommands {
		actions = append(actions, Action{Command: s.line,
			Description: "run the check " + oneLine(s.Check) + "; it was: " + s.Was, label: labelRun})
	}
	return actions
}

// steps returns the next steps, except an intervention that is suggested in full, which has lines of its own.
func (d Diagnosis) steps() []Action {
	var actions []Action
	next := slices.Clone(d.NextSteps)
	if d.Accept != "" {
		next = append(next, record.NextStep{Command: d.Accept, What: record.StepAccept.What})
	}
	for _, s := range next {
		verb, _, _ := strings.Cut(strings.TrimPrefix(s.Command, "git runr "), " ")
		if s.What == record.StepAccept.What {
			verb = "accept"
		}
		if verb != "intervene" || len(d.intervention) == 0 {
			actions = append(actions, Action{Command: s.Command, Description: s.What,
				label: strings.ToUpper(verb[:1]) + verb[1:]})
		}
	}
	return actions
}

// plain reports whether a stop is explained in its own words, rather than by a reviewer's requests.
func (d Diagnosis) plain() bool {
	return d.Family != record.FamilyReview || len(d.LastReviewRequests) == 0 || d.StopReason == record.ReasonNoProgress
}

// header returns the line that names the stop. since says from when its rounds count, or is "".
func header(stop record.Stop, since string) string {
	text := "STOPPED: " + oneLine(stop.Reason)
	if stop.Round > 0 {
		text += " (" + record.RoundOf(stop.Round, stop.MaxRounds) + since + ")"
	}
	return text
}

// fateOf describes what happened to a request.
func fateOf(t track.Request) string {
	switch t.State {
	case track.Met:
		return "met: its check passes"
	case track.NotAsked:
		return fmt.Sprintf("not asked for again since round %d", t.Last)
	case track.Similar:
		return fmt.Sprintf("similar to a request of round %d", t.Other)
	case track.Contradiction:
		return fmt.Sprintf("contradicts round %d", t.Other)
	case track.CameBack:
		return fmt.Sprintf("came back: asked for %s, first in round %d", prose.Count(t.Times, "time"), t.First)
	case track.Unmet:
		return fmt.Sprintf("unmet: asked for %s, first in round %d", prose.Count(t.Times, "time"), t.First)
	}
	return "new"
}

// fate describes in parentheses what happened to request over the rounds, or returns "" if that is unknown.
func (d Diagnosis) fate(request string) string {
	for _, t := range d.Requests {
		if t.Text == request && t.State != track.Met && t.State != track.NotAsked {
			return " (" + fateOf(t) + ")"
		}
	}
	return ""
}
