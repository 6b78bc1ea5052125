package record

import (
	"fmt"
	"strings"
)

// Voice says how an event came to speak in the name of its actor. The fold fills it in.
type Voice struct {
	// Recorder is the identity that git gave the event, if it spoke in another person's name. Approvals always have it.
	Recorder string `json:"recorded_by,omitempty"`
	Writer   string `json:"writer,omitempty"` // of the log with the event; not for what an agent submits
	// LogOf is the identity that was the first to speak about the review in that log, if that is not Recorder or the
	// actor.
	LogOf string `json:"log_of,omitempty"`
}

// voice returns how an event of the review speaks in actor's name.
func (r Review) voice(e Event, actor string) Voice {
	v := Voice{Writer: e.Writer}
	if ByAnother(actor, e.Actor) {
		v.Recorder = e.Actor
	}
	if first := r.Logs[e.Writer]; first != "" && ByAnother(first, e.Actor) {
		v.LogOf = first
	}
	return v
}

// VoiceIn returns the voice of user's next event in actor's name, in the log of writer.
func (r Review) VoiceIn(writer, actor, user string) Voice {
	return r.voice(Event{Actor: user, Writer: writer}, actor)
}

// byAnother reports whether somebody else recorded it in actor's name.
func (v Voice) byAnother(actor string) bool { return v.Recorder != "" && ByAnother(actor, v.Recorder) }

// takesBack reports whether v may withdraw or confirm what was said earlier in the same actor's name. Nobody else does
// that for a person who spoke in person, and nobody does it in the log of somebody else, unless the earlier event is
// in that log too: people and agents may share a clone.
func (v Voice) takesBack(earlier Voice, actor string) bool {
	return (!v.byAnother(actor) || earlier.byAnother(actor)) &&
		(v.LogOf == "" || earlier.Writer == "" || v.Writer == earlier.Writer)
}

// inOtherLog says why v, in the log of somebody else, does not take back what was said earlier.
func (v Voice) inOtherLog(earlier Voice) string {
	return fmt.Sprintf("the verdict is in the log of writer %.7s, and this one is the log of %s. Say it in that clone.",
		earlier.Writer, v.LogOf)
}

// Of returns actor, a person without the session, and what is known of who recorded it:
// "Bob <bob@x> (writer 7692df5)". Only the last part in parentheses comes from the log.
func (v Voice) Of(actor string) string {
	name := Plain(actor)
	if end := strings.LastIndexByte(name, '>'); end >= 0 {
		name = name[:end+1]
	}
	if said := v.Beside(actor); said != "" {
		return fmt.Sprintf("%s (%s)", name, said)
	}
	return name
}

// Beside returns what is known of who recorded something in actor's name: "writer 7692df5".
func (v Voice) Beside(actor string) string {
	var said []string
	if v.byAnother(actor) {
		said = append(said, "recorded by "+v.Recorder)
	}
	if v.Writer != "" {
		said = append(said, fmt.Sprintf("writer %.7s", v.Writer))
	}
	if v.LogOf != "" {
		said = append(said, "the log of "+v.LogOf)
	}
	return strings.Join(said, ", ")
}

// Plain returns an actor without the brackets that make a part of the name look like an address.
func Plain(actor string) string {
	at := max(0, strings.LastIndexByte(actor, '<'))
	return strings.NewReplacer("<", "", ">", "").Replace(actor[:at]) + actor[at:]
}
