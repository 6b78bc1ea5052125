package runrimport

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// Limits of a timeline. Real timelines are far below them.
const (
	maxTimelineBytes = 64 << 20
	maxRecorded      = 2_000     // events here
	maxText          = 256 << 10 // bytes of one field
	maxList          = 500       // entries of one list
)

// ErrNoTimeline reports a file without an event that can be read and has a known type.
var ErrNoTimeline = errors.New("no event of a timeline in it")

// Timeline is the content of runr's timeline.jsonl: one run.
type Timeline struct {
	ID       string   // runr's id, else a name derived from the content
	Task     string   // text of the task; "" if it is not known
	Read     int      // events
	Kept     int      // of those, the events that are kept as text
	Warnings []string // for people, one line each

	events []event
	kept   []byte
	named  bool // ID is runr's
}

// event is one line: {seq, timestamp, type, source, payload}, or {event_type, timestamp, runId} with the payload's
// fields beside them.
type event struct {
	fields
	Type, Source, Run string
	At                time.Time // UTC; the zero Time if the line has none
}

// fields are the payload's fields of all types of events.
type fields struct {
	RunID string `json:"run_id"`
	Phase string `json:"phase"`
	Task  string `json:"task"`
	Base  string `json:"base_sha"`

	// The agent's answer.
	Worker   string          `json:"worker"`
	Response json.RawMessage `json:"response"`
	Content  json.RawMessage `json:"content"`
	Memo     string          `json:"handoff_memo"`
	Changed  []string        `json:"changed_files"`

	// Results of reviewer and checks.
	Status  string            `json:"status"`
	Changes []json.RawMessage `json:"changes"`
	Results []struct {
		Command string          `json:"command"`
		Exit    json.RawMessage `json:"exit_code"`
		Output  string          `json:"output"`
	} `json:"command_results"`

	// The reason for a stop.
	Reason          string   `json:"reason"`
	Error           string   `json:"error"`
	Round           int      `json:"round"`
	ReviewRounds    int      `json:"review_rounds"`
	MaxRounds       int      `json:"max_rounds"`
	MaxReviewRounds int      `json:"max_review_rounds"`
	Unmet           []string `json:"unmet_requests"`
	Requests        []string `json:"reviewer_requests"`
}

// Read reads a timeline, one JSON object per line. A line that it cannot read, or that names another run, is kept as
// text. The error is ErrNoTimeline, with the first reason, if it knows no event, or an error of in.
func Read(in io.Reader) (Timeline, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxTimelineBytes+1))
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	}
	var t Timeline
	number, bad, firstBad := 0, 0, "it is empty"
	for line := range bytes.Lines(bytes.TrimPrefix(text[:min(len(text), maxTimelineBytes)], []byte("\xef\xbb\xbf"))) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := t.add(line); err != nil {
			t.keep(line)
			if bad++; bad == 1 {
				firstBad = prose.OneLine(fmt.Sprintf("line %d: %v", number, err))
			}
		}
	}
	if t.Read == t.Kept {
		if t.Read > 0 {
			firstBad = "none of its types of events is known"
		}
		return Timeline{}, fmt.Errorf("%w: %s", ErrNoTimeline, firstBad)
	}
	if bad > 0 {
		t.Warnings = append(t.Warnings, prose.Count(bad, "line")+" could not be read, first "+firstBad)
	}
	if len(text) > maxTimelineBytes {
		t.Warnings = append(t.Warnings, fmt.Sprintf("only the first %d MiB were read", maxTimelineBytes>>20))
	}
	if t.named = t.ID != ""; !t.named {
		sum := sha256.Sum256(text)
		t.ID = "timeline-" + hex.EncodeToString(sum[:6])
	}
	return t, nil
}

func (t *Timeline) add(line []byte) error {
	e, err := decodeEvent(line)
	if err != nil {
		return err
	}
	if e.Run != "" && t.ID != "" && e.Run != t.ID {
		return fmt.Errorf("of another run, %s", e.Run)
	}
	t.ID = cmp.Or(t.ID, e.Run)
	t.Read++
	if handlers[e.Type] == nil {
		t.Kept++
		t.keep(line)
	}
	t.events = append(t.events, e)
	return nil
}

// keep keeps a line as text, as long as there is room.
func (t *Timeline) keep(line []byte) {
	if len(t.kept)+len(line) < maxText {
		t.kept = append(append(t.kept, bytes.ToValidUTF8(line, []byte("\uFFFD"))...), '\n')
	}
}

// decodeEvent parses one line, which is not blank. A field of an unexpected type counts as missing.
func decodeEvent(line []byte) (event, error) {
	if line[0] != '{' {
		return event{}, errors.New("not a JSON object")
	}
	var parts json.RawMessage
	if err := strictjson.Decode(line, &parts); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return event{}, errors.New("cut off")
	} else if err != nil {
		return event{}, err
	}
	var top struct {
		fields
		Type      string          `json:"type"`
		EventType string          `json:"event_type"`
		Timestamp string          `json:"timestamp"`
		Source    string          `json:"source"`
		Run       string          `json:"runId"`
		Payload   json.RawMessage `json:"payload"`
	}
	// encoding/json skips a value of another type and continues; what it read is kept.
	_ = json.Unmarshal(line, &top)
	_ = json.Unmarshal(top.Payload, &top.fields)
	e := event{fields: top.fields, Type: cmp.Or(top.EventType, top.Type), Source: top.Source}
	if e.Type == "" {
		return e, errors.New("no type")
	}
	e.Run = prose.Cut(prose.OneLine(cmp.Or(top.Run, e.RunID)), 100)
	at, err := time.Parse(time.RFC3339, top.Timestamp)
	if err == nil && at.Year() >= 2000 && at.Year() < 2100 {
		e.At = at.UTC().Truncate(time.Millisecond)
	}
	return e, nil
}

// TakeDirectory reads what runr stores beside a timeline: the run's id, which is the name of the directory, and the
// text of its task. file is the timeline's path. Missing data leaves the field unchanged.
func (t *Timeline) TakeDirectory(file string) {
	file, err := filepath.Abs(file)
	if err != nil || filepath.Base(file) != "timeline.jsonl" {
		return
	}
	dir := filepath.Dir(file)
	if _, err := time.Parse(record.IDTime, filepath.Base(dir)); err == nil && !t.named {
		t.ID, t.named = filepath.Base(dir), true
	}
	task := filepath.Join(dir, "artifacts", "task.md")
	info, err := os.Lstat(task)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return
	}
	if text, err := os.ReadFile(task); err == nil {
		t.Task = strings.ToValidUTF8(string(text), "\uFFFD")
	}
}

// textOf returns a field as text; anything but a string stays JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return prose.Cut(text, maxText)
}

// answer returns the text of an agent's answer.
func (e event) answer() string {
	return cmp.Or(prose.Cut(e.Memo, maxText), textOf(e.Response), textOf(e.Content))
}

// agent returns who answered: the event's worker, or its source if that is not a part of runr itself, else role.
func (e event) agent(role string) string {
	name := prose.Cut(prose.OneLine(cmp.Or(e.Worker, e.Source)), 60)
	if name == "" || ownParts.Has(name) {
		return role
	}
	return name
}

// ownParts are sources that are parts of runr.
var ownParts = prose.WordSet("cli supervisor verifier worker resume submit")

// requests returns the reviewer's requests, under either of their names, each on one line.
func (e event) requests() []string {
	asked := e.Unmet
	if len(asked) == 0 {
		asked = e.Requests
	}
	var list []string
	for _, item := range asked[:min(len(asked), maxList)] {
		if row := prose.OneRow(item); row != "" {
			list = append(list, prose.Cut(row, 4<<10))
		}
	}
	return list
}

func (e event) rounds() int    { return min(max(e.Round, e.ReviewRounds, 0), 1<<20) }
func (e event) maxRounds() int { return min(max(e.MaxRounds, e.MaxReviewRounds, 0), 1<<20) }
