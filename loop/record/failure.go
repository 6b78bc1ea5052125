package record

import (
	"fmt"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Failure says why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason   string    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Reviewer string    `json:"reviewer,omitempty"` // for a review: the reviewer that failed
	Writer   string    `json:"writer,omitempty"`   // for a review: the clone in which it failed; filled in by the fold
	At       time.Time `json:"at,omitzero"`
	// LastActivity is when the agent last wrote something, if known.
	LastActivity time.Time        `json:"last_activity_at,omitzero"`
	Setting      *runplan.Setting `json:"setting,omitempty"` // the limit that ended it
	Reached      spend.Usage      `json:"reached,omitzero"`  // the usage at that point, if Setting limits usage
	// Transient reports that a retry may well succeed, as after a rate limit or a broken connection.
	Transient bool `json:"transient,omitempty"`
	// RetryAfter is how long the provider asked to wait.
	RetryAfter duration.Duration `json:"retry_after_ms,omitzero"`
	Tries      int               `json:"tries,omitempty"`   // for a review: how many times in a row it was tried
	RetryAt    time.Time         `json:"retry_at,omitzero"` // for a review: when it is retried automatically
	Try        string            `json:"try,omitempty"`     // a command that may fix the cause
	// commands that undo what the agent changed outside of its work
	Undo        []string `json:"undo,omitempty"`
	spend.Spent          // for a review: what the failed call cost
}

// Retry says how a failed reviewer is asked again.
type Retry struct {
	What     string   // when it is asked again
	Commands []string // what to type then, in order
}

// Next returns when and how a reviewer that gave no answer is asked again.
func (f Failure) Next() Retry {
	again := []string{"git runr work --retry"}
	switch {
	case f.Reason == ReasonObjects && f.Try != "":
		return Retry{"when it can be read:", []string{f.Try, "git runr work"}}
	case f.Reason == ReasonObjects:
		return Retry{"when it can be read:", []string{"git runr work"}}
	case f.Reason == ReasonSpent && f.Setting != nil:
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once, with a higher limit:",
			f.RetryAt.UTC().Format(time.DateTime+"Z")), append([]string{f.Setting.Raised(f.Reached)}, again...)}
	case !f.RetryAt.IsZero():
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once:",
			f.RetryAt.UTC().Format(time.DateTime+"Z")), again}
	case f.Transient:
		return Retry{fmt.Sprintf("tried %d times; once more:", f.Tries), again}
	case f.Reason == ReasonUntrusted:
		return Retry{"when its command is approved:", append([]string{"git runr trust"}, again...)}
	case f.Reason == ReasonAgentNotFound:
		return Retry{"when it is installed:", again}
	}
	return Retry{"when the cause is gone:", again}
}

// FailedTurn is a reviewer that could not be run in one clone. In another clone it may work, for example if a
// program is missing only here.
type FailedTurn struct {
	Reviewer string    `json:"reviewer"`
	Writer   string    `json:"writer"`
	RetryAt  time.Time `json:"retry_at,omitzero"` // when it is retried automatically; zero: only when a person asks
}

func (f Failure) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (f Failure) took(e Event) (string, spend.Spent) { return e.Source, f.Spent }
