package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// runMove is what an event does to a run.
type runMove struct {
	from   []RunStatus // in which it may happen
	cannot string      // what cannot be done to a run in any other: "landed"
	fold   func(*Run, Event) error
}

// runMoves are those of all types of events that a run is folded from, by their names.
var runMoves = map[string]runMove{}

// runEventType makes a type of events of runs: its fold takes it in when its whole payload was
// read, and note is what it says on a commit, nil for nothing.
func runEventType[P any](name, cannot string, from []RunStatus, fold func(*Run, Event, P), note func(Event, P) (gitstore.ID, string)) EventType[P] {
	t := newEventType(name, fold == nil, note)
	runMoves[name] = runMove{from, cannot, func(r *Run, e Event) error {
		p, err := t.Payload(e)
		if err == nil {
			fold(r, e, p)
		}
		return err
	}}
	return t
}

// Statuses in which something may happen to a run.
var (
	whileItRuns     = []RunStatus{RunRunning}
	whileUndecided  = []RunStatus{RunRunning, RunReviewing, RunStopped}
	untilItSucceeds = []RunStatus{RunRunning, RunReviewing, RunStopped, RunSkipped}
	onceItSucceeded = []RunStatus{RunCompleted}
)

// The events of a run.
var (
	EventRunStarted         = runEventType("run_started", "started", nil, (*Run).started, nil)
	EventAttemptStarted     = runEventType("attempt_started", "continued", whileItRuns, (*Run).attemptStarted, nil)
	EventAttemptCompleted   = runEventType("attempt_completed", "continued", whileItRuns, (*Run).attemptCompleted, nil)
	EventAttemptReverted    = runEventType("attempt_reverted", "continued", whileItRuns, (*Run).attemptReverted, nil)
	EventChecksCompleted    = runEventType("checks_completed", "continued", whileItRuns, (*Run).checksCompleted, nil)
	EventRoundCompleted     = runEventType("review_completed", "continued", whileItRuns, (*Run).roundCompleted, roundNote)
	EventReviewLoopDetected = runEventType("review_loop_detected", "continued", whileItRuns, (*Run).stopped, stopNote) // as runr calls it
	EventRunStopped         = runEventType("stop", "continued", whileItRuns, (*Run).stopped, stopNote)
	EventRunAnswered        = runEventType("run_answered", "answered", whileUndecided, (*Run).answered, nil)
	EventRunCompleted       = runEventType("run_completed", "completed", whileUndecided, (*Run).completed, completedNote)
	EventRunLanded          = runEventType("run_landed", "landed", onceItSucceeded, (*Run).landed, landedNote)
	EventRunUnlanded        = runEventType("run_unlanded", "continued", onceItSucceeded, (*Run).unlanded, unlandedNote) // a landing was taken back
	EventRunAborted         = runEventType("run_aborted", "aborted", untilItSucceeds, (*Run).aborted, nil)
	EventRunResumed         = runEventType("run_resumed", "resumed", whileUndecided, (*Run).resumed, nil)
	EventRunIntervened      = runEventType("run_intervened", "intervened in", whileUndecided, (*Run).intervened, interventionNote)

	EventReviewRequested = runEventType("review_requested", "continued", whileItRuns, (*Run).asked, nil) // begins a review; a run is told of one of its own
)

// Allow reports, as a *StateError, why an event of type may not happen now.
func (r Run) Allow(eventType string) error {
	if eventType == EventRunUnlanded.Name && r.Landed == nil {
		return &StateError{What: "run " + r.ID, Status: "not landed", Cannot: "taken back"}
	}
	if eventType == EventRunLanded.Name && r.Landed != nil {
		return &StateError{What: "run " + r.ID, Status: "landed as " + r.Landed.Commit.Short(), Cannot: "landed again"}
	}
	if move := runMoves[eventType]; !slices.Contains(move.from, r.Status) {
		return &StateError{What: "run " + r.ID, Status: string(r.Status), Cannot: move.cannot}
	}
	return nil
}

// Apply is one step of the fold. An event that the state does not allow is kept in Lost;
// one that cannot be read is an error and changes nothing.
func (r *Run) Apply(e Event) error {
	move, known := runMoves[e.Type]
	if e.Type == EventRunStarted.Name {
		return move.fold(r, e)
	}
	if !known || r.ID == "" {
		return nil // of a newer program, of a review, or before its start arrived
	}
	if refused := r.Allow(e.Type); refused != nil {
		r.Lost = append(r.Lost, Lost{Event: e.ID, Type: e.Type, By: e.Actor, Why: refused.Error()})
		r.took(SpentOn(e))
		return nil
	}
	if err := move.fold(r, e); err != nil {
		return err
	}
	if e.Type != EventReviewRequested.Name { // asking is no step: what comes next is what came next before it
		r.UpdatedAt, r.Last = e.Timestamp, e.Type
	}
	return nil
}

func (r *Run) started(e Event, plan runplan.Plan) {
	if r.ID != "" {
		return // it starts once
	}
	plan.Entity.Title = change.CutTitle(plan.Entity.Title)
	plan.Branch = "runr/" + e.Run // whatever a log says: a run moves no branch but its own
	*r = Run{
		ID: e.Run, Status: RunRunning, Plan: plan, StartedBy: e.Actor, Writer: e.Writer, Last: e.Type,
		CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Began: e.Timestamp, Commit: plan.Base,
		Attempts: []Attempt{}, Checks: []CheckRun{}, Rounds: []Round{},
	}
}

func (r *Run) attemptStarted(e Event, attempt Attempt) {
	attempt.StartedAt, attempt.Event, r.news = e.Timestamp, "", 0
	if last := r.LastAttempt(); last != nil && last.Number == attempt.Number { // taken up again after a crash
		*last = attempt
	} else {
		r.Attempts = append(r.Attempts, attempt)
	}
}

func (r *Run) attemptCompleted(e Event, attempt Attempt) {
	attempt.EndedAt, attempt.Event = e.Timestamp, e.ID
	r.took(attempt.took(e))
	if last := r.LastAttempt(); last != nil && last.Number == attempt.Number {
		attempt.StartedAt = last.StartedAt
		*last = attempt
	} else {
		r.Attempts = append(r.Attempts, attempt)
	}
	r.Commit = r.Head()
	r.Position = r.stepAfter(attempt.Step)
}

func (r *Run) attemptReverted(_ Event, reverted Reverted) {
	for i := range r.Attempts {
		if r.Attempts[i].Number == reverted.Attempt {
			r.Attempts[i].Reverted = &reverted
		}
	}
	r.Commit = r.Head()
}

func (r *Run) checksCompleted(e Event, checks CheckRun) {
	checks.At, checks.Event, r.news = e.Timestamp, e.ID, 0
	r.Checks = append(r.Checks, checks)
	r.Position = r.stepAfter(checks.Step)
}

func (r *Run) roundCompleted(e Event, round RoundPayload) {
	round.At, round.Event, r.news = e.Timestamp, e.ID, 0
	r.took(round.took(e))
	r.Rounds = append(r.Rounds, round.Round)
	r.Position = r.stepAfter(round.Step)
}

// took counts what was spent where agent was asked, whether what came of it counts or not.
func (r *Run) took(agent string, spent spend.Spent) {
	r.Usage = r.Usage.Add(r.Spending.Add(agent, spent))
}

// stepAfter is the position behind the step called name.
func (r *Run) stepAfter(name string) int {
	if i := slices.IndexFunc(r.Plan.Policy.Workflow, func(s runplan.WorkStep) bool { return s.Name == name }); i >= 0 {
		return i + 1
	}
	return r.Position
}

func (r *Run) stopped(_ Event, read StopPayload) {
	stop := read.Stop
	r.sameStops = r.sameStops.after(stop.Reason, len(r.Rounds)+len(r.GoodAttempts())+len(r.Interventions))
	r.Stop, r.Status, r.Result = &stop, RunStopped, "abort"
	if ReasonOf(stop.Reason).Judge && r.Plan.Policy.EndsInReview() {
		r.Status = RunReviewing
	}
}

func (r *Run) answered(e Event, answer AnswerPayload) {
	r.Answer, r.AnsweredBy = answer.Choice, PersonName(e.Actor)
	if answer.By == "policy" {
		r.AnsweredBy = "the policy of " + r.AnsweredBy
	}
	if answer.Choice == runplan.ChoiceSkip {
		r.Status, r.Result = RunSkipped, "skipped"
	}
}

// PersonName is the name in "Name <email>"; "" where that has none.
func PersonName(actor string) string {
	name, _, _ := strings.Cut(actor, " <")
	return name
}

func (r *Run) completed(_ Event, done CompletedPayload) {
	r.Status, r.Result, r.Stop = RunCompleted, done.Result, nil
	if r.Result == ResultPass && r.Looked() == LookedRules {
		r.Result = ResultChecked // recorded before rules were told from reviewers
	}
}

func (r *Run) landed(e Event, landed Landed) {
	landed.At = e.Timestamp
	r.Landed = &landed
}

func (r *Run) unlanded(_ Event, _ Landed) {
	r.Landed = nil
}

func (r *Run) aborted(_ Event, _ struct{}) {
	r.Status, r.Result = RunAborted, "abort"
}

// resumed starts the counters afresh: a person stepped in.
func (r *Run) resumed(e Event, p ResumedPayload) {
	if p.Limits != nil {
		r.Plan.SetLimits(*p.Limits)
	}
	r.Status, r.Result, r.Stop, r.Answer, r.AnsweredBy = RunRunning, "", nil, "", ""
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
}

// intervened keeps what a person did. The run stays as it stopped: the evidence
// may be all that somebody wanted to leave.
func (r *Run) intervened(e Event, p InterventionPayload) {
	p.Number, p.At = len(r.Interventions)+1, e.Timestamp
	r.Interventions = append(r.Interventions, p.Intervention)
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
	r.news++
	r.Commit = r.Head()
}

// asked keeps which review was asked for last.
func (r *Run) asked(e Event, request ReviewRequest) {
	if request.Run == r.ID {
		r.Asked = &Asked{Review: e.Review, Commit: request.Subject.Commit, Round: request.Round}
	}
}

// FoldRun is the state of one run after events, which are in order. Events that
// cannot be read are left out and reported.
func FoldRun(events []Event) (Run, []error) { return fold(events, (*Run).Apply) }

func fold[S any](events []Event, apply func(*S, Event) error) (state S, bad []error) {
	for _, e := range events {
		if err := apply(&state, e); err != nil {
			bad = append(bad, fmt.Errorf("read event %s: %w", e.ID.Short(), err))
		}
	}
	return state, bad
}

// StatusAfter is the status of the run after e, which changes nothing where it cannot
// be applied.
func (r Run) StatusAfter(e Event) string {
	_ = r.Apply(e)
	return string(r.Status)
}
