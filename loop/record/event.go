package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// FormatVersion is the version of the event envelope that this program writes.
const FormatVersion = 1

// Limits of the Lamport clock, so that one log with an absurd clock cannot exhaust the clock of all.
const (
	MaxClock  = 1<<53 - 1 // the largest integer that every JSON reader keeps exactly; the clock does not grow beyond it
	MaxAhead  = 1 << 41   // how far ahead of all others a clock may be; older programs stay within
	LateClock = 1 << 40   // beyond it older programs gave all events one clock, so time orders equal clocks
)

// EventType is a kind of event: its name in a log, and the type P of its payload. runEventType and
// reviewEventType make event types, together with their folds and notes. Events of an unknown type are kept,
// passed on and skipped by the folds.
type EventType[P any] struct{ Name string }

// New returns an event of this type to record, with a title for people.
func (t EventType[P]) New(source, title string, payload P) NewEvent {
	return NewEvent{Type: t.Name, Source: source, Title: title, Payload: payload}
}

// Payload decodes the payload of e, an event of this type. For struct{} it does not look at the payload.
func (t EventType[P]) Payload(e Event) (P, error) {
	var p P
	if _, empty := any(p).(struct{}); empty {
		return p, nil
	}
	p, err := payloadOf[P](e)
	if read, ok := any(&p).(interface{ afterRead(Event) }); ok && err == nil {
		read.afterRead(e)
	}
	return p, err
}

// Event is one immutable record: the JSON in a log's commit, and what the commit itself says. Timestamps are UTC,
// in milliseconds.
type Event struct {
	V         int             `json:"v"`
	Clock     uint64          `json:"clock"` // Lamport clock: one more than the highest that the writer had seen
	Writer    string          `json:"writer"`
	Timestamp time.Time       `json:"timestamp"`
	Type      string          `json:"type"`
	Source    string          `json:"source"` // cli, hook, worker, runner, or an agent's name
	Run       string          `json:"run,omitempty"`
	Review    string          `json:"review,omitempty"`
	Payload   json.RawMessage `json:"payload"`

	ID    gitstore.ID `json:"-"` // the commit's id
	Actor string      `json:"-"` // the commit's author, "Name <email>"
	Title string      `json:"-"` // the commit's subject
	Plain bool        `json:"-"` // the JSON was decoded and all its keys are plain: see strictjson.ScanKeys
	// if Clock is beyond LateClock: its time in ms, and more than Late of the previous event in its log; else 0
	Late int64 `json:"-"`
	// Unproven says that Actor did not sign the event with a key that counts, and Unsigned that nobody signed it. They are
	// set only where signatures count: see Voice.takesBack.
	Unproven, Unsigned bool `json:"-"`
}

// Compare orders events the same way in every clone: by clock, then writer, then commit. Beyond LateClock, where
// clocks can be equal in one log, time comes before the writer.
func (e Event) Compare(o Event) int {
	return cmp.Or(cmp.Compare(e.Clock, o.Clock), cmp.Compare(e.Late, o.Late), cmp.Compare(e.Writer, o.Writer),
		cmp.Compare(e.ID, o.ID))
}

// CommitText returns the commit message of e: a subject for people, the event as JSON, and trailers that
// stock git can search.
func (e Event) CommitText(status string) (string, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", e.Type, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\nRunr-Type: %s\n", prose.OneLine(e.Title), body, e.Type)
	for _, trailer := range [][2]string{{"Run", e.Run}, {"Review", e.Review}, {"Status", status}} {
		if trailer[1] != "" {
			fmt.Fprintf(&b, "Runr-%s: %s\n", trailer[0], trailer[1])
		}
	}
	return b.String(), nil
}

// DecodeEvent decodes the event in a log entry. It is strict: a duplicate or case-variant key, invalid UTF-8,
// trailing bytes or a value out of range make this event an error. For a newer format the error is
// gitstore.ErrNewerFormat and names both versions.
func DecodeEvent(entry gitstore.Entry) (Event, error) {
	title, rest, _ := strings.Cut(entry.Message, "\n\n")
	body, _, _ := strings.Cut(rest, "\n")
	// cloned, so that the rest of the message is not kept in memory
	event := Event{ID: entry.ID, Actor: entry.Author.String(), Title: strings.Clone(title)}
	if body == "" {
		return event, fmt.Errorf("read event %s: the message of the commit is not an event", entry.ID.Short())
	}
	err := event.decode(body)
	if err == nil {
		err = event.check(entry.Writer)
		event.retitle()
	}
	if err != nil {
		return event, fmt.Errorf("read event %s: %w", entry.ID.Short(), err)
	}
	return event, nil
}

// envelope lists the keys of an event's JSON.
var envelope = []string{"v", "clock", "writer", "timestamp", "type", "source", "run", "review", "payload"}

// decode fills in e from its JSON, as strictjson.Decode would, in one pass.
func (e *Event) decode(body string) error {
	var odd error
	plain, err := strictjson.ScanKeys(body, func(key, value string) {
		if odd == nil {
			odd = e.set(key, value)
		}
	})
	e.Plain = plain
	if err == nil && odd == nil && body[0] != '{' {
		err = json.Unmarshal([]byte(body), &struct{}{})
	}
	return cmp.Or(err, odd)
}

// set decodes one field of the event's JSON.
func (e *Event) set(key, value string) (err error) {
	switch key {
	case "v":
		return setNumber(&e.V, value, strconv.Atoi)
	case "clock":
		return setNumber(&e.Clock, value, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
	case "writer":
		return setText(&e.Writer, value)
	case "timestamp":
		return e.Timestamp.UnmarshalJSON([]byte(value))
	case "type":
		return setText(&e.Type, value)
	case "source":
		return setText(&e.Source, value)
	case "run":
		return setText(&e.Run, value)
	case "review":
		return setText(&e.Review, value)
	case "payload":
		e.Payload = json.RawMessage(value)
		return nil
	}
	return strictjson.OddKey(key, envelope)
}

// setNumber and setText decode as encoding/json does, and call it for the rare cases: null, another kind of value,
// escapes.
func setNumber[T int | uint64](to *T, value string, parse func(string) (T, error)) error {
	n, err := parse(value)
	if err != nil {
		return json.Unmarshal([]byte(value), to)
	}
	*to = n
	return nil
}

func setText(to *string, value string) error {
	if value[0] != '"' || strings.IndexByte(value, '\\') >= 0 {
		return json.Unmarshal([]byte(value), to)
	}
	*to = strings.Clone(value[1 : len(value)-1])
	return nil
}

func (e Event) check(writer string) error {
	switch {
	case e.V > FormatVersion:
		return fmt.Errorf("%w: format %d, this program reads up to %d", gitstore.ErrNewerFormat, e.V, FormatVersion)
	case e.V < 1:
		return fmt.Errorf("format %d", e.V)
	case e.Clock == 0 || e.Clock > MaxClock:
		return fmt.Errorf("clock %d out of range", e.Clock)
	case writer != "" && e.Writer != writer:
		return fmt.Errorf("in the log of %q but written by %q", writer, e.Writer)
	case e.Type == "" || e.Timestamp.IsZero():
		return fmt.Errorf("type or timestamp missing")
	case e.Run != "" && !ValidID(e.Run) || e.Review != "" && !ValidID(e.Review):
		return fmt.Errorf("malformed run or review id")
	}
	return nil
}

// IsEntry reports whether entry is an event of the log of entry.Writer; gitstore recognizes logs by it.
func IsEntry(entry gitstore.Entry) bool {
	event, err := DecodeEvent(entry)
	return event.Writer == entry.Writer && (err == nil || errors.Is(err, gitstore.ErrNewerFormat))
}

// payloadOf decodes e's payload into T. It ignores unknown fields, which newer programs may write.
func payloadOf[T any](e Event) (T, error) {
	var p T
	decode := strictjson.Decode
	if e.Plain && len(e.Payload) > 0 { // its keys were checked when the event was decoded
		decode = json.Unmarshal
	}
	if err := decode(e.Payload, &p); err != nil {
		return p, fmt.Errorf("payload of %s: %w", e.Type, err)
	}
	return p, nil
}

// Sort sorts events into the order that is the same in every clone.
func Sort(events []Event) { slices.SortFunc(events, Event.Compare) }

// NewEvent is an event that has no clock yet.
type NewEvent struct {
	Type, Source, Run, Review string
	Title                     string
	// returns the status of the run or review after the event, for the trailer
	Status      func(Event) string
	Payload     any
	Attachments map[string][]byte // slash path → content
	At          time.Time         // when it happened; the zero Time means when it is recorded
}

// Attach returns the event with text attached as a file at path. An empty text attaches nothing.
func (d NewEvent) Attach(path, text string) NewEvent {
	if text == "" {
		return d
	}
	d.Attachments = maps.Clone(d.Attachments)
	if d.Attachments == nil {
		d.Attachments = map[string][]byte{}
	}
	d.Attachments[path] = []byte(text)
	return d
}

// Headline returns the title, which the writer of the log chose, behind the type, which says what happened.
func (e Event) Headline() string { return e.Type + ": " + strings.TrimPrefix(e.Title, e.Type+": ") }

// retitle changes "pass" to "checked" in a title that an older program wrote for the built-in reviewer.
func (e *Event) retitle() {
	if e.Source != Builtin {
		return
	}
	for _, verdict := range []reply.Verdict{reply.Pass, reply.PassWithNotes} {
		e.Title = strings.Replace(e.Title, " "+string(verdict)+" by "+Builtin, " "+string(reply.Checked)+" by "+Builtin, 1)
	}
}

// eventNotes maps the names of event types to the functions that write their notes.
var eventNotes = map[string]func(Event) (gitstore.ID, string){}

// eventSpent maps the names of event types to functions that return the agent and the usage of its calls.
var eventSpent = map[string]func(Event) (agent string, spent spend.Spent){}

// spender is the payload of an event that records calls of an agent.
type spender interface {
	took(Event) (agent string, spent spend.Spent)
}

// SpentOn returns the agent that e records calls of, and their usage.
func SpentOn(e Event) (agent string, spent spend.Spent) {
	if of := eventSpent[e.Type]; of != nil {
		return of(e)
	}
	return "", spend.Spent{}
}

// newEventType returns an event type whose note is written by note, or has none if note is nil. It panics at
// program start for a type without a fold, whose events every clone would lose.
func newEventType[P any](name string, unfolded bool, note func(Event, P) (gitstore.ID, string)) EventType[P] {
	t := EventType[P]{name}
	if unfolded {
		panic("record: no fold for " + name)
	}
	var empty P
	if _, spends := any(empty).(spender); spends {
		eventSpent[name] = func(e Event) (string, spend.Spent) {
			p, _ := t.Payload(e) // the zero payload if it cannot be decoded
			return any(p).(spender).took(e)
		}
	}
	if note != nil {
		eventNotes[name] = func(e Event) (gitstore.ID, string) {
			p, err := t.Payload(e)
			if err != nil {
				return "", ""
			}
			return note(e, p)
		}
	}
	return t
}

// NoteOf returns the commit that gets a note about e and the note's text, one or more lines. The commit is "" if
// the event has no note.
func NoteOf(e Event) (gitstore.ID, string) {
	if note := eventNotes[e.Type]; note != nil {
		return note(e)
	}
	return "", ""
}

// SubmissionTitle summarizes a submission for the subject of its event.
func SubmissionTitle(sub Submission) string {
	sub.asComment() // as in the fold, so that the title counts what show counts
	if sub.Outcome == OutcomeNothing {
		return sub.Census.NothingSaid()
	}
	if sub.Decision != "" {
		return fmt.Sprintf("%s by %s, %s", sub.Decision, sub.Reviewer, prose.Count(len(sub.Comments), "comment")) +
			afterComma(sub.Limits)
	}
	sub.Report.Effective = lookedBy(sub.Reviewer, sub.Report, sub.Census).Of(sub.Report.Effective)
	return fmt.Sprintf("%s by %s, %s", sub.Report.Says(), sub.By(sub.Reviewer), sub.Report.Gist()) +
		afterComma(sub.Limits)
}

// SaysPass reports whether e completes a run and its title calls the result a pass. Older programs wrote that even if
// only rules had looked, or if the reviewer had asked for changes, which the event itself does not show.
func (e Event) SaysPass() bool {
	return e.Type == EventRunCompleted.Name && strings.HasSuffix(e.Title, ": "+ResultPass)
}

// WithResult returns e with the actual result of its run in the title. SaysPass must be true of e.
func (e Event) WithResult(result string) Event {
	e.Title = strings.TrimSuffix(e.Title, ResultPass) + result
	return e
}
