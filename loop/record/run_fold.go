package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// runMove describes when events of one type are allowed for a run, and what they do to it.
type runMove struct {
	from   []RunStatus // the statuses that allow it
	cannot string      // the participle for the error in other statuses: "landed"
	fold   func(*Run, Event) error
}

// runMoves maps the names of event types to their moves.
var runMoves = map[string]runMove{}

// runEventType returns a type of run events and registers its move. fold applies an event whose payload could be
// decoded; note writes its note, nil for no note.
func runEventType[P any](name, cannot string, from []RunStatus, fold func(*Run, Event, P),
	note func(Event, P) (gitstore.ID, string)) EventType[P] {
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

// Statuses in which events are allowed.
var (
	whileItRuns     = []RunStatus{RunRunning}
	whileUndecided  = []RunStatus{RunRunning, RunReviewing, RunStopped}
	untilItSucceeds = []RunStatus{RunRunning, RunReviewing, RunStopped, RunSkipped}
	onceItSucceeded = []RunStatus{RunCompleted}
)

// Events of a run.
var (
	EventRunStarted       = runEventType("run_started", "started", nil, (*Run).started, nil)
	EventAttemptStarted   = runEventType("attempt_started", "continued", whileItRuns, (*Run).attemptStarted, nil)
	EventAttemptCompleted = runEventType("attempt_completed", "continued", whileItRuns, (*Run).attemptCompleted, nil)
	EventAttemptReverted  = runEventType("attempt_reverted", "continued", whileItRuns, (*Run).attemptReverted, nil)
	EventChecksCompleted  = runEventType("checks_completed", "continued", whileItRuns, (*Run).checksCompleted, nil)
	EventRoundCompleted   = runEventType("review_completed", "continued", whileItRuns, (*Run).roundCompleted, roundNote)
	// named as in runr
	EventReviewLoopDetected = runEventType("review_loop_detected", "continued", whileItRuns, (*Run).stopped, stopNote)
	EventRunStopped         = runEventType("stop", "continued", whileItRuns, (*Run).stopped, stopNote)
	EventRunAnswered        = runEventType("run_answered", "answered", whileUndecided, (*Run).answered, nil)
	EventRunCompleted       = runEventType("run_completed", "completed", whileUndecided, (*Run).completed, completedNote)
	EventRunLanded          = runEventType("run_landed", "landed", onceItSucceeded, (*Run).landed, landedNote)
	// a landing was reverted
	EventRunUnlanded   = runEventType("run_unlanded", "continued", onceItSucceeded, (*Run).unlanded, unlandedNote)
	EventRunAborted    = runEventType("run_aborted", "aborted", untilItSucceeds, (*Run).aborted, nil)
	EventRunResumed    = runEventType("run_resumed", "resumed", whileUndecided, (*Run).resumed, nil)
	EventRunIntervened = runEventType("run_intervened", "intervened in", whileUndecided, (*Run).intervened,
		interventionNote)

	// begins a review; the fold of a run uses only requests of its own
	EventReviewRequested = runEventType("review_requested", "continued", whileItRuns, (*Run).asked, nil)
)

// Allow returns a *StateError if an event of eventType is not allowed now.
func (r Run) Allow(eventType string) error {
	if eventType == EventRunUnlanded.Name && r.Landed == nil {
		return &StateError{What: "run " + r.ID, Status: "not landed", Cannot: "taken back"}
	}
	if eventType == EventRunLanded.Name && r.Landed != nil {
		status := "landed"
		if r.Landed.Commit != "" {
			status += " as " + r.Landed.Commit.Short()
		}
		return &StateError{What: "run " + r.ID, Status: status, Cannot: "landed again"}
	}
	if eventType == EventRunAborted.Name && r.Status == RunCompleted && r.Landed == nil {
		return nil // nobody wants its result
	}
	if move := runMoves[eventType]; !slices.Contains(move.from, r.Status) {
		status := r.Status
		if status == RunReviewing { // to people it is stopped
			status = RunStopped
		}
		if r.Landed != nil {
			status = "landed"
		}
		return &StateError{What: "run " + r.ID, Status: string(status), Cannot: move.cannot}
	}
	return nil
}

// contradicts returns a *StateError if e completes the run as passed, and neither its last review nor a person said so.
// The clone that runs it records no such event, so another one did.
func (r Run) contradicts(e Event) error {
	if e.Type != EventRunCompleted.Name || r.Answer != "" || r.Outcome() != ResultPass {
		return nil
	}
	done, err := EventRunCompleted.Payload(e)
	if err == nil && done.Result == ResultPass && !r.lastSaid().Report.Effective.Passed() {
		return &StateError{What: "run " + r.ID, Status: "refused by its last review", Cannot: "passed"}
	}
	return nil
}

// Apply folds e into the run. An event that the state does not allow goes to Lost. One that cannot be decoded is an
// error and changes nothing.
func (r *Run) Apply(e Event) error {
	move, known := runMoves[e.Type]
	if e.Type == EventRunStarted.Name {
		return move.fold(r, e)
	}
	if !known || r.ID == "" {
		return nil // from a newer program, of a review, or without its start
	}
	if refused := cmp.Or(r.Allow(e.Type), r.contradicts(e)); refused != nil {
		r.Lost = append(r.Lost, Lost{Event: e.ID, Type: e.Type, By: e.Actor, Why: refused.Error()})
		r.took(SpentOn(e))
		return nil
	}
	if err := move.fold(r, e); err != nil {
		return err
	}
	if e.Type != EventReviewRequested.Name { // a request is not a step and does not change what comes next
		r.UpdatedAt, r.Last = e.Timestamp, e.Type
	}
	return nil
}

func (r *Run) started(e Event, plan runplan.Plan) {
	if r.ID != "" {
		return // only the first start counts
	}
	plan.Entity.Title = change.CutTitle(plan.Entity.Title)
	plan.Branch = "runr/" + e.Run // whatever the log says: a run moves only its own branch
	*r = Run{
		ID: e.Run, Status: RunRunning, Plan: plan, StartedBy: e.Actor, Writer: e.Writer, Last: e.Type,
		CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Began: e.Timestamp, Commit: plan.Base,
		Attempts: []Attempt{}, Checks: []CheckRun{}, Rounds: []Round{},
	}
}

func (r *Run) attemptStarted(e Event, attempt Attempt) {
	attempt.StartedAt, attempt.Event, r.news = e.Timestamp, "", 0
	if last := r.LastAttempt(); last != nil && last.Number == attempt.Number { // resumed after a crash
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

// took adds the usage of an agent's calls, whether their result counts or not.
func (r *Run) took(agent string, spent spend.Spent) {
	r.Usage = r.Usage.Add(r.Spending.Add(agent, spent))
}

// stepAfter returns the position after the step called name.
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
		policy := r.Plan.Setting(runplan.SettingExhausted, "")
		r.AnsweredBy, r.ByPolicy = policy.Source()+", run by "+r.AnsweredBy, true
	}
	if answer.Choice == runplan.ChoiceSkip {
		r.Status, r.Result = RunSkipped, "skipped"
	}
}

// PersonName returns the name in "Name <email>".
func PersonName(actor string) string {
	name, _, _ := strings.Cut(actor, " <")
	return name
}

func (r *Run) completed(_ Event, done CompletedPayload) {
	r.Status, r.Result, r.Stop = RunCompleted, done.Result, nil
	if outcome := r.Outcome(); r.Result == ResultPass && (outcome == ResultChecked || outcome == ResultBelow) {
		r.Result = outcome // recorded before these results were distinguished from a reviewer's pass
	}
}

func (r *Run) landed(e Event, landed Landed) {
	landed.At, landed.By = e.Timestamp, PersonName(e.Actor)
	if landed.Commit == landed.Onto { // an older program recorded the tip although there was nothing to take
		landed.Commit = ""
	}
	r.Landed = &landed
}

func (r *Run) unlanded(_ Event, _ Landed) {
	r.Landed = nil
}

func (r *Run) aborted(_ Event, _ struct{}) {
	r.Status, r.Result = RunAborted, "abort"
}

// resumed sets the run running again and restarts its counters, because a person stepped in.
func (r *Run) resumed(e Event, p ResumedPayload) {
	if p.Limits != nil {
		r.Plan.SetLimits(*p.Limits)
	}
	r.Status, r.Result, r.Stop, r.Answer, r.AnsweredBy, r.ByPolicy = RunRunning, "", nil, "", "", false
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
}

// intervened records what a person did. The run remains stopped, since the person may only have wanted to leave
// evidence.
func (r *Run) intervened(e Event, p InterventionPayload) {
	p.Number, p.At = len(r.Interventions)+1, e.Timestamp
	r.Interventions = append(r.Interventions, p.Intervention)
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
	r.news++
	r.Commit = r.Head()
}

// asked records the newest review that the run requested.
func (r *Run) asked(e Event, request ReviewRequest) {
	if request.Run == r.ID {
		r.Asked = &Asked{Review: e.Review, Commit: request.Subject.Commit, Round: request.Round}
	}
}

// FoldRun folds events, which must be in order, into a run. It skips and reports events that cannot be decoded.
func FoldRun(events []Event) (Run, []error) { return fold(events, (*Run).Apply) }

func fold[S any](events []Event, apply func(*S, Event) error) (state S, bad []error) {
	for _, e := range events {
		if err := apply(&state, e); err != nil {
			bad = append(bad, fmt.Errorf("read event %s: %w", e.ID.Short(), err))
		}
	}
	return state, bad
}

// StatusAfter returns the status of the run after e. An event that cannot be applied does not change it.
func (r Run) StatusAfter(e Event) string {
	_ = r.Apply(e)
	return string(r.Status)
}
