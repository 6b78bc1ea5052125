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
	Quiet  bool              `json:"-"` // write no note
}

// Itself is the actor of changes that this program makes to reviews on its own.
const Itself = "git-runr"

// Human names a person as reviewer or implementer; no command is started for it.
const Human = "human"

// by returns the actor, and held reports whether another actor's claim prevents the event.
func (p ActorPayload) by() (who ActorPayload, held bool) { return p, true }
