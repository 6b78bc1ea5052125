package runrimport

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"git-runr/loop/internal/strictjson"
	"git-runr/loop/prose"
)

// Limits of a timeline that is read. Real ones are far below.
const (
	maxTimelineBytes  = 64 << 20
	maxTimelineLine   = 4 << 20
	maxTimelineEvents = 100_000
	maxTimelineRuns   = 100
	maxRunActivity    = 2_000 // events of one run that become native ones
	lineWarnings      = 20    // lines that are named one by one
)

// ErrNoTimeline is a file in which nothing was an event.
var ErrNoTimeline = errors.New("no event of a timeline in it")

// Timeline is what another system recorded of its runs: runr's timeline.jsonl.
type Timeline struct {
	Runs     []SourceRun
	Warnings []string // one line each, for people
}

// Read reads a timeline, one JSON object a line. What cannot be read is
// left out and warned of by the number of its line. It is ErrNoTimeline, with the
// first reason, when nothing could be read, and otherwise only an error of r.
func Read(r io.Reader) (Timeline, error) {
	reader := timelineReader{in: bufio.NewReaderSize(io.LimitReader(r, maxTimelineBytes+1), 64<<10)}
	events, err := reader.events()
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	}
	if len(events) == 0 {
		why := cmp.Or(reader.firstBad, "it is empty")
		return Timeline{}, fmt.Errorf("%w: %s", ErrNoTimeline, why)
	}
	timeline := Timeline{Runs: groupRuns(events), Warnings: reader.warnings}
	if reader.bad > lineWarnings {
		timeline.warn("%s more could not be read", prose.Count(reader.bad-lineWarnings, "line"))
	}
	if more := len(timeline.Runs) - maxTimelineRuns; more > 0 {
		timeline.Runs = timeline.Runs[:maxTimelineRuns]
		timeline.warn("only the first %d runs were read, not %d more", maxTimelineRuns, more)
	}
	timeline.finish()
	return timeline, nil
}

func (t *Timeline) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, prose.OneLine(fmt.Sprintf(format, args...)))
}

// finish orders the runs' events and says once which types are not known.
func (t *Timeline) finish() {
	unknown := map[string]int{}
	for i := range t.Runs {
		run := &t.Runs[i]
		run.Mark = run.Events[0].mark()
		run.sort()
		run.Read = len(run.Events)
		for at, e := range run.Events {
			if !knownSource(e.Type) {
				unknown[e.Type]++
				run.Skipped++
				run.Events[at].fields = nil // its time still says that something went on
			}
		}
		if left := run.trim(); left > 0 {
			t.warn("a run of %d events keeps its newest: %d were left out", run.Read, left)
		}
	}
	if len(unknown) > 0 {
		t.warn("left out, for their type is not known: %s", listTypes(unknown))
	}
}

// listTypes names at most ten types and how often each was there.
func listTypes(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if len(parts) == 10 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", prose.Cut(name, 40), counts[name]))
	}
	return strings.Join(parts, ", ")
}

// trim drops the oldest of too many events, but none that says what the run is.
// It returns how many it dropped.
func (r *SourceRun) trim() int {
	extra := -maxRunActivity
	for _, e := range r.Events {
		if !planTypes.Has(e.Type) {
			extra++
		}
	}
	dropped := 0
	r.Events = slices.DeleteFunc(r.Events, func(e SourceEvent) bool {
		drop := dropped < extra && !planTypes.Has(e.Type)
		if drop {
			dropped++
		}
		return drop
	})
	return dropped
}

// sort orders the events by seq. One without stays behind the one that it follows
// in the file. The same line twice is one event; two events with one seq are two,
// for the other system counts without a lock.
func (r *SourceRun) sort() {
	seq := int64(0)
	for i := range r.Events {
		if r.Events[i].Seq > 0 {
			seq = r.Events[i].Seq
		}
		r.Events[i].place = seq
	}
	slices.SortStableFunc(r.Events, func(a, b SourceEvent) int { return cmp.Compare(a.place, b.place) })
	seen := map[string]bool{}
	r.Events = slices.DeleteFunc(r.Events, func(e SourceEvent) bool {
		if e.Seq == 0 {
			return false
		}
		again := seen[e.raw]
		seen[e.raw] = true
		return again
	})
	fillTimes(r.Events)
}

// fillTimes gives an event without a time that of the one before it, and those at
// the beginning the first that is known.
func fillTimes(events []SourceEvent) {
	var at time.Time
	for _, e := range slices.Backward(events) {
		if !e.At.IsZero() {
			at = e.At
		}
	}
	for i := range events {
		if events[i].At.IsZero() {
			events[i].At = at
		}
		at = events[i].At
	}
}

// groupRuns divides events by run. An event that names none belongs to the run of
// the event before it, unless it is another first event: then files were joined.
func groupRuns(events []SourceEvent) []SourceRun {
	var runs []SourceRun
	named := map[string]int{}
	current := -1
	var seen map[string]bool // lines of the current run
	begin := func(id string) {
		runs = append(runs, SourceRun{ID: id})
		current, seen = len(runs)-1, map[string]bool{}
		if id != "" {
			named[id] = current
		}
	}
	for i, e := range events {
		at, known := named[e.run]
		switch {
		case e.run == "" && (current < 0 || runs[current].beginsAgain(e) || seen[e.raw] && e.first() && newLines(events[i+1:], seen)):
			begin("")
		case e.run == "":
		case known:
			current = at
		case current >= 0 && runs[current].ID == "":
			runs[current].ID = e.run
			named[e.run] = current
		default:
			begin(e.run)
		}
		runs[current].Events = append(runs[current].Events, e)
		runs[current].raws = append(runs[current].raws, e.raw)
		seen[e.raw] = true
	}
	return runs
}

// newLines reports whether events, up to where the next run begins, say something that
// is not in seen: then the line before them, which stands twice, begins another run.
func newLines(events []SourceEvent, seen map[string]bool) bool {
	for _, e := range events {
		if e.run != "" || e.first() {
			return false
		}
		if !seen[e.raw] {
			return true
		}
	}
	return false
}

// beginsAgain reports whether e is the first event of another run than f.
func (r *SourceRun) beginsAgain(e SourceEvent) bool {
	return e.first() && slices.ContainsFunc(r.Events, func(o SourceEvent) bool {
		return o.run == "" && o.Seq == e.Seq && (e.Seq == 1 || o.Type == e.Type) && o.raw != e.raw
	})
}

// timelineReader reads lines and keeps what is wrong with them.
type timelineReader struct {
	in       *bufio.Reader
	line     int
	bytes    int
	bad      int
	firstBad string
	warnings []string
}

func (r *timelineReader) refuse(format string, args ...any) {
	why := prose.OneLine(fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...))
	if r.bad++; r.bad == 1 {
		r.firstBad = why
	}
	if r.bad <= lineWarnings {
		r.warnings = append(r.warnings, why)
	}
}

func (r *timelineReader) events() ([]SourceEvent, error) {
	var events []SourceEvent
	for {
		line, whole, err := r.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if r.bytes > maxTimelineBytes {
			r.warnings = append(r.warnings, fmt.Sprintf("only the first %d MiB were read", maxTimelineBytes>>20))
			return events, nil
		}
		if line = bytes.TrimSpace(line); !whole {
			r.refuse("longer than %d MiB", maxTimelineLine>>20)
		} else if len(line) > 0 {
			event, bad := decodeSource(line)
			if event.Line = r.line; bad != nil {
				r.refuse("%v", bad)
			} else {
				events = append(events, event)
			}
		}
		if err != nil {
			return events, nil
		}
		if len(events) == maxTimelineEvents {
			r.warnings = append(r.warnings, fmt.Sprintf("only the first %d events were read", maxTimelineEvents))
			return events, nil
		}
	}
}

// next reads one line; of one that is too long it keeps nothing. The error is
// io.EOF with the last line.
func (r *timelineReader) next() (line []byte, whole bool, err error) {
	r.line++
	whole = true
	for {
		part, err := r.in.ReadSlice('\n')
		r.bytes += len(part)
		if len(line)+len(part) > maxTimelineLine {
			line, whole = nil, false
		}
		if whole {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if r.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		return line, whole, err
	}
}

// ownRunTypes are the events whose payload names the run that they belong to.
var ownRunTypes = prose.WordSet(`run_resumed run_submitted submit_validation_failed`)

// decodeSource reads one line, which is not blank.
func decodeSource(line []byte) (SourceEvent, error) {
	if line[0] != '{' {
		return SourceEvent{}, errors.New("not a JSON object")
	}
	var top sourceFields
	if err := strictjson.Decode(line, &top); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return SourceEvent{}, errors.New("cut off")
	} else if err != nil {
		return SourceEvent{}, err
	}
	sum := sha256.Sum256(line)
	e := SourceEvent{
		Type: top.text("type"), Source: top.text("source"), Seq: top.number("seq"), At: top.time("timestamp"),
		run: prose.Cut(prose.OneLine(top.text("runId", "run_id")), 100), raw: string(sum[:]), fields: top,
	}
	if other := top.text("event_type"); other != "" && !knownSource(e.Type) {
		e.Type = other
	}
	if e.Type == "" {
		return e, errors.New("no type")
	}
	for _, key := range []string{"seq", "timestamp", "type", "event_type", "source", "correlation_id", "runId", "run_id"} {
		delete(top, key)
	}
	if inner := top.object("payload"); inner != nil {
		delete(top, "payload")
		maps.Copy(top, inner)
	}
	if e.run == "" && ownRunTypes.Has(e.Type) {
		e.run = prose.Cut(prose.OneLine(top.text("run_id")), 100)
	}
	return e, nil
}
