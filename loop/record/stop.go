package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Stop says why a run ended early: a code of the registry and the facts. The fields for rounds and requests are those
// of runr's event.
type Stop struct {
	Reason    string   `json:"reason"`
	Detail    string   `json:"detail,omitempty"`
	Round     int      `json:"round,omitempty"`
	MaxRounds int      `json:"max_rounds,omitempty"` // max_retries: see RoundOf
	Unmet     []string `json:"unmet_requests,omitempty"`
	Commands  []string `json:"suggested_commands,omitempty"`
	// ids of findings, or requests without an id, that were unmet twice
	Repeated []string `json:"repeated_findings,omitempty"`
	// UnmetChecks, Intervention and NextSteps are the part of the diagnosis that goes into the commit's note: codes,
	// and commands to type.
	UnmetChecks  []string `json:"unmet_checks,omitempty"`
	Intervention string   `json:"suggested_intervention,omitempty"`
	NextSteps    []string `json:"next_steps,omitempty"`
	// Review is the id of the review that waits for a person, if any. Answered says that it has a verdict by now.
	Review   string `json:"review_id,omitempty"`
	Answered bool   `json:"-"`
	// FailingChecks are the names of the checks that count against the work.
	FailingChecks []string `json:"failing_checks,omitempty"`
	// Setting is the configured value that ended the run.
	Setting *runplan.Setting `json:"setting,omitempty"`
	// Undo lists commands that restore what an agent changed outside of its work.
	Undo    []string    `json:"undo,omitempty"`
	Reached spend.Usage `json:"reached,omitzero"` // the usage at that point, if Setting limits usage
	// Said quotes, truncated, what the run stopped for: an implementer's reason not to finish, a review that could not
	// be parsed, the output of setup. SaidBy names the source.
	Said   string    `json:"said,omitempty"`
	SaidBy string    `json:"said_by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Tree is the content of the run's own working tree at the stop, or "" if it has none. Later differences are a
	// person's work.
	Tree gitstore.ID `json:"tree,omitempty"`
	// LastActivity is when the agent because of which the run stopped last wrote something.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
	// ResumeAfter is when the cause ends by itself, as a quota or a day's budget does.
	ResumeAfter time.Time `json:"resume_after,omitzero"`
}

// StopPayload is a stop and the commit that gets its note.
type StopPayload struct {
	Stop
	Commit gitstore.ID `json:"commit,omitempty"`
	otherStop
}

// otherStop holds the fields of a stop under runr's names.
type otherStop struct {
	OtherRounds    int      `json:"review_rounds,omitempty"`
	OtherMaxRounds int      `json:"max_review_rounds,omitempty"`
	OtherRequests  []string `json:"reviewer_requests,omitempty"`
	OtherCommands  []string `json:"commands_to_satisfy,omitempty"`
	OtherError     string   `json:"error,omitempty"`
}

// afterRead copies runr's fields to our own fields that are empty. An event of type review_loop_detected may omit the
// reason.
func (p *StopPayload) afterRead(e Event) {
	p.Round, p.MaxRounds = cmp.Or(p.Round, p.OtherRounds), cmp.Or(p.MaxRounds, p.OtherMaxRounds)
	p.Detail = cmp.Or(p.Detail, p.OtherError)
	if len(p.Unmet) == 0 {
		p.Unmet = p.OtherRequests
	}
	if len(p.Commands) == 0 {
		p.Commands = p.OtherCommands
	}
	if p.Reason == "" && e.Type == EventReviewLoopDetected.Name {
		p.Reason = ReasonReviewLoop
	}
	p.At = e.Timestamp
}

// personSteps are the next steps for a run that waits for a person's review.
var personSteps = []NextStep{
	{"git runr inbox submit REVIEW --approve", "let it pass"},
	{`git runr inbox submit REVIEW --request-changes -m "..."`, "say what must change"},
	{"git runr resume RUN", "go on from your verdict"},
}

// Explained returns the registry's entry for the stop, with next steps that fit this stop.
func (s Stop) Explained() Reason {
	reason := ReasonOf(s.Reason)
	if s.Reason == ReasonSpent && s.Setting != nil {
		reason.Next = append(raise(*s.Setting, s.Reached), reason.Next[0])
	}
	if s.Answered {
		reason.Explanation = "A person has answered, and the run can go on."
		reason.Intervene, reason.Next = "", []NextStep{stepResume}
		return reason
	}
	if s.Review == "" {
		return reason
	}
	reason.Intervene, reason.Next = "", each.Of(personSteps, func(step NextStep) NextStep {
		return NextStep{strings.ReplaceAll(step.Command, "REVIEW", s.Review), step.What}
	})
	return reason
}

// raise returns the steps that double the usage limit that ended a run.
func raise(s runplan.Setting, spent spend.Usage) []NextStep {
	if s.IsLimit() {
		flag := strings.ReplaceAll(strings.TrimPrefix(s.Name, "loop."), "_", "-")
		return []NextStep{{"git runr resume RUN --" + flag + " " + s.Double(spent), "raise the limit of the whole run"}}
	}
	return []NextStep{{s.Raised(spent), "raise the limit of a day; then resume"}, stepResume}
}

// RoundOf names a round and how many a run may take: the first, and each retry. A run that somebody continued may have
// taken more; then it names the round alone.
func RoundOf(round, retries int) string {
	if round > retries+1 {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("round %d of %d", round, retries+1)
}
