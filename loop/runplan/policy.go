package runplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
)

// StepKind says what a step of a workflow does.
type StepKind string

const (
	StepAgent  StepKind = "agent"  // an implementer's turn
	StepCheck  StepKind = "check"  // verification commands
	StepReview StepKind = "review" // a reviewer's turn
)

// WorkStep is one step of a workflow.
type WorkStep struct {
	Name   string   `json:"name"`
	Kind   StepKind `json:"kind"`
	Agent  string   `json:"agent,omitempty"`  // overrides the run's implementer or reviewer
	Prompt string   `json:"prompt,omitempty"` // precedes the task in an agent's prompt
	Checks []string `json:"checks,omitempty"` // names; empty means every configured check
}

// DefaultWorkflow returns implement, check, review.
func DefaultWorkflow() []WorkStep {
	return []WorkStep{{Name: "implement", Kind: StepAgent}, {Name: "check", Kind: StepCheck},
		{Name: "review", Kind: StepReview}}
}

// Threshold moves the line between passing and needing a fix.
type Threshold string

const (
	ThresholdVerdict  Threshold = "verdict"  // the reviewer decides about warnings
	ThresholdWarning  Threshold = "warning"  // any warning needs a fix
	ThresholdCritical Threshold = "critical" // warnings never block
)

// Choice says what happens to a run whose retries are used up.
type Choice string

const (
	ChoiceAsk    Choice = "ask"
	ChoiceCommit Choice = "commit" // accept the result, with its open findings
	ChoiceSkip   Choice = "skip"   // leave the entity undone and continue
	ChoiceStop   Choice = "stop"   // a person must look
)

// Policy is what a run's decisions depend on. It is recorded with the run, so that a fold never depends on a file that
// has changed since.
type Policy struct {
	Workflow    []WorkStep `json:"workflow"`
	MaxRetries  int        `json:"max_retries"` // fixes after a failed review; reviews are one more
	Threshold   Threshold  `json:"threshold"`
	OnExhausted Choice     `json:"on_exhausted"`
	// for the whole run, from its start or resumption; 0: no limit
	TimeBudget duration.Duration `json:"time_budget_ms,omitzero"`
	Budget     Budget            `json:"budget,omitzero"` // for the whole run, however often it is resumed
	// WaitForQuota is the longest wait, in one step, for a quota whose restore time is known.
	WaitForQuota duration.Duration `json:"wait_for_quota_ms,omitzero"`
}

// Blocks reports whether a round's report keeps the change from passing.
func (p Policy) Blocks(r reply.Report, checksFailed bool) bool {
	switch p.Threshold {
	case ThresholdWarning:
		return !r.Effective.Passed() || reply.HasSeverity(r.Findings, reply.Warning) ||
			reply.HasSeverity(r.Findings, reply.Critical)
	case ThresholdCritical:
		nitsOnly := r.Effective == reply.NeedsFix && len(r.Findings) > 0 && !checksFailed
		return !r.Effective.Passed() && !nitsOnly
	}
	return !r.Effective.Passed()
}

// Check returns an error if the workflow cannot be used.
func (p Policy) Check() error {
	if len(p.Workflow) == 0 {
		return fmt.Errorf("the workflow has no steps")
	}
	for i, s := range p.Workflow {
		if slices.ContainsFunc(p.Workflow[:i], func(earlier WorkStep) bool { return earlier.Name == s.Name }) {
			return fmt.Errorf("the workflow names step %q twice", s.Name)
		}
	}
	return nil
}

// EndsInReview reports whether the last step is a review, by its kind, whatever its name.
func (p Policy) EndsInReview() bool {
	return len(p.Workflow) > 0 && p.Workflow[len(p.Workflow)-1].Kind == StepReview
}

// FixStep returns the position of the step that can fix a failure at position at: the last agent step before it. It
// returns -1 if there is none.
func (p Policy) FixStep(at int) int {
	for i := min(at, len(p.Workflow)) - 1; i >= 0; i-- {
		if p.Workflow[i].Kind == StepAgent {
			return i
		}
	}
	return -1
}

// String lists the steps' names.
func (p Policy) String() string {
	names := each.Of(p.Workflow, func(s WorkStep) string { return s.Name })
	return strings.Join(names, " → ")
}

// Runs reports whether the step runs the check called name.
func (w WorkStep) Runs(name string) bool {
	return len(w.Checks) == 0 || slices.Contains(w.Checks, name)
}
