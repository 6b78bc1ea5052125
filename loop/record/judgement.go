package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
)

// Judgement is what a judge, who has the code, rules on the findings of a panel.
type Judgement struct {
	By       string            `json:"by"`
	Rulings  []Ruling          `json:"rulings"`
	Commit   gitstore.ID       `json:"commit,omitempty"`
	Tree     gitstore.ID       `json:"tree,omitempty"` // the tree that the judge had
	Duration duration.Duration `json:"duration_ms,omitzero"`
	spend.Spent
	At time.Time `json:"at,omitzero"` // filled in by the fold
	// the event that records it and keeps the judge's words; filled in by the fold
	Event gitstore.ID `json:"event,omitempty"`
}

// Ruling is a judge's decision on one finding.
type Ruling struct {
	Finding string     `json:"finding"`
	Kind    RulingKind `json:"ruling"`
	Reason  string     `json:"reason,omitempty"`
}

// RulingKind is a judge's or verifier's decision on a finding.
type RulingKind string

const (
	Confirmed RulingKind = "confirmed"
	Refuted   RulingKind = "refuted" // the finding is answered as refuted and does not count for the verdict
	Fixed     RulingKind = "fixed"   // from a verification
	StillOpen RulingKind = "open"    // from a verification
	Unsaid    RulingKind = "unsaid"  // no readable ruling: the finding counts as before
)

// JudgeTurn returns the name under which a review waits for the judge called name. It cannot clash with an agent's
// name, which has no colon.
func JudgeTurn(name string) string { return judgeMark + name }

const judgeMark = "judge:"

// AgentOf returns the agent's name of a turn, and whether the turn is the judge's.
func AgentOf(turn string) (name string, judge bool) { return strings.CutPrefix(turn, judgeMark) }

// IsAgent reports whether name is an agent's: neither "human" nor empty.
func IsAgent(name string) bool { return name != Human && name != "" }

// Count counts the rulings by kind: "1 refuted, 2 confirmed".
func (j Judgement) Count() string { return countRulings(j.Rulings) }

func countRulings(rulings []Ruling) string {
	var parts []string
	for _, kind := range []RulingKind{Refuted, Confirmed, Fixed, StillOpen, Unsaid} {
		n := each.Count(rulings, func(r Ruling) bool { return r.Kind == kind })
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

// Verification is an agent's decision about open findings: whether the present code still has them.
// The answers that follow from it are separate events.
type Verification struct {
	By      string      `json:"by"`
	Commit  gitstore.ID `json:"commit"` // the commit that the agent had
	Rulings []Ruling    `json:"rulings,omitempty"`
	Failure *Failure    `json:"failure,omitempty"` // why there is no decision
	spend.Spent
	At time.Time `json:"at,omitzero"` // filled in by the fold
	// the event that records it and keeps the agent's words; filled in by the fold
	Event gitstore.ID `json:"event,omitempty"`
	// an author of the change recorded it; filled in by the fold
	AuthorRan bool `json:"author_ran,omitempty"`
	Unproven  bool `json:"-"` // as in Event
}

func (v Verification) by() (who ActorPayload, held bool) { return ActorPayload{Actor: v.By}, false }

func (v Verification) took(Event) (string, spend.Spent) { return v.By, v.Spent }

// String returns "judge: 1 fixed, 2 open", or the failure.
func (v Verification) String() string {
	text := countRulings(v.Rulings)
	if v.Failure != nil {
		text = v.Failure.Reason + afterColon(v.Failure.Detail)
	}
	return prose.OneLine(v.Spent.By(v.By)) + ": " + text
}
