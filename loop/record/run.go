package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
)

// HeadMoved returns the total move of HEAD while the run's agents worked in the user's checkout, or nil if HEAD
// is where it was.
func (r Run) HeadMoved() *HeadMove {
	moved := each.Where(r.Attempts, func(a Attempt) bool { return a.Moved != nil })
	if len(moved) == 0 {
		return nil
	}
	first, last := moved[0].Moved, moved[len(moved)-1].Moved
	whole := HeadMove{first.From, first.FromRef, last.To, last.ToRef}
	if whole.From == whole.To && whole.FromRef == whole.ToRef {
		return nil
	}
	return &whole
}

// Looked returns the most thorough look at the run's head, or "" if nobody looked.
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
	Result   string       `json:"result,omitempty"` // one of the constants below, skipped or abort
	Plan     runplan.Plan `json:"plan"`
	Position int          `json:"position"` // index of the next step of the workflow
	Attempts []Attempt    `json:"attempts"`
	Checks   []CheckRun   `json:"checks"`
	Rounds   []Round      `json:"rounds"`
	Stop     *Stop        `json:"stop,omitempty"`
	// Interventions lists what people did, oldest first.
	Interventions []Intervention `json:"interventions,omitempty"`
	Answer        runplan.Choice `json:"answer,omitempty"`      // a person's decision about a run that gave up
	AnsweredBy    string         `json:"answered_by,omitempty"` // who gave it
	ByPolicy      bool           `json:"by_policy,omitempty"`   // the workflow gave it, no person
	Landed        *Landed        `json:"landed,omitempty"`
	Asked         *Asked         `json:"asked,omitempty"` // the newest review that people were asked for
	Since         int            `json:"rounds_before"`   // rounds that no longer count because a person stepped in
	ChecksSince   int            `json:"checks_before"`   // likewise, check steps
	Commit        gitstore.ID    `json:"commit,omitempty"`
	StartedBy     string         `json:"started_by"`
	Writer        string         `json:"writer"`
	Audience      string         `json:"audience,omitempty"` // as Review.Audience
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Lost          []Lost         `json:"lost,omitempty"`
	Usage         spend.Usage    `json:"usage,omitzero"` // of all calls, including repeated attempts
	Spending      spend.Spending `json:"usage_by_agent,omitempty"`

	Last      string    `json:"-"` // type of the newest event that counted
	news      int       // interventions that no step has followed yet
	Began     time.Time `json:"-"` // when the run was started or last resumed
	sameStops stopCount
}

// Starter returns who started the run, and in whose log that is.
func (r Run) Starter() string { return Voice{Writer: r.Writer}.Of(r.StartedBy) }

// LastActivity returns when something last happened: when the agent that failed last wrote something, if known, else
// the time of the newest event.
func (r Run) LastActivity() time.Time {
	if failure := r.Failure(); failure != nil && !failure.LastActivity.IsZero() {
		return failure.LastActivity
	}
	return r.UpdatedAt
}

// News returns the interventions that no step has followed yet, oldest first.
func (r Run) News() []Intervention {
	return r.Interventions[len(r.Interventions)-r.news:]
}

// StoppedAlike returns how many times in a row the run stopped for the same reason without progress in between.
func (r Run) StoppedAlike() int { return r.sameStops.times }

// Name describes for people what the run works on.
func (r Run) Name() string { return cmp.Or(r.Plan.Entity.Name(), "run "+r.ID) }

// Done reports whether the run does nothing more unless somebody acts.
func (r Run) Done() bool { return r.Status != RunRunning }

// LastAttempt returns the newest attempt, or nil.
func (r *Run) LastAttempt() *Attempt { return last(r.Attempts) }

// LastRound returns the newest round, or nil.
func (r *Run) LastRound() *Round { return last(r.Rounds) }

// LastChecks returns the results of the newest check step, or nil.
func (r Run) LastChecks() *CheckRun { return last(r.Checks) }

func last[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// HasWork reports whether an attempt or an intervention left a commit that can be accepted.
func (r Run) HasWork() bool { return r.Head() != r.Plan.Base }

// WorkAway reports whether the run was imported and none of its work is in this repository.
func (r Run) WorkAway() bool { return r.Plan.Imported != "" && !r.HasWork() }

// Uncommitted returns the newest attempt if what it changed is in no commit and was not reverted, else nil.
func (r Run) Uncommitted() *Attempt {
	a := r.LastAttempt()
	if a == nil || a.Commit != "" || len(a.Files) == 0 || a.Reverted != nil || r.ByPeople(len(r.Attempts)) != "" {
		return nil
	}
	return a
}

// Head returns the commit that the run's branch points to.
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

// steps returns what the run changes up to each commit on its branch, oldest first. It returns nil if one of them is
// not recorded, as by an earlier version, or does not follow the one before. An attempt that was reverted is no step.
func (r Run) steps() (steps []string) {
	at := r.Plan.Base
	people := func(attempts int) {
		for _, iv := range r.Interventions {
			if iv.Attempts == attempts && iv.Commit != "" {
				steps, at = append(steps, iv.Change), iv.Commit
			}
		}
	}
	people(0)
	for i, a := range r.Attempts {
		if !a.undone() && a.Commit != "" {
			if a.From != at {
				return nil
			}
			steps, at = append(steps, a.Change), a.Commit
		}
		people(i + 1)
	}
	if slices.Contains(steps, "") {
		return nil
	}
	return steps
}

// RefusedStep is what a run changed up to a commit, which its reviewer did not pass before the run went on.
type RefusedStep struct {
	Commit   gitstore.ID   `json:"commit"`
	Change   string        `json:"change"` // as in Round
	Verdict  reply.Verdict `json:"verdict"`
	Reviewer string        `json:"reviewer"`
	Looked   Looked        `json:"looked"`
	At       time.Time     `json:"at"`
}

// refusedSteps returns the changes before the run's head that the newest round on them refused, newest first. What a
// person said is in the review that the person answered.
func (r Run) refusedSteps() (refused []RefusedStep) {
	known := map[string]bool{"": true}
	if last := r.LastRound(); last != nil {
		known[last.Change] = true
	}
	for _, round := range slices.Backward(r.Rounds) {
		if !round.said() || known[round.Change] {
			continue
		}
		known[round.Change] = true
		verdict := reply.EffectiveVerdict(round.Report.Verdict, round.Report.Findings, false) // whatever the checks say
		if round.Review == "" && !verdict.Passed() && round.Commit != r.Head() {
			refused = append(refused, RefusedStep{round.Commit, round.Change, verdict, round.Reviewer, round.Looked, round.At})
		}
	}
	return refused
}

// HeadTree returns the tree of Head, or "" if that is the run's base.
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

// ByPeople returns the commit that people made for the run after the given number of attempts, or "".
func (r Run) ByPeople(attempts int) gitstore.ID {
	for _, iv := range slices.Backward(r.Interventions) {
		if iv.Attempts == attempts && iv.Commit != "" {
			return iv.Commit
		}
	}
	return ""
}

// GoodAttempts returns the attempts whose work is part of the result, oldest first.
func (r Run) GoodAttempts() []Attempt {
	return each.Where(r.Attempts, func(a Attempt) bool { return !a.undone() && a.Commit != "" && a.Failure == nil })
}

// Files returns the paths that good attempts and people changed between the run's base and its head, in the order
// in which they were first changed.
func (r Run) Files() []string {
	seen, files := map[string]bool{}, []string{}
	for _, a := range r.GoodAttempts() {
		files = append(files, a.Files...)
	}
	for _, iv := range r.Interventions {
		if iv.Commit != "" {
			files = append(files, iv.Files...)
		}
	}
	return slices.DeleteFunc(files, func(f string) bool {
		known := seen[f]
		seen[f] = true
		return known
	})
}

// Asked is the review that a run requested from people. It is an ordinary review, linked to the run.
type Asked struct {
	Review string      `json:"review_id"`
	Commit gitstore.ID `json:"commit"` // the commit of the run's branch under review
	Round  int         `json:"round"`
}

// Counted reports whether the review called id has become a round of the run.
func (r Run) Counted(id string) bool {
	return slices.ContainsFunc(r.Rounds, func(round Round) bool { return round.Review == id })
}

// Outcome returns the result of a run that has done all its steps.
func (r Run) Outcome() string {
	switch round := r.lastSaid(); {
	case round == nil || round.Commit != r.Head():
		return ResultUnreviewed
	case r.Plan.Policy.Threshold == runplan.ThresholdCritical && !round.Report.Effective.Passed():
		return ResultBelow
	case r.Looked() == LookedRules || r.Looked() == LookedNames:
		return ResultChecked
	}
	return ResultPass
}

// NothingInTheWay reports whether a run completed with result has nothing left to fix.
func NothingInTheWay(result string) bool { return result == ResultPass || result == ResultChecked }

// Results of a completed run.
const (
	ResultPass       = "pass"             // an agent or a person passed it
	ResultChecked    = "checked"          // the built-in reviewer found nothing, and nobody else looked
	ResultWithIssues = "pass_with_issues" // a person accepted it
	ResultBelow      = "below_threshold"  // its reviewer asked for changes that its configuration does not wait for
	ResultUnreviewed = "unreviewed"       // its workflow has no review, or none after the last change
)

// ResultWords returns a result for people.
func ResultWords(result string) string {
	switch result {
	case ResultBelow:
		return "below the threshold of the configuration"
	case ResultWithIssues:
		return "accepted"
	}
	return result
}

// AnswerPayload is a person's decision on a run that gave up.
type AnswerPayload struct {
	Choice runplan.Choice `json:"choice"`
	By     string         `json:"by,omitempty"` // how it was given: terminal, command line or policy
}

// ResumedPayload holds the changes to a run's limits on resumption.
type ResumedPayload struct {
	Limits *runplan.RunLimits `json:"limits,omitempty"` // nil: unchanged
}

// CompletedPayload ends a run successfully.
type CompletedPayload struct {
	Result   string          `json:"status"` // one of the constants above
	Commit   gitstore.ID     `json:"commit"`
	Open     []reply.Finding `json:"accepted_findings,omitempty"`
	Requests []string        `json:"accepted_requests,omitempty"` // if there are no findings
	By       string          `json:"accepted_by,omitempty"`       // who accepted the open findings; "" if there were none
}

// FromPeople returns what people said and did since the run began, for prompts.
func (r Run) FromPeople() []string {
	return slices.Concat(each.Of(r.Interventions, Intervention.words)...)
}

// HasTaken reports whether e is recorded already.
func (r Run) HasTaken(e Evidence) bool {
	known := func(k Evidence) bool { return k.File == e.File && k.WrittenAt.Equal(e.WrittenAt) }
	return slices.ContainsFunc(r.Interventions, func(iv Intervention) bool {
		return slices.ContainsFunc(iv.Evidence, known)
	})
}

// Span returns the commits that a span of attempts names. "" is from the run's base to its head. "1..2" is from the
// result of attempt 1 to the result of attempt 2; 0 is the base.
func (r Run) Span(span string) (from, to gitstore.ID, err error) {
	if span == "" {
		return r.Plan.Base, r.Head(), nil
	}
	var a, b int
	if n, err := fmt.Sscanf(span, "%d..%d", &a, &b); n != 2 || err != nil {
		return "", "", fmt.Errorf("%q is not a span of attempts such as 1..2", span)
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
	if a, ok := each.First(r.Attempts, func(a Attempt) bool { return a.Number == number }); ok {
		return cmp.Or(a.Commit, a.From), nil // without a commit it changed nothing
	}
	return "", fmt.Errorf("run %s has %s, not attempt %d", r.ID, prose.Count(len(r.Attempts), "attempt"), number)
}

// NotProved returns the checks that the stop suggested and nobody has run since.
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

// stopCount counts how many times in a row a run stopped for one reason without progress.
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

// Elsewhere returns the run for display in another clone: without the commands that restore files and refs, which
// make sense only in its own clone.
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

// Tracked converts rounds of the run for package track, which follows requests over rounds. Files that a revert or a
// person changed count as changed between any two rounds.
func (r Run) Tracked(rounds []Round) []track.Round {
	people := slices.Concat(each.Of(r.Interventions, func(iv Intervention) []string { return iv.Files })...)
	tracked, before := make([]track.Round, len(rounds)), 0
	for i, round := range rounds {
		files := slices.Clone(people)
		for _, a := range r.Attempts {
			if a.Reverted != nil || before < a.Number && a.Number <= round.Attempt {
				files = append(files, a.Files...)
			}
		}
		before = round.Attempt
		tracked[i] = track.Round{Number: round.Number, By: round.Reviewer, Report: round.Report, Failed: round.Failure != nil,
			Changed: files}
	}
	return tracked
}

// lastSaid returns the newest round with a usable answer, or nil. Where warnings do not block, another reviewer's
// refusal of the same commit comes before a pass.
func (r *Run) lastSaid() *Round {
	said := each.Where(r.Rounds, Round.said)
	if r.Plan.Policy.Threshold != runplan.ThresholdCritical {
		return last(said)
	}
	for i, round := range slices.Backward(said) {
		again := func(later Round) bool { return later.Reviewer == round.Reviewer }
		if round.Commit == last(said).Commit && !round.Report.Effective.Passed() && !slices.ContainsFunc(said[i+1:], again) {
			return &round
		}
	}
	return last(said)
}

// Open returns the findings and requests of the newest usable review, or else those of the plan.
func (r Run) Open() ([]reply.Finding, []string) {
	if round := r.lastSaid(); round != nil {
		return round.Report.Findings, round.Report.Requests
	}
	return r.Plan.Findings, r.Plan.Requests
}

// SaidOf returns the newest round with a usable answer about a commit, or else about any, or nil.
func (r Run) SaidOf(commit gitstore.ID) *Round {
	for _, round := range slices.Backward(r.Rounds) {
		if round.said() && round.Commit == commit {
			return &round
		}
	}
	return r.lastSaid()
}

// Said returns the newest usable review in its reviewer's own words, or else the plan's.
func (r Run) Said() []reply.Words {
	if round := r.lastSaid(); round != nil {
		return []reply.Words{round.Words()}
	}
	return r.Plan.Said
}

// Requests returns what was asked for over the rounds of the run: see track.
func (r Run) Requests() []track.Request { return track.Requests(r.Tracked(r.Rounds)) }

// Failure returns why the agent that the run waited for last gave no answer, or why its checks do not count, or nil.
func (r Run) Failure() *Failure {
	if a := r.LastAttempt(); a != nil && r.Last == EventAttemptCompleted.Name {
		return a.Failure
	}
	if round := r.LastRound(); round != nil && r.Last == EventRoundCompleted.Name {
		return round.Failure
	}
	if checks := r.LastChecks(); checks != nil && r.Last == EventChecksCompleted.Name {
		return checks.Failure
	}
	return nil
}

// Failing returns the newest check results that count against the run's work.
func (r Run) Failing() []CheckResult {
	checks := r.LastChecks()
	if a := r.LastAttempt(); checks == nil || a != nil && checks.Attempt != a.Number {
		return nil
	}
	return checks.Failures()
}

// RunSummary is one line of a list of runs.
type RunSummary struct {
	ID       string         `json:"run_id"`
	Status   RunStatus      `json:"status"`
	Result   string         `json:"result,omitempty"`
	Reason   string         `json:"stop_reason,omitempty"`
	Entity   runplan.Entity `json:"entity"`
	Branch   string         `json:"branch"`
	Commit   gitstore.ID    `json:"commit,omitempty"`
	Attempts int            `json:"attempts"`
	Rounds   int            `json:"rounds"`
	Verdict  reply.Verdict  `json:"verdict,omitempty"`    // effective verdict of the newest round
	SaidAt   time.Time      `json:"verdict_at,omitzero"`  // when it was given
	Unread   bool           `json:"unreadable,omitempty"` // nobody could read what that round answered
	// Unseen are the run's commits that the newest round's reviewer did not see, and those as which they landed.
	Unseen    []gitstore.ID  `json:"unseen_commits,omitempty"`
	NotText   []string       `json:"not_text,omitempty"` // as in ReviewSummary
	Change    string         `json:"change,omitempty"`   // what the newest round saw, if that is a commit
	Steps     []string       `json:"steps,omitempty"`    // as from Run.steps
	Refused   []RefusedStep  `json:"refused,omitempty"`  // what the newest round did not see any more
	Landed    bool           `json:"landed"`
	LandedAs  *Landed        `json:"landed_as,omitempty"` // where it landed
	Base      gitstore.ID    `json:"base,omitempty"`      // the commit that its work began from
	Reviewer  string         `json:"reviewer,omitempty"`  // reviewer of the newest round
	Looked    Looked         `json:"looked,omitempty"`    // as from Run.Looked
	InPlace   bool           `json:"in_place,omitempty"`  // it worked in the checkout, so there is nothing to land
	Accepted  *Accepted      `json:"accepted,omitempty"`  // nil unless somebody accepted what no reviewer passed
	Usage     spend.Usage    `json:"usage,omitzero"`
	Spending  spend.Spending `json:"usage_by_agent,omitempty"`
	Writer    string         `json:"writer"`
	StartedBy string         `json:"started_by,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// Accepted says who accepted a run that no reviewer passed, and what was open.
type Accepted struct {
	By     string `json:"by"`
	Policy bool   `json:"by_policy,omitempty"` // the run's workflow did, no person
	Open   int    `json:"findings_open"`
	Asked  int    `json:"requests_open,omitempty"`     // requests that are not findings
	Unread bool   `json:"review_unreadable,omitempty"` // the newest review could not be read, and no finding is open
	// NoVerdict says that no reviewer answered, and that nothing was open before.
	NoVerdict bool `json:"no_verdict,omitempty"`
	// Failing names the checks that failed.
	Failing string `json:"checks_failed,omitempty"`
}

// String goes on from "accepted": "by Ann, with 1 open finding, while check test fails".
func (a Accepted) String() string {
	said := ", with " + prose.Count(a.Open, "open finding")
	switch asked := prose.Count(a.Asked, "open request"); {
	case a.Unread:
		said = ", although its review could not be read"
	case a.NoVerdict:
		said = ", without a verdict"
	case a.Asked > 0 && a.Open == 0:
		said = ", with " + asked
	case a.Asked > 0:
		said += " and " + asked
	case a.Open == 0 && a.Failing != "":
		said = ""
	}
	if a.Failing != "" {
		said += fmt.Sprintf(", while check %s fails", a.Failing)
	}
	return "by " + a.By + said
}

// Summary returns the run as one line of a list.
func (r Run) Summary() RunSummary {
	s := RunSummary{
		ID: r.ID, Status: r.Status, Result: r.Result, Entity: r.Plan.Entity, Branch: r.Plan.Branch, Commit: r.Commit,
		Attempts: len(r.Attempts), Rounds: len(r.Rounds), Landed: r.Landed != nil, InPlace: r.Plan.InPlace, Writer: r.Writer,
		Usage: r.Usage, Spending: r.Spending, Base: r.Plan.Base, Looked: r.Looked(), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, StartedBy: r.StartedBy,
	}
	s.Steps, s.Refused = r.steps(), r.refusedSteps()
	if r.Result == ResultWithIssues {
		findings, requests := r.Open()
		last := r.LastRound()
		unread := last != nil && last.Failure == nil && last.Report.Unreadable() && len(findings) == 0
		failed := each.Count(r.Rounds, func(round Round) bool { return round.Failure != nil })
		s.Accepted = &Accepted{cmp.Or(r.AnsweredBy, "a person"), r.ByPolicy, len(findings),
			len(reply.RequestsBeside(requests, findings)), unread,
			len(findings)+len(requests) == 0 && failed > 0 && failed == len(r.Rounds), CheckRun{Results: r.Failing()}.Failing()}
	}
	if r.Landed != nil {
		landed := *r.Landed
		landed.Carried = nil
		s.LandedAs = &landed
	}
	if r.Stop != nil {
		s.Reason = r.Stop.Reason
	}
	round := r.LastRound()
	if r.Result == ResultBelow {
		round = r.lastSaid()
	}
	if round != nil {
		s.Verdict, s.SaidAt, s.Reviewer = round.Report.Effective, round.At, round.Reviewer
		s.Unread = round.Report.Unreadable()
		s.Unseen, s.NotText = r.unseenAfter(*round), round.Census.NotText()
		if round.Commit == r.Commit || len(s.Steps) > 0 && s.Steps[len(s.Steps)-1] == round.Change {
			s.Change = round.Change
		}
	}
	return s
}

// unseenAfter returns the commits that the reviewer of the newest round did not see, where they are now. A squashed
// landing shows everything.
func (r Run) unseenAfter(newest Round) []gitstore.ID {
	unseen := slices.Clone(newest.Unseen)
	if r.Landed == nil || r.Landed.Squash {
		return unseen
	}
	for _, c := range r.Landed.Carried {
		if slices.Contains(newest.Unseen, c.From) {
			unseen = append(unseen, c.To)
		}
	}
	return unseen
}
