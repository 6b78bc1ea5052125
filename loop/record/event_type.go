package record

import (
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/spend"
)

// eventNotes are what events say on commits, by the names of their types.
var eventNotes = map[string]func(Event) (gitstore.ID, string){}

// newEventType is a type of events with what its note says, nil for nothing. A type
// without a fold would be lost by every clone: a fault of the tables, found at the start.
func newEventType[P any](name string, unfolded bool, note func(Event, P) (gitstore.ID, string)) EventType[P] {
	t := EventType[P]{name}
	if unfolded {
		panic("record: no fold for " + name)
	}
	var empty P
	if _, spends := any(empty).(spender); spends {
		eventSpent[name] = func(e Event) (string, spend.Spent) {
			p, _ := t.Payload(e) // of one that cannot be read nothing is known
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

// NoteOf is the commit that an event speaks of and what the note says of the event
// itself, one or more lines; no commit when the event is not for notes.
func NoteOf(e Event) (gitstore.ID, string) {
	if note := eventNotes[e.Type]; note != nil {
		return note(e)
	}
	return "", ""
}
