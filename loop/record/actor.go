package record

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
)

// maxActor is the longest name of an actor, in bytes.
const maxActor = 300

// CheckActor refuses a name by which nobody could be told from somebody else.
func CheckActor(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return &InputError{"an actor is wanted"}
	case len(name) > maxActor || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return &InputError{fmt.Sprintf("%q is no name of an actor", prose.Cut(name, maxActor))}
	}
	return nil
}

// SameActor reports whether two names are those of one actor: of people by address, whatever the terminal or page in
// parentheses behind it. An agent has no address, and its sessions are several actors.
func SameActor(a, b string) bool {
	if a == b {
		return true
	}
	email := func(actor string) string {
		if !strings.Contains(actor, "<") {
			return ""
		}
		return gitstore.ParseIdentity(actor).Email
	}
	return email(a) != "" && strings.EqualFold(email(a), email(b))
}

// Hold is by whom and for how long a review is claimed.
type Hold struct {
	Actor string
	Lease time.Duration // 0: until it is released
	Force bool          // although somebody else holds it
	Claim gitstore.ID   // the claim under which it is done, or its first digits; "": whichever stands
	Quiet bool          // of a resolution: no line in the notes, which say it already
	// Shared is of a claim: the remote decided it.
	Shared bool
}

// Payload is by of a claim, as its event has it.
func (by Hold) Payload() ActorPayload {
	return ActorPayload{Actor: by.Actor, Force: by.Force, Lease: duration.Duration(by.Lease), Claim: by.Claim, Shared: by.Shared}
}

// ActorPayload is the payload of claims, releases, resolutions and cancellations.
type ActorPayload struct {
	Actor  string            `json:"actor"`
	Force  bool              `json:"force,omitempty"`
	Note   string            `json:"note,omitempty"`
	Lease  duration.Duration `json:"lease_ms,omitzero"` // of a claim; 0: until it is released
	Commit gitstore.ID       `json:"commit,omitempty"`  // where the note of a resolution goes
	Claim  gitstore.ID       `json:"claim,omitempty"`   // the claim under which it is done, or its first digits
	Shared bool              `json:"shared,omitempty"`  // of a claim: the remote decided
	writer string            // the clone in which it is done
	tree   gitstore.ID       // of a submission of an agent: what it saw
	Quiet  bool              `json:"-"` // without a note
}

// Itself is the actor of what this program does to reviews by itself.
const Itself = "git-runr"

// Human names a person as reviewer or implementer: nothing is started.
const Human = "human"

// by is who does it, held says that a claim of somebody else's keeps them from it.
func (p ActorPayload) by() (who ActorPayload, held bool) { return p, true }
