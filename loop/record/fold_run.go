package record

import (
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/reply"
)

// AnswerPayload is a person's decision on a run that gave up.
type AnswerPayload struct {
	Choice Choice `json:"choice"`
	By     string `json:"by,omitempty"` // how it was given: terminal, command line, policy
}

// CompletedPayload ends a run well.
type CompletedPayload struct {
	Result   string          `json:"status"` // pass, pass_with_issues or unreviewed
	Commit   gitstore.ID     `json:"commit"`
	Open     []reply.Finding `json:"accepted_findings,omitempty"`
	Requests []string        `json:"accepted_requests,omitempty"` // where there are no findings
	By       string          `json:"accepted_by,omitempty"`       // who accepted what is open; "" when nobody had to
}

// runHandlers is one step of the fold for each event type.
var runHandlers = map[string]func(*Run, Event) error{
	EventAttemptStarted:     (*Run).attemptStarted,
	EventAttemptCompleted:   (*Run).attemptCompleted,
	EventAttemptReverted:    (*Run).attemptReverted,
	EventChecksCompleted:    (*Run).checksCompleted,
	EventRoundCompleted:     (*Run).roundCompleted,
	EventReviewLoopDetected: (*Run).stopped,
	EventRunStopped:         (*Run).stopped,
	EventRunAnswered:        (*Run).answered,
	EventRunCompleted:       (*Run).completed,
	EventRunLanded:          (*Run).landed,
	EventRunUnlanded:        (*Run).unlanded,
	EventRunAborted:         (*Run).aborted,
	EventRunResumed:         (*Run).resumed,
	EventRunIntervened:      (*Run).intervened,
	EventReviewRequested:    (*Run).asked,
}

// runMoves lists the statuses from which an event may happen; a type that is
// not in it needs a running run.
var runMoves = map[string][]RunStatus{
	EventRunAnswered:   {RunRunning, RunReviewing, RunStopped},
	EventRunCompleted:  {RunRunning, RunReviewing, RunStopped},
	EventRunLanded:     {RunCompleted},
	EventRunUnlanded:   {RunCompleted},
	EventRunAborted:    {RunRunning, RunReviewing, RunStopped, RunSkipped},
	EventRunResumed:    {RunRunning, RunReviewing, RunStopped},
	EventRunIntervened: {RunRunning, RunReviewing, RunStopped},
}

// runVerbs say what a refused event wanted, for people.
var runVerbs = map[string]string{
	EventRunAnswered: "answered", EventRunCompleted: "completed", EventRunLanded: "landed", EventRunAborted: "aborted", EventRunResumed: "resumed",
	EventRunIntervened: "intervened in",
}

// Allow reports, as a *StateError, why an event of type may not happen now.
func (r Run) Allow(eventType string) error {
	if eventType == EventRunUnlanded && r.Landed == nil {
		return &StateError{What: "run " + r.ID, Status: "not landed", Cannot: "taken back"}
	}
	if eventType == EventRunLanded && r.Landed != nil {
		return &StateError{What: "run " + r.ID, Status: "landed as " + r.Landed.Commit.Short(), Cannot: "landed again"}
	}
	from, listed := runMoves[eventType]
	if !listed {
		from = []RunStatus{RunRunning}
	}
	for _, status := range from {
		if r.Status == status {
			return nil
		}
	}
	verb := runVerbs[eventType]
	if verb == "" {
		verb = "continued"
	}
	return &StateError{What: "run " + r.ID, Status: string(r.Status), Cannot: verb}
}

func (r *Run) Apply(e Event) error {
	if e.Type == EventRunStarted {
		return r.started(e)
	}
	handle := runHandlers[e.Type]
	if handle == nil || r.ID == "" {
		return nil // of a newer program, of a review, or before its start arrived
	}
	if refused := r.Allow(e.Type); refused != nil {
		r.Lost = append(r.Lost, Lost{Event: e.ID, Type: e.Type, By: e.Actor, Why: refused.Error()})
		return nil
	}
	if err := handle(r, e); err != nil { // handlers read the whole payload before they change anything
		return err
	}
	if e.Type != EventReviewRequested { // asking is no step: what comes next is what came next before it
		r.UpdatedAt, r.Last = e.Timestamp, e.Type
	}
	return nil
}

func (r *Run) started(e Event) error {
	plan, err := PayloadOf[RunPlan](e)
	if err != nil || r.ID != "" {
		return err
	}
	plan.Branch = "runr/" + e.Run // whatever a log says: a run moves no branch but its own
	*r = Run{
		ID: e.Run, Status: RunRunning, Plan: plan, StartedBy: e.Actor, Writer: e.Writer, Last: e.Type,
		CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Began: e.Timestamp, Commit: plan.Base,
		Attempts: []Attempt{}, Checks: []CheckRun{}, Rounds: []Round{},
	}
	return nil
}

func (r *Run) attemptStarted(e Event) error {
	attempt, err := PayloadOf[Attempt](e)
	if err != nil {
		return err
	}
	attempt.StartedAt, attempt.Event, r.news = e.Timestamp, "", 0
	if last := r.LastAttempt(); last != nil && last.Number == attempt.Number { // taken up again after a crash
		*last = attempt
		return nil
	}
	r.Attempts = append(r.Attempts, attempt)
	return nil
}

func (r *Run) attemptCompleted(e Event) error {
	attempt, err := PayloadOf[Attempt](e)
	if err != nil {
		return err
	}
	attempt.EndedAt, attempt.Event = e.Timestamp, e.ID
	if last := r.LastAttempt(); last != nil && last.Number == attempt.Number {
		attempt.StartedAt = last.StartedAt
		*last = attempt
	} else {
		r.Attempts = append(r.Attempts, attempt)
	}
	r.Commit = r.Head()
	r.Position = r.stepAfter(attempt.Step)
	return nil
}

func (r *Run) attemptReverted(e Event) error {
	reverted, err := PayloadOf[Reverted](e)
	if err != nil {
		return err
	}
	for i := range r.Attempts {
		if r.Attempts[i].Number == reverted.Attempt {
			r.Attempts[i].Reverted = &reverted
		}
	}
	r.Commit = r.Head()
	return nil
}

func (r *Run) checksCompleted(e Event) error {
	checks, err := PayloadOf[CheckRun](e)
	if err != nil {
		return err
	}
	checks.At, checks.Event, r.news = e.Timestamp, e.ID, 0
	r.Checks = append(r.Checks, checks)
	r.Position = r.stepAfter(checks.Step)
	return nil
}

// RoundPayload is a round and the step of the workflow that it was.
type RoundPayload struct {
	Round
	Step string `json:"step"`
}

func (r *Run) roundCompleted(e Event) error {
	round, err := PayloadOf[RoundPayload](e)
	if err != nil {
		return err
	}
	round.At, round.Event, r.news = e.Timestamp, e.ID, 0
	r.Rounds = append(r.Rounds, round.Round)
	r.Position = r.stepAfter(round.Step)
	return nil
}

// stepAfter is the position behind the step called name.
func (r *Run) stepAfter(name string) int {
	for i, s := range r.Plan.Policy.Workflow {
		if s.Name == name {
			return i + 1
		}
	}
	return r.Position
}

func (r *Run) stopped(e Event) error {
	read, err := readStop(e)
	if err != nil {
		return err
	}
	stop := read.Stop
	r.sameStops = r.sameStops.after(stop.Reason, len(r.Rounds)+len(r.GoodAttempts())+len(r.Interventions))
	r.Stop, r.Status, r.Result = &stop, RunStopped, "abort"
	if ReasonOf(stop.Reason).Judge && r.Plan.Policy.endsInReview() {
		r.Status = RunReviewing
	}
	return nil
}

func (r *Run) answered(e Event) error {
	answer, err := PayloadOf[AnswerPayload](e)
	if err != nil {
		return err
	}
	r.Answer, r.AnsweredBy = answer.Choice, personName(e.Actor)
	if answer.By == "policy" {
		r.AnsweredBy = "the policy of " + r.AnsweredBy
	}
	if answer.Choice == ChoiceSkip {
		r.Status, r.Result = RunSkipped, "skipped"
	}
	return nil
}

// personName is the name in "Name <email>".
func personName(actor string) string {
	name, _, _ := strings.Cut(actor, " <")
	return name
}

func (r *Run) completed(e Event) error {
	done, err := PayloadOf[CompletedPayload](e)
	if err != nil {
		return err
	}
	r.Status, r.Result, r.Stop = RunCompleted, done.Result, nil
	return nil
}

func (r *Run) landed(e Event) error {
	landed, err := PayloadOf[Landed](e)
	if err != nil {
		return err
	}
	landed.At = e.Timestamp
	r.Landed = &landed
	return nil
}

func (r *Run) unlanded(Event) error {
	r.Landed = nil
	return nil
}

func (r *Run) aborted(Event) error {
	r.Status, r.Result = RunAborted, "abort"
	return nil
}

// resumed starts the counters afresh: a person stepped in.
func (r *Run) resumed(e Event) error {
	r.Status, r.Result, r.Stop, r.Answer, r.AnsweredBy = RunRunning, "", nil, "", ""
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
	return nil
}

// intervened keeps what a person did. The run stays as it stopped: the evidence
// may be all that somebody wanted to leave.
func (r *Run) intervened(e Event) error {
	p, err := PayloadOf[InterventionPayload](e)
	if err != nil {
		return err
	}
	p.Number, p.At = len(r.Interventions)+1, e.Timestamp
	r.Interventions = append(r.Interventions, p.Intervention)
	r.Since, r.ChecksSince, r.Began = len(r.Rounds), len(r.Checks), e.Timestamp
	r.news++
	r.Commit = r.Head()
	return nil
}

// stopCount is how often in a row a run stopped for one reason without getting on.
type stopCount struct {
	reason   string
	progress int
	times    int
}

func (c stopCount) after(reason string, progress int) stopCount {
	if c.reason == reason && c.progress == progress {
		return stopCount{reason, progress, c.times + 1}
	}
	return stopCount{reason, progress, 1}
}
