package record

import (
	"cmp"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Stop is why a run ended early: a code of the registry and what is known of it.
// The round and request fields are those of runr's event.
type Stop struct {
	Reason    string   `json:"reason"`
	Detail    string   `json:"detail,omitempty"`
	Round     int      `json:"round,omitempty"`
	MaxRounds int      `json:"max_rounds,omitempty"` // max_retries: shown as "round 3/2"
	Unmet     []string `json:"unmet_requests,omitempty"`
	Commands  []string `json:"suggested_commands,omitempty"`
	Repeated  []string `json:"repeated_findings,omitempty"` // ids of findings, or requests without one, that were unmet twice
	// UnmetChecks, Intervention and NextSteps are the diagnosis as far as the note on
	// the commit tells it: codes, and lines to type.
	UnmetChecks  []string `json:"unmet_checks,omitempty"`
	Intervention string   `json:"suggested_intervention,omitempty"`
	NextSteps    []string `json:"next_steps,omitempty"`
	// Review is the id of the review that waits for a person.
	Review string `json:"review_id,omitempty"`
	// FailingChecks are the names of the checks that count against the work.
	FailingChecks []string `json:"failing_checks,omitempty"`
	// Setting is the configured value that ended the run.
	Setting *runplan.Setting `json:"setting,omitempty"`
	// Undo are lines to type that put back what an agent changed outside of its work.
	Undo    []string    `json:"undo,omitempty"`
	Reached spend.Usage `json:"reached,omitzero"` // what was spent, where Setting bounds that
	// Said are the words of whoever the run stopped for, bounded: why an implementer did
	// not finish, or a review that could not be read.
	Said   string    `json:"said,omitempty"`
	SaidBy string    `json:"said_by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Tree are the files of the run's own working tree at the stop; "" where it has none. What
	// differs later is a person's work.
	Tree gitstore.ID `json:"tree,omitempty"`
	// LastActivity is when the agent that the run stopped for last wrote something.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
	// ResumeAfter is when what ended the run is over by itself: a quota, a day's budget.
	ResumeAfter time.Time `json:"resume_after,omitzero"`
}

// StopPayload is a stop and the commit that its note goes to.
type StopPayload struct {
	Stop
	Commit gitstore.ID `json:"commit,omitempty"`
	otherStop
}

// otherStop is what runr calls the fields of a stop.
type otherStop struct {
	OtherRounds    int      `json:"review_rounds,omitempty"`
	OtherMaxRounds int      `json:"max_review_rounds,omitempty"`
	OtherRequests  []string `json:"reviewer_requests,omitempty"`
	OtherCommands  []string `json:"commands_to_satisfy,omitempty"`
	OtherError     string   `json:"error,omitempty"`
}

// afterRead fills in, where our names are absent, what stands under runr's. An event
// of the type review_loop_detected needs no reason.
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

// personSteps are what to do about a run that waits for a person's review.
var personSteps = []NextStep{
	{"git runr inbox submit REVIEW --approve", "let it pass"},
	{`git runr inbox submit REVIEW --request-changes -m "..."`, "say what is to be changed"},
	{"git runr resume RUN", "go on from your verdict"},
}

// Explained is the registry's entry for the stop, with what to do about this one.
func (s Stop) Explained() Reason {
	reason := ReasonOf(s.Reason)
	if s.Reason == ReasonSpent && s.Setting != nil {
		reason.Next = append(raise(*s.Setting, s.Reached), reason.Next[0])
	}
	if s.Review == "" {
		return reason
	}
	reason.Intervene, reason.Next = "", nil
	for _, step := range personSteps {
		step.Command = strings.ReplaceAll(step.Command, "REVIEW", s.Review)
		reason.Next = append(reason.Next, step)
	}
	return reason
}

// raise are the steps that give twice as much where a limit of what is spent ended a run.
func raise(s runplan.Setting, spent spend.Usage) []NextStep {
	if s.IsLimit() {
		flag := strings.ReplaceAll(strings.TrimPrefix(s.Name, "loop."), "_", "-")
		return []NextStep{{"git runr resume RUN --" + flag + " " + s.Double(spent), "let it take more, all in all"}}
	}
	return []NextStep{{s.Raised(spent), "let a day take more; then resume"}, stepResume}
}
