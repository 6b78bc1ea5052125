package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// HeadMoved is where HEAD went in all while the run's agents worked in the user's checkout; nil
// where it is still there.
func (r Run) HeadMoved() (whole *HeadMove) {
	for _, a := range r.Attempts {
		switch {
		case a.Moved == nil:
		case whole == nil:
			m := *a.Moved
			whole = &m
		default:
			whole.To, whole.ToRef = a.Moved.To, a.Moved.ToRef
		}
	}
	if whole != nil && whole.From == whole.To && whole.FromRef == whole.ToRef {
		return nil
	}
	return whole
}

// Looked is the farthest that anybody has looked at what the run comes to; "" where nobody has.
func (r Run) Looked() Looked {
	farthest := Looked("")
	for _, round := range r.Rounds {
		if round.said() && round.Commit == r.Head() {
			farthest = farthest.farther(round.Looked)
		}
	}
	return farthest
}

// Run is one execution of the loop, folded from its events.
type Run struct {
	ID       string       `json:"run_id"`
	Status   RunStatus    `json:"status"`
	Result   string       `json:"result,omitempty"` // pass, checked, pass_with_issues, skipped, abort or unreviewed
	Plan     runplan.Plan `json:"plan"`
	Position int          `json:"position"` // step of the workflow that comes next
	Attempts []Attempt    `json:"attempts"`
	Checks   []CheckRun   `json:"checks"`
	Rounds   []Round      `json:"rounds"`
	Stop     *Stop        `json:"stop,omitempty"`
	// Interventions are what people did meanwhile, oldest first.
	Interventions []Intervention `json:"interventions,omitempty"`
	Answer        runplan.Choice `json:"answer,omitempty"`      // a person's, for a run that gave up
	AnsweredBy    string         `json:"answered_by,omitempty"` // whose answer it is
	Landed        *Landed        `json:"landed,omitempty"`
	Asked         *Asked         `json:"asked,omitempty"` // the review that people were asked for last
	Since         int            `json:"rounds_before"`   // rounds that no longer count, after a person stepped in
	ChecksSince   int            `json:"checks_before"`   // the same for check steps
	Commit        gitstore.ID    `json:"commit,omitempty"`
	StartedBy     string         `json:"started_by"`
	Writer        string         `json:"writer"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Lost          []Lost         `json:"lost,omitempty"`
	Usage         spend.Usage    `json:"usage,omitzero"` // of all calls, with those of attempts that were made again
	Spending      spend.Spending `json:"usage_by_agent,omitempty"`

	Last      string    `json:"-"` // type of the newest event that counted
	news      int       // interventions that no step has followed yet
	Began     time.Time `json:"-"` // when the run was started, or last taken up
	sameStops stopCount
}

// LastActivity is when the newest thing happened: what the agent that failed last
// wrote, where that is known, else the newest event.
func (r Run) LastActivity() time.Time {
	if failure := r.Failure(); failure != nil && !failure.LastActivity.IsZero() {
		return failure.LastActivity
	}
	return r.UpdatedAt
}

// News are the interventions that no step has followed yet, oldest first.
func (r Run) News() []Intervention {
	return r.Interventions[len(r.Interventions)-r.news:]
}

// StoppedAlike is how often in a row the run stopped for the same reason without
// getting on in between.
func (r Run) StoppedAlike() int { return r.sameStops.times }

// Name is what the run works on, for people.
func (r Run) Name() string { return cmp.Or(r.Plan.Entity.Name(), "run "+r.ID) }

// Done reports whether nothing more will happen by itself.
func (r Run) Done() bool { return r.Status != RunRunning }

// LastAttempt is the newest attempt, nil when there is none.
func (r *Run) LastAttempt() *Attempt { return last(r.Attempts) }

// LastRound is the newest round, nil when there is none.
func (r *Run) LastRound() *Round { return last(r.Rounds) }

// LastChecks is the evidence of the newest check step; nil when there was none.
func (r Run) LastChecks() *CheckRun { return last(r.Checks) }

func last[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// Head is the commit that the run's branch stands on.
func (r Run) Head() gitstore.ID {
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		if commit := r.ByPeople(i + 1); commit != "" {
			return commit
		}
		if a := r.Attempts[i]; !a.undone() && a.Commit != "" {
			return a.Commit
		}
	}
	return cmp.Or(r.ByPeople(0), r.Plan.Base)
}

// HeadTree is the tree of Head; "" when that is the run's base.
func (r Run) HeadTree() gitstore.ID {
	head := r.Head()
	for _, iv := range r.Interventions {
		if iv.Commit == head {
			return iv.Tree
		}
	}
	if a := r.LastAttempt(); a != nil {
		return a.Tree
	}
	return ""
}

// ByPeople is what people committed for the run when it had that many attempts; ""
// when they committed nothing.
func (r Run) ByPeople(attempts int) gitstore.ID {
	for i := len(r.Interventions) - 1; i >= 0; i-- {
		if iv := r.Interventions[i]; iv.Attempts == attempts && iv.Commit != "" {
			return iv.Commit
		}
	}
	return ""
}

// GoodAttempts are those whose work stands, oldest first.
func (r Run) GoodAttempts() []Attempt {
	var good []Attempt
	for _, a := range r.Attempts {
		if !a.undone() && a.Commit != "" && a.Failure == nil {
			good = append(good, a)
		}
	}
	return good
}

// Files are the paths that differ between the run's base and its head, as far as
// its attempts changed them, in the order in which they were first changed.
func (r Run) Files() []string {
	seen, files := map[string]bool{}, []string{}
	add := func(paths []string) {
		for _, f := range paths {
			if !seen[f] {
				seen[f], files = true, append(files, f)
			}
		}
	}
	for _, a := range r.GoodAttempts() {
		add(a.Files)
	}
	for _, iv := range r.Interventions {
		if iv.Commit != "" {
			add(iv.Files)
		}
	}
	return files
}

// Asked is the review that a run has asked people for: an ordinary one, bound to the run.
type Asked struct {
	Review string      `json:"review_id"`
	Commit gitstore.ID `json:"commit"` // of the run's branch, that it is of
	Round  int         `json:"round"`
}

// Counted reports whether a round was made of the review called id.
func (r Run) Counted(id string) bool {
	return slices.ContainsFunc(r.Rounds, func(round Round) bool { return round.Review == id })
}

// Outcome is what a run comes to whose steps are all done.
func (r Run) Outcome() string {
	switch round := r.lastSaid(); {
	case round == nil || round.Commit != r.Head():
		return ResultUnreviewed
	case r.Looked() == LookedRules:
		return ResultChecked
	}
	return ResultPass
}

// NothingInTheWay reports whether a completed run with that result has nothing left to fix.
func NothingInTheWay(result string) bool { return result == ResultPass || result == ResultChecked }

// What a run that is completed came to.
const (
	ResultPass       = "pass"             // an agent or a person passed it
	ResultChecked    = "checked"          // the built-in reviewer found nothing in its way, and nobody else looked
	ResultWithIssues = "pass_with_issues" // a person accepted it
	ResultUnreviewed = "unreviewed"       // its workflow has no review, or none after the last change
)

// AnswerPayload is a person's decision on a run that gave up.
type AnswerPayload struct {
	Choice runplan.Choice `json:"choice"`
	By     string         `json:"by,omitempty"` // how it was given: terminal, command line, policy
}

// ResumedPayload is what a resumption changes of a run's limits.
type ResumedPayload struct {
	Limits *runplan.RunLimits `json:"limits,omitempty"` // nil: they stay
}

// CompletedPayload ends a run well.
type CompletedPayload struct {
	Result   string          `json:"status"` // pass, checked, pass_with_issues or unreviewed
	Commit   gitstore.ID     `json:"commit"`
	Open     []reply.Finding `json:"accepted_findings,omitempty"`
	Requests []string        `json:"accepted_requests,omitempty"` // where there are no findings
	By       string          `json:"accepted_by,omitempty"`       // who accepted what is open; "" when nobody had to
}

// FromPeople is what people said and did since the run began, for prompts.
func (r Run) FromPeople() []string {
	var lines []string
	for _, iv := range r.Interventions {
		lines = append(lines, iv.words()...)
	}
	return lines
}

// HasTaken reports whether e is recorded already.
func (r Run) HasTaken(e Evidence) bool {
	known := func(k Evidence) bool { return k.File == e.File && k.WrittenAt.Equal(e.WrittenAt) }
	return slices.ContainsFunc(r.Interventions, func(iv Intervention) bool { return slices.ContainsFunc(iv.Evidence, known) })
}

// Span is the pair of commits that a span of attempts means: "" is from the run's
// base to its head, "1..2" from what attempt 1 left to what attempt 2 left, 0 the base.
func (r Run) Span(span string) (from, to gitstore.ID, err error) {
	if span == "" {
		return r.Plan.Base, r.Head(), nil
	}
	var a, b int
	if n, err := fmt.Sscanf(span, "%d..%d", &a, &b); n != 2 || err != nil {
		return "", "", fmt.Errorf("%q is no span of attempts such as 1..2", span)
	}
	if from, err = r.after(a); err != nil {
		return "", "", err
	}
	to, err = r.after(b)
	return from, to, err
}

func (r Run) after(number int) (gitstore.ID, error) {
	if number == 0 {
		return r.Plan.Base, nil
	}
	for _, a := range r.Attempts {
		if a.Number != number {
			continue
		}
		if a.Commit == "" {
			return a.From, nil // it changed nothing
		}
		return a.Commit, nil
	}
	return "", fmt.Errorf("run %s has %d attempts, not attempt %d", r.ID, len(r.Attempts), number)
}

// NotProved are the checks that the stop suggested and that nobody has run since.
func (r Run) NotProved() []runplan.Check {
	if r.Stop == nil || !ReasonOf(r.Stop.Reason).Judge {
		return nil
	}
	var missing []runplan.Check
	for _, c := range r.Plan.Checks {
		ran := slices.ContainsFunc(r.News(), func(iv Intervention) bool {
			return slices.ContainsFunc(iv.Commands, func(done CheckResult) bool { return done.Command == c.Command }) ||
				slices.ContainsFunc(iv.Evidence, func(e Evidence) bool { return e.Counts() && e.Command == c.Command })
		})
		if slices.Contains(r.Stop.Commands, c.Command) && !ran {
			missing = append(missing, c)
		}
	}
	return missing
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

// Elsewhere is another clone's run: what puts back files and refs there is nothing to type
// here.
func (r Run) Elsewhere() Run {
	if r.Stop != nil {
		stop := *r.Stop
		stop.Undo = nil
		r.Stop = &stop
	}
	r.Attempts = slices.Clone(r.Attempts)
	for n := range r.Attempts {
		r.Attempts[n].Meanwhile = nil
	}
	return r
}
