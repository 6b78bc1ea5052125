package runrimport

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"git-runr/loop/internal/place"
	"git-runr/loop/internal/strictjson"
	"git-runr/loop/prose"
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

var planTypes = map[string]bool{sourceStarted: true, sourcePlan: true, sourceWorktree: true}

// quietTypes are runr's other events, which say nothing that a native run keeps.
var quietTypes = map[string]bool{
	"fresh_target": true, "preflight": true, "fast_path_skip": true, "worker_fallback": true, "late_worker_result_ignored": true,
	"ignored_changes": true, "checkpoint_complete": true, "checkpoint_sidecar_write_failed": true, "worker_stats": true, "auto_resume_scheduled": true,
	"auto_resume_result": true, "auto_resume_skipped": true, "auto_resume_exhausted": true, "auto_resume_loop_detected": true,
	"resume_checkpoint_selected": true, "milestone_index_corrected": true, "auto_stash_created": true, "worktree_recreated": true,
	"worktree_branch_mismatch": true, "node_modules_symlinked": true, "submit_validation_failed": true, "submit_conflict": true,
	"run_submitted": true, "front_door_shown": true, "continue_attempted": true, "continue_auto_fix_step": true, "continue_failed": true,
	"continue_success": true, "milestone_complete": true,
}

func knownSource(eventType string) bool {
	return planTypes[eventType] || quietTypes[eventType] || importHandlers[eventType] != nil
}

// ownRunTypes are the events whose payload names the run that they belong to.
var ownRunTypes = map[string]bool{"run_resumed": true, "run_submitted": true, "submit_validation_failed": true}

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
		for key, value := range inner {
			top[key] = value
		}
	}
	if e.run == "" && ownRunTypes[e.Type] {
		e.run = prose.Cut(prose.OneLine(top.text("run_id")), 100)
	}
	return e, nil
}

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
		if text = strings.Join(strings.Fields(text), " "); text != "" {
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
		if name = place.Clean(name); !seen[name] {
			seen[name] = true
			files = append(files, name)
		}
	}
	return files
}

// agent is who answered: the worker that the event names, else its source when that
// is no part of the other system itself.
func (e SourceEvent) agent(role string) string {
	name := e.fields.text("worker", "worker_type", "agent")
	if name == "" {
		name = e.Source
	}
	switch name = prose.Cut(prose.OneLine(name), 60); name {
	case "", "cli", "supervisor", "verifier", "worker", "resume", "submit":
		return role
	}
	return name
}
