package runrimport

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// SourceEvent is one line of a timeline, in either of its envelopes: {seq, timestamp, type, source, payload}, or
// {type or event_type, timestamp, runId} with the fields in a payload or beside them.
type SourceEvent struct {
	SourceFields
	Line   int
	Seq    int64     // from 1; 0 when the event has none
	At     time.Time // UTC; the zero Time when no event of the run has one
	Type   string
	Source string

	run   string // id of the run, where the event names it
	place int64  // by which events are ordered
	raw   [sha256.Size]byte
}

// SourceFields are the fields of all types of events together.
type SourceFields struct {
	RunID string `json:"run_id"`
	Phase string `json:"phase"`
	Stage string `json:"stage"`
	Error string `json:"error"`

	// What a run is.
	Task       string            `json:"task"`
	BaseSHA    string            `json:"base_sha"`
	Milestones []sourceMilestone `json:"milestones"`
	Repo       struct {
		Root string `json:"git_root"`
		Path string `json:"repo_path"`
	} `json:"repo"`
	Commit string `json:"commit"` // of a checkpoint

	// What an agent said.
	Worker      string          `json:"worker"`
	Response    json.RawMessage `json:"response"`
	Content     json.RawMessage `json:"content"`
	Changed     []string        `json:"changed_files"`
	HandoffMemo string          `json:"handoff_memo"`
	Evidence    json.RawMessage `json:"evidence"`
	Provided    json.RawMessage `json:"evidence_provided"`
	Errors      []string        `json:"errors"`

	// What a reviewer and the checks said.
	Status        string            `json:"status"`
	Changes       []json.RawMessage `json:"changes"`
	OK            bool              `json:"ok"`
	Commands      []string          `json:"commands"`
	Results       []sourceResult    `json:"command_results"`
	FailedCommand string            `json:"failed_command"`
	Verification  struct {
		Run []sourceResult `json:"commands_run"`
	} `json:"verification_evidence"`

	// Why a run stopped.
	Reason          string   `json:"reason"`
	Round           int      `json:"round"`
	ReviewRounds    int      `json:"review_rounds"`
	MaxRounds       int      `json:"max_rounds"`
	MaxReviewRounds int      `json:"max_review_rounds"`
	Unmet           []string `json:"unmet_requests"`
	Requests        []string `json:"reviewer_requests"`
	SameFingerprint bool     `json:"same_fingerprint"`
	TicksUsed       int      `json:"ticks_used"`
	MaxTicks        int      `json:"max_ticks"`
	Elapsed         int      `json:"elapsed_ms"`
	Timeout         int      `json:"timeout_ms"`
	CallDuration    int      `json:"worker_call_duration_ms"`
	MaxCall         int      `json:"max_worker_call_ms"`
	violations
	Guard *violations `json:"guard"` // of an event from before the run
}

// violations are the files, and reasons, for which a guard of runr ends a run.
type violations struct {
	Scope     []string `json:"scope_violations"`
	Lockfiles []string `json:"lockfile_violations"`
	Files     []string `json:"violating_files"`
	Plan      []string `json:"violations"`
	Predicted []string `json:"predicted_files"`
	Reasons   []string `json:"reasons"`
}

type sourceMilestone struct {
	Goal  string   `json:"goal"`
	Files []string `json:"files_expected"`
	Done  []string `json:"done_checks"`
}

// sourceResult is the result of a command; without an exit status it is not known how the command ended.
type sourceResult struct {
	Command string          `json:"command"`
	Exit    json.RawMessage `json:"exit_code"`
	Output  string          `json:"output"`
}

func (r sourceResult) exit() int {
	exit, err := strconv.Atoi(strings.Trim(string(r.Exit), `"`))
	if err != nil || exit < 0 || exit > 1<<16 {
		return -1
	}
	return exit
}

// Limits of what is kept of one event, in bytes and in items.
const (
	maxSourceText   = 256 << 10
	maxSourceChange = 16 << 10
	maxSourceList   = 500
)

// textOf returns a field as text: JSON for anything but a string.
func textOf(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return prose.Cut(text, maxSourceText)
}

// rows returns the items of a list that are not blank, each as one line.
func rows(items []string) []string {
	var list []string
	for _, item := range items[:min(len(items), maxSourceList)] {
		if row := prose.OneRow(item); row != "" {
			list = append(list, prose.Cut(row, 4<<10))
		}
	}
	return list
}

// insidePaths returns the names of files inside a repository, each once.
func insidePaths(names []string) []string {
	files := []string{}
	for _, name := range names[:min(len(names), maxSourceList)] {
		if place.Unsafe(name) != "" {
			continue
		}
		if name = path.Clean(name); !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files
}

// answer returns what an agent wrote.
func (e SourceEvent) answer() string {
	return cmp.Or(prose.Cut(e.HandoffMemo, maxSourceText), textOf(e.Response), textOf(e.Content))
}

// agent returns who answered: the worker that the event names, else its source when that is no part of runr itself.
func (e SourceEvent) agent(role string) string {
	switch name := prose.Cut(prose.OneLine(cmp.Or(e.Worker, e.Source)), 60); name {
	case "", "cli", "supervisor", "verifier", "worker", "resume", "submit":
		return role
	default:
		return name
	}
}

// requests returns what the reviewer asked for, under either of its names.
func (e SourceEvent) requests() []string {
	if asked := rows(e.Unmet); len(asked) > 0 {
		return asked
	}
	return rows(e.Requests)
}

func (e SourceEvent) rounds() int    { return min(max(e.Round, e.ReviewRounds, 0), 1<<20) }
func (e SourceEvent) maxRounds() int { return min(max(e.MaxRounds, e.MaxReviewRounds, 0), 1<<20) }

// first reports whether a run begins with e.
func (e SourceEvent) first() bool { return e.Seq == 1 || e.Seq == 0 && e.Type == sourceStarted }

// SourceRun is one run of a timeline.
type SourceRun struct {
	ID      string        // as runr calls it; "" when the timeline does not say
	Task    string        // text of its task, where the caller has it
	Events  []SourceEvent // by seq, else as they stood in the file
	Read    int           // events of the run in the file
	Skipped int           // of those, the ones of a type that is not known
	Mark    string        // a name made from its lines, for a run without an ID
}

// began returns the time in the id of the run here: that of runr's id, so that typing the latter finds the run; else
// when the run began.
func (r SourceRun) began(now time.Time) time.Time {
	if at, err := time.Parse(record.IDTime, r.ID); err == nil {
		return at
	}
	return r.at(0, now)
}

// at returns the time of event i, or now when the timeline has no times or a clock that is far ahead.
func (r SourceRun) at(i int, now time.Time) time.Time {
	if i >= len(r.Events) {
		return now
	}
	if at := r.Events[i].At; !at.IsZero() && !at.After(now.AddDate(1, 0, 0)) {
		return at
	}
	return now
}

// milestones returns those of the newest plan, as text for a prompt, and the goal of the first.
func (r SourceRun) milestones() (text, goal string) {
	for _, e := range slices.Backward(r.Events) {
		if e.Type != sourcePlan {
			continue
		}
		var b strings.Builder
		for i, m := range e.Milestones[:min(len(e.Milestones), maxSourceList)] {
			row := prose.Cut(prose.OneRow(m.Goal), 4<<10)
			if i == 0 {
				goal = row
			}
			fmt.Fprintf(&b, "%d. %s\n", i+1, row)
			writeItems(&b, "files", insidePaths(m.Files))
			writeItems(&b, "done when", rows(m.Done))
		}
		return prose.Cut(strings.TrimSpace(b.String()), maxSourceText), goal
	}
	return "", ""
}

func writeItems(b *strings.Builder, what string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "   %s: %s\n", what, strings.Join(items, "; "))
	}
}

// taskName returns the task as run_started has it: the path of a file or a text.
func (r SourceRun) taskName() string {
	for _, e := range r.Events {
		if name := strings.TrimSpace(e.Task); e.Type == sourceStarted && name != "" {
			return prose.Cut(name, maxSourceText)
		}
	}
	return ""
}

func isTaskPath(name string) bool {
	ext := path.Ext(name)
	return len(name) < 1000 && !strings.Contains(name, "\n") && (ext == ".md" || ext == ".markdown" || ext == ".txt")
}
