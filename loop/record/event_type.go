package record

import (
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/spend"
)

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
