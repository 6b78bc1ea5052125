package runrimport

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// Limits of a timeline. Real timelines are far below them.
const (
	maxTimelineBytes = 64 << 20
	maxRunEvents     = 2_000     // of one run; the newest are kept
	maxSourceText    = 256 << 10 // bytes of one field
	maxSourceList    = 500       // entries of one list
	lineWarnings     = 20        // unreadable lines that are reported one by one
)

// ErrNoTimeline reports a file without a readable event.
var ErrNoTimeline = errors.New("no event of a timeline in it")

// Timeline is the content of runr's timeline.jsonl.
type Timeline struct {
	Runs     []SourceRun
	Warnings []string // for people, one line each

	badLines int
	current  int // index in Runs of the newest line's run
}

// SourceRun is one run of a timeline.
type SourceRun struct {
	ID      string        // runr's id; "" if the timeline has none
	Task    string        // text of its task, if the caller has it
	Events  []SourceEvent // in file order
	Read    int           // events of the run in the file
	Skipped int           // of those, events of unknown type
	Mark    string        // a name derived from its lines, for a run without an ID

	lines hash.Hash
}

// SourceEvent is one line of a timeline: {seq, timestamp, type, source, payload}, or {event_type, timestamp, runId}
// with the payload's fields beside them.
type SourceEvent struct {
	SourceFields
	At     time.Time // UTC; without one, that of the previous event, or the zero Time
	Type   string
	Source string

	run string // id of the run, if the event names it
}

// SourceFields are the fields of all types of events.
type SourceFields struct {
	RunID string `json:"run_id"`
	Phase string `json:"phase"`
	Error string `json:"error"`
	Task  string `json:"task"`

	// The agent's answer.
	Worker   string          `json:"worker"`
	Response json.RawMessage `json:"response"`
	Content  json.RawMessage `json:"content"`
	Memo     string          `json:"handoff_memo"`
	Changed  []string        `json:"changed_files"`

	// Results of reviewer and checks.
	Status   string            `json:"status"`
	Changes  []json.RawMessage `json:"changes"`
	OK       bool              `json:"ok"`
	Commands []string          `json:"commands"`
	Results  []sourceResult    `json:"command_results"`

	// The reason for a stop.
	Reason          string   `json:"reason"`
	Round           int      `json:"round"`
	ReviewRounds    int      `json:"review_rounds"`
	MaxRounds       int      `json:"max_rounds"`
	MaxReviewRounds int      `json:"max_review_rounds"`
	Unmet           []string `json:"unmet_requests"`
	Requests        []string `json:"reviewer_requests"`
}

// sourceResult is the result of a command. Without an exit status its outcome is unknown.
type sourceResult struct {
	Command string          `json:"command"`
	Exit    json.RawMessage `json:"exit_code"`
	Output  string          `json:"output"`
}

// exit returns the command's exit status, or -1 if it is not recorded.
func (r sourceResult) exit() int {
	exit, err := strconv.Atoi(strings.Trim(string(r.Exit), `"`))
	if err != nil || exit < 0 || exit > 1<<16 {
		return -1
	}
	return exit
}

// Read reads a timeline, one JSON object per line. It skips an unreadable line and warns with its number. The error is
// ErrNoTimeline, with the first reason, if no line can be read, or an error of in.
func Read(in io.Reader) (Timeline, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxTimelineBytes+1))
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	}
	var t Timeline
	number, firstBad := 0, "it is empty"
	for line := range bytes.Lines(bytes.TrimPrefix(text[:min(len(text), maxTimelineBytes)], []byte("\xef\xbb\xbf"))) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		event, err := decodeEvent(line)
		if err == nil {
			t.add(event, line)
			continue
		}
		if t.badLines++; t.badLines <= lineWarnings {
			t.warn("line %d: %v", number, err)
		}
		if t.badLines == 1 {
			firstBad = t.Warnings[0]
		}
	}
	if len(t.Runs) == 0 {
		return Timeline{}, fmt.Errorf("%w: %s", ErrNoTimeline, firstBad)
	}
	if more := t.badLines - lineWarnings; more > 0 {
		t.warn("%s more could not be read", prose.Count(more, "line"))
	}
	if len(text) > maxTimelineBytes {
		t.warn("only the first %d MiB were read", maxTimelineBytes>>20)
	}
	t.finish()
	return t, nil
}

func (t *Timeline) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, prose.OneLine(fmt.Sprintf(format, args...)))
}

// add adds an event to its run. An event without a run belongs to the previous line's run.
func (t *Timeline) add(e SourceEvent, line []byte) {
	named := slices.IndexFunc(t.Runs, func(r SourceRun) bool { return r.ID == e.run })
	switch {
	case e.run != "" && named >= 0:
		t.current = named
	case len(t.Runs) == 0 || e.run != "" && t.Runs[t.current].ID != "":
		t.Runs = append(t.Runs, SourceRun{lines: sha256.New()})
		t.current = len(t.Runs) - 1
	}
	run := &t.Runs[t.current]
	run.ID = cmp.Or(run.ID, e.run)
	if n := len(run.Events); n > 0 && e.At.IsZero() {
		e.At = run.Events[n-1].At
	}
	run.Events = append(run.Events, e)
	run.lines.Write(line)
}

// finish names each run, limits its events, and warns once about unknown types of events.
func (t *Timeline) finish() {
	unknown := map[string]int{}
	for i := range t.Runs {
		run := &t.Runs[i]
		run.Mark = "timeline-" + hex.EncodeToString(run.lines.Sum(nil)[:6])
		run.Read, run.lines = len(run.Events), nil
		for _, e := range run.Events {
			if handlers[e.Type] == nil && !quietTypes.Has(e.Type) {
				unknown[prose.Cut(e.Type, 40)]++
				run.Skipped++
			}
		}
		if left := run.Read - maxRunEvents; left > 0 {
			run.Events = slices.Delete(run.Events, 1, left+1)
			t.warn("a run of %d events keeps its newest: %d were left out", run.Read, left)
		}
	}
	var types []string
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		types = append(types, fmt.Sprintf("%s (%d)", name, unknown[name]))
	}
	if more := len(types) - 10; more > 0 {
		types = append(types[:10], fmt.Sprintf("%d more", more))
	}
	if len(types) > 0 {
		t.warn("left out, for their type is not known: %s", strings.Join(types, ", "))
	}
}

// decodeEvent parses one line, which is not blank. A field of an unexpected type counts as missing.
func decodeEvent(line []byte) (SourceEvent, error) {
	if line[0] != '{' {
		return SourceEvent{}, errors.New("not a JSON object")
	}
	var parts json.RawMessage
	if err := strictjson.Decode(line, &parts); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return SourceEvent{}, errors.New("cut off")
	} else if err != nil {
		return SourceEvent{}, err
	}
	var top struct {
		Type      string          `json:"type"`
		EventType string          `json:"event_type"`
		Timestamp string          `json:"timestamp"`
		Source    string          `json:"source"`
		Run       string          `json:"runId"`
		Payload   json.RawMessage `json:"payload"`
	}
	var e SourceEvent
	// encoding/json skips a value of another type and continues; what it read is kept.
	_ = json.Unmarshal(line, &top)
	_ = json.Unmarshal(line, &e.SourceFields)
	_ = json.Unmarshal(top.Payload, &e.SourceFields)
	e.Type, e.Source = cmp.Or(top.EventType, top.Type), top.Source
	if e.Type == "" {
		return e, errors.New("no type")
	}
	e.run = prose.Cut(prose.OneLine(cmp.Or(top.Run, e.RunID)), 100)
	at, err := time.Parse(time.RFC3339, top.Timestamp)
	if err == nil && at.Year() >= 2000 && at.Year() < 2100 {
		e.At = at.UTC().Truncate(time.Millisecond)
	}
	return e, nil
}

// textOf returns a field as text; anything but a string stays JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return prose.Cut(text, maxSourceText)
}

// answer returns the text of an agent's answer.
func (e SourceEvent) answer() string {
	return cmp.Or(prose.Cut(e.Memo, maxSourceText), textOf(e.Response), textOf(e.Content))
}

// agent returns who answered: the event's worker, or its source if that is not a part of runr itself, else role.
func (e SourceEvent) agent(role string) string {
	name := prose.Cut(prose.OneLine(cmp.Or(e.Worker, e.Source)), 60)
	if name == "" || ownParts.Has(name) {
		return role
	}
	return name
}

// ownParts are sources that are parts of runr.
var ownParts = prose.WordSet("cli supervisor verifier worker resume submit")

// requests returns the reviewer's requests, under either of their names, each on one line.
func (e SourceEvent) requests() []string {
	var list []string
	asked := e.Unmet
	if len(asked) == 0 {
		asked = e.Requests
	}
	for _, item := range asked[:min(len(asked), maxSourceList)] {
		if row := prose.OneRow(item); row != "" {
			list = append(list, prose.Cut(row, 4<<10))
		}
	}
	return list
}

func (e SourceEvent) rounds() int    { return min(max(e.Round, e.ReviewRounds, 0), 1<<20) }
func (e SourceEvent) maxRounds() int { return min(max(e.MaxRounds, e.MaxReviewRounds, 0), 1<<20) }

// began returns the time for the id of the run here: the time in runr's id, so that typing that id finds the run, else
// the time of the first event.
func (r SourceRun) began(now time.Time) time.Time {
	if at, err := time.Parse(record.IDTime, r.ID); err == nil {
		return at
	}
	return r.at(0, now)
}

// at returns the time of event i, or now if the timeline has no times or a clock that is far ahead.
func (r SourceRun) at(i int, now time.Time) time.Time {
	if i >= len(r.Events) || r.Events[i].At.IsZero() || r.Events[i].At.After(now.AddDate(1, 0, 0)) {
		return now
	}
	return r.Events[i].At
}
