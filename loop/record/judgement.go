package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/spend"
)

// Judgement is what a judge says of what a panel found, with the code at hand.
type Judgement struct {
	By       string            `json:"by"`
	Rulings  []Ruling          `json:"rulings"`
	Commit   gitstore.ID       `json:"commit,omitempty"`
	Tree     gitstore.ID       `json:"tree,omitempty"` // that it had
	Duration duration.Duration `json:"duration_ms,omitzero"`
	spend.Spent
	At    time.Time   `json:"at,omitzero"`     // filled in by the fold
	Event gitstore.ID `json:"event,omitempty"` // that records it and keeps its words; filled in by the fold
}

// Ruling is what a judge says of one finding.
type Ruling struct {
	Finding string     `json:"finding"`
	Kind    RulingKind `json:"ruling"`
	Reason  string     `json:"reason,omitempty"`
}

// RulingKind is how a finding fared before the judge.
type RulingKind string

const (
	Confirmed RulingKind = "confirmed"
	Refuted   RulingKind = "refuted" // it is answered so, and does not count for the verdict
	Fixed     RulingKind = "fixed"   // of a verification
	StillOpen RulingKind = "open"    // of a verification
	Unsaid    RulingKind = "unsaid"  // nothing is said of it that can be read: it stands
)

// JudgeTurn names the turn of the judge called name among those that a review waits for. No
// agent's name has a colon.
func JudgeTurn(name string) string { return judgeMark + name }

const judgeMark = "judge:"

// AgentOf is the agent whose turn is called so, and whether it is to judge.
func AgentOf(turn string) (name string, judge bool) { return strings.CutPrefix(turn, judgeMark) }

// IsAgent reports whether a reviewer of that name is an agent: neither a person nor nobody.
func IsAgent(name string) bool { return name != Human && name != "" }

// Count counts rulings: "1 refuted, 2 confirmed".
func (j Judgement) Count() string { return countRulings(j.Rulings) }

func countRulings(rulings []Ruling) string {
	var parts []string
	for _, kind := range []RulingKind{Refuted, Confirmed, Fixed, StillOpen, Unsaid} {
		n := 0
		for _, r := range rulings {
			if r.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return strings.Join(parts, ", ")
}

func (j Judgement) by() (who ActorPayload, held bool) { return ActorPayload{Actor: j.By}, false }

func judgementNote(e Event, j Judgement) (gitstore.ID, string) {
	var refuted []string
	for _, r := range j.Rulings {
		if r.Kind == Refuted {
			refuted = append(refuted, r.Finding+": "+r.Reason)
		}
	}
	return j.Commit, fmt.Sprintf("review %s judged by %s: %s%s", e.Review, j.By, j.Count(), listNote(refuted))
}

func (j Judgement) took(Event) (string, spend.Spent) { return j.By, j.Spent }
