package runrimport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
	"git-runr/loop/record"
)

// SourceEvent is one line of a timeline, in either of its envelopes:
// {seq, timestamp, type, source, payload}, or {type or event_type, timestamp,
// runId} with the fields in a payload or beside them.
type SourceEvent struct {
	Line   int
	Seq    int64     // from 1; 0 when the event has none
	At     time.Time // UTC; the zero Time when no event of the run has one
	Type   string
	Source string

	run    string // id of the run, where the event names it
	place  int64  // by which events are ordered
	raw    string // hash of the line
	fields sourceFields
}

// sourceFields are the fields of an event or of an object in one.
type sourceFields map[string]json.RawMessage

// Types of events that say what a run is.
const (
	sourceStarted  = "run_started"
	sourcePlan     = "plan_generated"
	sourceWorktree = "worktree_created"
)

var planTypes = prose.WordSet(sourceStarted + " " + sourcePlan + " " + sourceWorktree)

// mark names the run that begins with e.
func (e SourceEvent) mark() string { return "timeline-" + hex.EncodeToString([]byte(e.raw)[:6]) }

// text is the first of the fields that holds a string or a number; "" when none does.
func (f sourceFields) text(keys ...string) string {
	for _, key := range keys {
		raw := f[key]
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
		var n json.Number
		if json.Unmarshal(raw, &n) == nil && n != "" {
			return n.String()
		}
	}
	return ""
}

// prose is text as a person or an agent wrote it, or JSON for what is no string.
func (f sourceFields) prose(keys ...string) string {
	for _, key := range keys {
		if text := f.text(key); text != "" {
			return prose.Cut(text, maxSourceText)
		}
		if raw := f[key]; len(raw) > 0 && string(raw) != "null" && string(raw) != `""` {
			return prose.Cut(string(raw), maxSourceText)
		}
	}
	return ""
}

// maxSourceText is how much of one text is kept, in bytes.
const maxSourceText = 256 << 10

// number is a whole number from 1, as a number or in quotes; 0 for anything else.
func (f sourceFields) number(key string) int64 {
	n, err := strconv.ParseFloat(f.text(key), 64)
	if err != nil || n < 1 || n > 1<<53 || n != math.Trunc(n) {
		return 0
	}
	return int64(n)
}

// exit is a command's exit status; -1 for anything that is none.
func (f sourceFields) exit(keys ...string) int {
	n, err := strconv.Atoi(f.text(keys...))
	if err != nil || n < 0 || n > 1<<16 {
		return -1
	}
	return n
}

func (f sourceFields) truth(key string) (value, there bool) {
	there = json.Unmarshal(f[key], &value) == nil && len(f[key]) > 0
	return value, there
}

func (f sourceFields) duration(key string) time.Duration {
	return time.Duration(min(f.number(key), int64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
}

// time reads RFC 3339, or seconds or milliseconds since 1970. A time that cannot be
// that of a run is none.
func (f sourceFields) time(key string) time.Time {
	text := f.text(key)
	at, err := time.Parse(time.RFC3339, text)
	if n, numErr := strconv.ParseInt(text, 10, 64); err != nil && numErr == nil {
		if at, err = time.Unix(n, 0), nil; n > 1e11 {
			at = time.UnixMilli(n)
		}
	}
	if at = at.UTC(); err != nil || at.Year() < 2000 || at.Year() > 2099 {
		return time.Time{}
	}
	return at.Truncate(time.Millisecond)
}

// object is nil when the field is no object.
func (f sourceFields) object(key string) sourceFields {
	var inner sourceFields
	if json.Unmarshal(f[key], &inner) != nil {
		return nil
	}
	return inner
}

// maxSourceList is how many items of a list are read.
const maxSourceList = 500

func (f sourceFields) raws(key string) []json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(f[key], &items) != nil {
		return nil
	}
	return items[:min(len(items), maxSourceList)]
}

// objects are the items of a list that are objects.
func (f sourceFields) objects(key string) []sourceFields {
	var list []sourceFields
	for _, raw := range f.raws(key) {
		var inner sourceFields
		if json.Unmarshal(raw, &inner) == nil && inner != nil {
			list = append(list, inner)
		}
	}
	return list
}

// lines are the items of a list, each on one line; an item that is no string is
// its JSON. A string alone is a list of one.
func (f sourceFields) lines(key string) []string {
	var list []string
	raws := f.raws(key)
	if text := f.text(key); text != "" {
		raws = []json.RawMessage{f[key]}
	}
	for i := range raws {
		text := sourceFields{"": raws[i]}.prose("")
		if text = prose.OneRow(text); text != "" {
			list = append(list, prose.Cut(text, 4<<10))
		}
	}
	return list
}

// paths are the items of a list that name files inside a repository, each once.
func (f sourceFields) paths(key string) []string {
	files := []string{}
	seen := map[string]bool{}
	for _, raw := range f.raws(key) {
		var name string
		if json.Unmarshal(raw, &name) != nil || place.Unsafe(name) != "" {
			continue
		}
		if name = path.Clean(name); !seen[name] {
			seen[name] = true
			files = append(files, name)
		}
	}
	return files
}

// agent is who answered: the worker that the event names, else its source when that
// is no part of the other system itself.
func (e SourceEvent) agent(role string) string {
	name := cmp.Or(e.fields.text("worker", "worker_type", "agent"), e.Source)
	switch name = prose.Cut(prose.OneLine(name), 60); name {
	case "", "cli", "supervisor", "verifier", "worker", "resume", "submit":
		return role
	}
	return name
}

const sourceCheckpoint = "checkpoint_complete"

// SourceRun is one run of a timeline.
type SourceRun struct {
	ID      string        // as the other system calls it; "" when the timeline does not say
	Task    string        // text of its task, where the caller has it
	Events  []SourceEvent // by seq, else as they stood in the file
	Read    int           // events of the run in the file
	Skipped int           // of those, the ones of a type that is not known
	Mark    string        // a name made from how the run began, for one without an ID
	raws    []string      // hashes of its lines as they stood in the file
}

// digest names the first n lines of the run: "N:HASH".
func (r SourceRun) digest(n int) string {
	sum := sha256.Sum256([]byte(strings.Join(r.raws[:n], "")))
	return fmt.Sprintf("%d:%x", n, sum[:8])
}

// goesOn reports whether the timeline begins with the lines that digest names, or is
// itself too short to tell. "" is of no lines.
func (r SourceRun) goesOn(digest string) bool {
	count, _, _ := strings.Cut(digest, ":")
	n, err := strconv.Atoi(count)
	return err != nil || n < 0 || n > len(r.raws) || r.digest(n) == digest
}

// count is how many events of these types the run has.
func (r SourceRun) count(types ...string) int {
	n := 0
	for _, e := range r.Events {
		if slices.Contains(types, e.Type) {
			n++
		}
	}
	return n
}

// first reports whether e is how a run begins.
func (e SourceEvent) first() bool { return e.Seq == 1 || e.Seq == 0 && e.Type == sourceStarted }

// began is the time in the id of the native run: that of the other system's id, so
// that typing the latter finds the run; else when the run began; else now.
func (r SourceRun) began(now time.Time) time.Time {
	if at, err := time.Parse(record.IDTime, r.ID); err == nil {
		return at
	}
	return cmp.Or(r.at(0, now), now)
}

// at is the time of event i; now when the timeline has no times, or a clock that
// is far ahead.
func (r SourceRun) at(i int, now time.Time) time.Time {
	if i >= len(r.Events) {
		return now
	}
	if at := r.Events[i].At; !at.IsZero() && !at.After(now.AddDate(1, 0, 0)) {
		return at
	}
	return now
}

// milestones are those of the newest plan, as text for a prompt, and their goals.
func (r SourceRun) milestones() (text string, goals []string) {
	for _, e := range r.Events {
		if e.Type != sourcePlan {
			continue
		}
		var b strings.Builder
		goals = nil
		for i, m := range e.fields.objects("milestones") {
			goal := prose.Cut(prose.OneRow(m.text("goal")), 4<<10)
			goals = append(goals, goal)
			fmt.Fprintf(&b, "%d. %s\n", i+1, goal)
			writeItems(&b, "files", m.paths("files_expected"))
			writeItems(&b, "done when", m.lines("done_checks"))
		}
		text = prose.Cut(strings.TrimSpace(b.String()), maxSourceText)
	}
	return text, goals
}

func writeItems(b *strings.Builder, what string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "   %s: %s\n", what, strings.Join(items, "; "))
	}
}

// taskName is the task as run_started has it: the path of a file or a text.
func (r SourceRun) taskName() string {
	for _, e := range r.Events {
		if e.Type == sourceStarted {
			if name := strings.TrimSpace(e.fields.text("task", "task_path")); name != "" {
				return prose.Cut(name, maxSourceText)
			}
		}
	}
	return ""
}

func isTaskPath(name string) bool {
	ext := path.Ext(name)
	return len(name) < 1000 && !strings.Contains(name, "\n") && (ext == ".md" || ext == ".markdown" || ext == ".txt")
}

// checkpoints are the recorded ids of the run's commits, oldest first.
func (r SourceRun) checkpoints() []string {
	var shas []string
	for _, e := range r.Events {
		if sha := e.fields.text("commit"); e.Type == sourceCheckpoint && sha != "" && len(shas) < maxSourceList {
			shas = append(shas, sha)
		}
	}
	return shas
}

// requests are what the reviewer asked for, under either of its names there.
func (f sourceFields) requests() []string {
	if asked := f.lines("unmet_requests"); len(asked) > 0 {
		return asked
	}
	return f.lines("reviewer_requests")
}

func (f sourceFields) maxRounds() int {
	return int(min(max(f.number("max_review_rounds"), f.number("max_rounds")), 1<<20))
}
