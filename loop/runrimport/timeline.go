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
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
)

// Limits of a timeline. Real timelines are far below them.
const (
	maxTimelineBytes = 64 << 20
	maxRunEvents     = 2_000 // of one run, each of which may become an event here
	lineWarnings     = 20    // lines that are named one by one
)

// ErrNoTimeline is the error for a file in which no line is an event.
var ErrNoTimeline = errors.New("no event of a timeline in it")

// Timeline is the content of runr's timeline.jsonl.
type Timeline struct {
	Runs     []SourceRun
	Warnings []string // one line each, for people

	badLines int
	firstBad string
	current  int // index in Runs of the run that the newest line belongs to
}

// Read reads a timeline, one JSON object a line. It leaves out a line that it cannot read, and warns of it by its
// number. The error is ErrNoTimeline, with the first reason, when no line can be read, and else an error of in.
func Read(in io.Reader) (Timeline, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxTimelineBytes+1))
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	}
	var t Timeline
	if len(text) > maxTimelineBytes {
		text = text[:maxTimelineBytes]
		t.warn("only the first %d MiB were read", maxTimelineBytes>>20)
	}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		event, err := decodeEvent(line)
		if err != nil {
			t.refuse(number, err)
			continue
		}
		event.Line = number
		t.add(event)
	}
	if len(t.Runs) == 0 {
		return Timeline{}, fmt.Errorf("%w: %s", ErrNoTimeline, cmp.Or(t.firstBad, "it is empty"))
	}
	if more := t.badLines - lineWarnings; more > 0 {
		t.warn("%s more could not be read", prose.Count(more, "line"))
	}
	t.finish()
	return t, nil
}

func (t *Timeline) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, prose.OneLine(fmt.Sprintf(format, args...)))
}

// refuse notes a line that cannot be read.
func (t *Timeline) refuse(number int, err error) {
	t.badLines++
	if t.badLines > lineWarnings {
		return
	}
	t.warn("line %d: %v", number, err)
	if t.badLines == 1 {
		t.firstBad = t.Warnings[len(t.Warnings)-1]
	}
}

// add gives an event to its run. An event that names no run belongs to the run of the line before it, unless it is a
// second first event: then two files were joined.
func (t *Timeline) add(e SourceEvent) {
	at := t.current
	switch named := t.indexOf(e.run); {
	case e.run == "" && (len(t.Runs) == 0 || t.Runs[at].beginsAgain(e)):
		at = len(t.Runs)
	case e.run == "":
	case named >= 0:
		at = named
	case len(t.Runs) == 0 || t.Runs[at].ID != "":
		at = len(t.Runs)
	}
	if at == len(t.Runs) {
		t.Runs = append(t.Runs, SourceRun{})
	}
	t.current = at
	run := &t.Runs[at]
	run.ID = cmp.Or(run.ID, e.run)
	run.Events = append(run.Events, e)
}

func (t *Timeline) indexOf(id string) int {
	return slices.IndexFunc(t.Runs, func(r SourceRun) bool { return r.ID == id })
}

// beginsAgain reports whether e is the first event of another run than r.
func (r *SourceRun) beginsAgain(e SourceEvent) bool {
	return e.first() && slices.ContainsFunc(r.Events, func(o SourceEvent) bool { return o.first() && o.raw != e.raw })
}

// finish orders the events of each run, and warns once of types of events that are not known.
func (t *Timeline) finish() {
	unknown := map[string]int{}
	for i := range t.Runs {
		run := &t.Runs[i]
		run.mark()
		run.sort()
		run.Read = len(run.Events)
		for _, e := range run.Events {
			if !knownSource(e.Type) {
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

// mark names a run by all its lines, in case it has no other name.
func (r *SourceRun) mark() {
	hash := sha256.New()
	for _, e := range r.Events {
		hash.Write(e.raw[:])
	}
	r.Mark = "timeline-" + hex.EncodeToString(hash.Sum(nil)[:6])
}

// sort orders the events by their seq. An event without one stays behind the event that it follows in the file. The
// same line twice is one event; two events with one seq are two, for runr counts without a lock. An event without a
// time gets that of the event before it, and events at the beginning get the first time that is known.
func (r *SourceRun) sort() {
	seq := int64(0)
	seen := map[[sha256.Size]byte]bool{}
	r.Events = slices.DeleteFunc(r.Events, func(e SourceEvent) bool {
		again := e.Seq > 0 && seen[e.raw]
		seen[e.raw] = true
		return again
	})
	for i, e := range r.Events {
		seq = cmp.Or(e.Seq, seq)
		r.Events[i].place = seq
	}
	slices.SortStableFunc(r.Events, func(a, b SourceEvent) int { return cmp.Compare(a.place, b.place) })
	var at time.Time
	if first := slices.IndexFunc(r.Events, func(e SourceEvent) bool { return !e.At.IsZero() }); first >= 0 {
		at = r.Events[first].At
	}
	for i, e := range r.Events {
		if !e.At.IsZero() {
			at = e.At
		}
		r.Events[i].At = at
	}
}

// decodeEvent reads one line, which is not blank. A field that has another type than runr gives it is as if it were
// missing.
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
		Seq       int64           `json:"seq"`
		Payload   json.RawMessage `json:"payload"`
	}
	e := SourceEvent{raw: sha256.Sum256(line)}
	readable(line, &top)
	readable(line, &e.SourceFields)
	readable(top.Payload, &e.SourceFields)
	e.Type, e.Source, e.Seq = top.Type, top.Source, max(top.Seq, 0)
	if top.EventType != "" && !knownSource(e.Type) {
		e.Type = top.EventType
	}
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

// readable decodes data, which is JSON, into v as far as the types agree: encoding/json passes over a value of
// another type and goes on.
func readable(data []byte, v any) { _ = json.Unmarshal(data, v) }
