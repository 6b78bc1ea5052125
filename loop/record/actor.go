package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// maxActor is the maximum length of an actor's name, in bytes.
const maxActor = 300

// CheckActor returns an *InputError for a name that is empty, too long or not printable text.
func CheckActor(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return &InputError{"an actor is required"}
	case len(name) > maxActor || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return &InputError{fmt.Sprintf("%q is not the name of an actor", prose.Cut(name, maxActor))}
	}
	return nil
}

// CheckNamed is CheckActor for a name that somebody gives: it may not be one in which this program speaks.
func CheckNamed(name string) error {
	if slices.Contains([]string{Itself, Builtin, Human}, strings.TrimSpace(name)) {
		return &InputError{fmt.Sprintf("nobody acts as %q: git-runr itself speaks in that name", name)}
	}
	return CheckActor(name)
}

// SameActor reports whether two names denote one actor. People are compared by address, whatever terminal or page
// follows it in parentheses. An agent has no address, so two sessions of one agent are two actors.
// All code that compares actors uses it.
func SameActor(a, b string) bool { return a == b || ActorKey(a) == ActorKey(b) }

// ActorKey returns the part that all names of one actor share: the address of a person in lower case, or the whole name
// if it has no address.
func ActorKey(actor string) string {
	return cmp.Or(strings.ToLower(gitstore.ParseIdentity(actor).Email), actor)
}

// ByAnother reports whether recorder, the identity that git gave an event, is not the person in whose name it speaks.
// Names without an address, such as those of agents, belong to nobody.
func ByAnother(actor, recorder string) bool {
	return gitstore.ParseIdentity(actor).Email != "" && !SameActor(actor, recorder)
}

// Hold describes who claims a review, or acts on a claimed one, and on what terms.
type Hold struct {
	Actor string
	Lease time.Duration // 0: until the claim is released
	Force bool          // act even if somebody else holds the review
	Claim gitstore.ID   // the claim to act under, or its first digits; "": any claim
	Quiet bool          // for a resolution: write no line to the notes, which already have one
	// Shared is for a claim: the remote has granted it.
	Shared bool
}

// Payload returns by as the payload of an event.
func (by Hold) Payload() ActorPayload {
	return ActorPayload{Actor: by.Actor, Force: by.Force, Lease: duration.Duration(by.Lease), Claim: by.Claim,
		Shared: by.Shared}
}

// ActorPayload is the payload of claims, releases, resolutions and cancellations.
type ActorPayload struct {
	Actor  string            `json:"actor"`
	Force  bool              `json:"force,omitempty"`
	Note   string            `json:"note,omitempty"`
	Lease  duration.Duration `json:"lease_ms,omitzero"` // for a claim; 0: until it is released
	Commit gitstore.ID       `json:"commit,omitempty"`  // the commit that gets the note of a resolution
	Claim  gitstore.ID       `json:"claim,omitempty"`   // the claim that the actor acts under, or its first digits
	Shared bool              `json:"shared,omitempty"`  // for a claim: the remote has granted it
	writer string            // the clone in which the event was written
	tree   gitstore.ID       // for an agent's submission: the tree that the agent saw
	fails  bool              // for an agent's submission: it asks for changes
	Quiet  bool              `json:"-"` // write no note
}

// Itself is the actor of changes that this program makes to reviews on its own.
const Itself = "git-runr"

// Human names a person as reviewer or implementer; no command is started for it.
const Human = "human"

// by returns the actor, and held reports whether another actor's claim prevents the event.
func (p ActorPayload) by() (who ActorPayload, held bool) { return p, true }

// Voice says how an event came to speak in the name of its actor. The fold fills it in.
type Voice struct {
	// Recorder is the identity that git gave the event, if it spoke in another person's name. Approvals always have it.
	Recorder string `json:"recorded_by,omitempty"`
	Writer   string `json:"writer,omitempty"` // of the log with the event; not for what an agent submits
	// LogOf is the identity that was the first to speak about the review in that log, if that is not Recorder or the
	// actor.
	LogOf string `json:"log_of,omitempty"`

	Unproven, Unsigned bool `json:"-"` // as in Event
}

// voice returns how an event of the review speaks in actor's name.
func (r Review) voice(e Event, actor string) Voice {
	v := Voice{Writer: e.Writer, Unproven: e.Unproven, Unsigned: e.Unsigned}
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
// in that log too: people and agents may share a clone. Where signatures count, only a good one takes back what was
// signed, also by a key that does not count any more.
func (v Voice) takesBack(earlier Voice, actor string) bool {
	return (!v.Unproven || earlier.Unsigned) && (!v.byAnother(actor) || earlier.byAnother(actor)) &&
		(v.LogOf == "" || earlier.Writer == "" || v.Writer == earlier.Writer)
}

// inOtherLog says why v, in the log of somebody else, does not take back what was said earlier.
func (v Voice) inOtherLog(earlier Voice) string {
	return fmt.Sprintf("the verdict is in the log of writer %.7s, and this one is the log of %s. Say it in that clone.",
		earlier.Writer, v.LogOf)
}

// Of returns actor, a person without the session, and what is known of who recorded it:
// "Bob <bob@x> (writer 7692df5)". Only the last part in parentheses comes from the log.
func (v Voice) Of(actor string) string { return known(actor, v.Beside(actor)) }

// named returns actor as typed and, if somebody else recorded it in that name, by whom and in which log.
func (v Voice) named(actor string) string {
	if !v.byAnother(actor) && (actor != Itself || v.Writer == "") {
		return actor
	}
	return v.Of(actor)
}

// known returns actor without the session, and in parentheses what is known beside the name.
func known(actor, beside string) string {
	name := Plain(actor)
	if end := strings.LastIndexByte(name, '>'); end >= 0 {
		name = name[:end+1]
	}
	if beside != "" {
		return fmt.Sprintf("%s (%s)", name, beside)
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

// Looked says who looked at a change. The built-in reviewer matches rules and reads no code, so a change in which it
// found nothing is "checked", never reviewed or passed.
type Looked string

const (
	LookedRules  Looked = "rules"
	LookedNames  Looked = "names"  // an agent that was shown no file, but names and sizes of files
	LookedAuthor Looked = "author" // a person who wrote the change
	LookedAgent  Looked = "agent"
	LookedPerson Looked = "person"
)

// Builtin names the reviewer that matches rules.
const Builtin = "builtin"

// lookedBy tells the kind of reviewer from its name, the format of its report and what it was shown. An agent that was
// shown no file read nothing: it judged names, modes and sizes, as rules do.
func lookedBy(reviewer string, report reply.Report, shown Census) Looked {
	switch {
	case report.Format == reply.FormatHuman:
		return LookedPerson
	case reviewer == Builtin:
		return LookedRules
	case shown.Files > 0 && shown.SentFiles+shown.SentLines == 0:
		return LookedNames
	}
	return LookedAgent
}

// Of returns the verdict v as l may give it: a pass by rules is only "checked".
func (l Looked) Of(v reply.Verdict) reply.Verdict {
	if l == LookedRules && v.Passed() {
		return reply.Checked
	}
	return v
}

// farther returns the one of l and than that says more.
func (l Looked) farther(than Looked) Looked {
	ranks := []Looked{"", LookedRules, LookedNames, LookedAuthor, LookedAgent, LookedPerson}
	return ranks[max(0, slices.Index(ranks, l), slices.Index(ranks, than))]
}

// read sets l from a recorded report and adjusts the report's verdicts to it.
func (l *Looked) read(reviewer string, r *reply.Report, shown Census) {
	*l = lookedBy(reviewer, *r, shown)
	r.Verdict, r.Effective = l.Of(r.Verdict), l.Of(r.Effective)
	r.Approved = r.Approved && *l != LookedRules
}

// Says describes a result for people: said, as Report.Says gives it, and by whom. For a check by rules it says that
// it reads no code.
func Says(by, said string, findings int) string {
	if said != string(reply.Checked) {
		return fmt.Sprintf("by %s: %s", by, said)
	}
	found := "nothing found"
	if findings > 0 {
		found = fmt.Sprintf("%d noted", findings)
	}
	return fmt.Sprintf("checked by %s: %s; it reads no code", by, found)
}
