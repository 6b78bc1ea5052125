package record

import (
	"fmt"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Failure is why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason   string    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Reviewer string    `json:"reviewer,omitempty"` // of a review: who it was
	Writer   string    `json:"writer,omitempty"`   // of a review: the clone in which it failed; filled in by the fold
	At       time.Time `json:"at,omitzero"`
	// LastActivity is when an agent last wrote something, where that is known.
	LastActivity time.Time        `json:"last_activity_at,omitzero"`
	Setting      *runplan.Setting `json:"setting,omitempty"` // the limit that ended it
	Reached      spend.Usage      `json:"reached,omitzero"`  // what was spent, where Setting bounds that
	// Transient says that the same may well work later: a rate limit, a broken connection.
	Transient bool `json:"transient,omitempty"`
	// RetryAfter is how long the provider wants to be left alone, by its own words.
	RetryAfter  duration.Duration `json:"retry_after_ms,omitzero"`
	Tries       int               `json:"tries,omitempty"`   // of a review: how often in a row
	RetryAt     time.Time         `json:"retry_at,omitzero"` // of a review: when it is tried again by itself
	Try         string            `json:"try,omitempty"`     // a command that may mend it
	Undo        []string          `json:"undo,omitempty"`    // commands that put back what the agent changed outside of its work
	spend.Spent                   // of a review: what it cost all the same
}

// Retry is what happens after a reviewer gave no answer.
type Retry struct {
	What     string   // when it is asked again
	Commands []string // what to type then, in order
}

// Next says what happens after a reviewer gave no answer, and what to type.
func (f Failure) Next() Retry {
	again := []string{"git runr work --retry"}
	switch {
	case f.Reason == ReasonObjects && f.Try != "":
		return Retry{"when it can be read:", []string{f.Try, "git runr work"}}
	case f.Reason == ReasonObjects:
		return Retry{"when it can be read:", []string{"git runr work"}}
	case f.Reason == ReasonSpent && f.Setting != nil:
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once, with a higher limit:", f.RetryAt.UTC().Format(time.DateTime+"Z")), append([]string{f.Setting.Raised(f.Reached)}, again...)}
	case !f.RetryAt.IsZero():
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once:", f.RetryAt.UTC().Format(time.DateTime+"Z")), again}
	case f.Transient:
		return Retry{fmt.Sprintf("tried %d times; once more:", f.Tries), again}
	case f.Reason == ReasonUntrusted:
		return Retry{"when its command is approved:", append([]string{"git runr trust"}, again...)}
	case f.Reason == ReasonAgentNotFound:
		return Retry{"when it is installed:", again}
	}
	return Retry{"when that is mended:", again}
}

// FailedTurn is a reviewer that could not be run in a clone. What keeps it from working
// there, such as a program that is missing, need not be so in another.
type FailedTurn struct {
	Reviewer string    `json:"reviewer"`
	Writer   string    `json:"writer"`
	RetryAt  time.Time `json:"retry_at,omitzero"` // when it is tried again by itself; zero: when a person asks
}

func (f Failure) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (f Failure) took(e Event) (string, spend.Spent) { return e.Source, f.Spent }
