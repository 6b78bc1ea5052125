package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// topShown is the number of rules and files that are listed.
const topShown = 5

// Metrics summarises the runs and reviews of a period: the output of `git runr metrics --json` after "v":1. A run or
// review belongs to the period in which it began. Durations are in milliseconds, shares in percent; p50 and p90 are
// values that occurred (nearest rank).
type Metrics struct {
	Since         time.Time             `json:"since"`
	Until         time.Time             `json:"until"` // exclusive
	Runs          RunMetrics            `json:"runs"`
	Stops         []Tally               `json:"stops"` // by reason, including those of resumed runs
	Steps         map[string]TimeSpread `json:"steps"` // implement, check and review
	Findings      FindingMetrics        `json:"findings"`
	Interventions []Tally               `json:"interventions"` // by reason
	Reviews       ReviewMetrics         `json:"reviews"`
	Agents        spend.Spending        `json:"agents"` // usage of each agent's calls
}

// RunMetrics counts runs.
type RunMetrics struct {
	Total       int      `json:"total"`
	Ended       int      `json:"ended"` // all but the running ones
	Running     int      `json:"running"`
	Completed   int      `json:"completed"`
	Reviewing   int      `json:"reviewing"`
	Stopped     int      `json:"stopped"`
	Skipped     int      `json:"skipped"`
	Aborted     int      `json:"aborted"`
	Landed      int      `json:"landed"`
	FirstReview int      `json:"passed_at_first_review"`
	SuccessRate *float64 `json:"success_rate"`    // completed of ended; null if none has ended
	Rounds      Spread   `json:"rounds_to_pass"`  // of runs that a review passed
	PassedIn    []int    `json:"passed_in_round"` // how many of them passed in the first round, the second, …
	Attempts    Spread   `json:"attempts_per_run"`
}

// FindingMetrics counts findings, each once for a run or review, however often it came back.
type FindingMetrics struct {
	Total int `json:"total"`
	SeverityCounts
	Rules []Tally `json:"top_rules"`
	Files []Tally `json:"top_files"`
	Weeks []Week  `json:"weeks"` // weeks with findings, in order
}

// Week counts the findings of one week.
type Week struct {
	Begins   time.Time      `json:"begins"` // its Monday, UTC
	Findings int            `json:"findings"`
	Rules    map[string]int `json:"rules"` // findings by rule
}

// WeekOf returns the beginning of the week of t.
func WeekOf(t time.Time) time.Time {
	day := t.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// ReviewMetrics counts the reviews of the inbox.
type ReviewMetrics struct {
	Requested int        `json:"requested"`
	Open      int        `json:"open"`
	Submitted int        `json:"submitted"` // at any time, including those resolved since
	Resolved  int        `json:"resolved"`
	Cancelled int        `json:"cancelled"`
	Failed    int        `json:"failed"` // open, and the reviewer could not run
	Passed    int        `json:"passed"`
	NotPassed int        `json:"not_passed"`
	Nothing   int        `json:"nothing_to_review"`
	ToSubmit  TimeSpread `json:"time_to_submit"`  // from the request
	ToResolve TimeSpread `json:"time_to_resolve"` // from the submission
}

// Tally is how often something occurred.
type Tally struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Spread describes the distribution of numbers; all zero if there are none.
type Spread struct {
	Count int     `json:"count"`
	P50   int     `json:"p50"`
	P90   int     `json:"p90"`
	Max   int     `json:"max"`
	Mean  float64 `json:"mean"` // rounded to two decimals
}

// TimeSpread describes the distribution of durations; all zero if there are none.
type TimeSpread struct {
	Count int               `json:"count"`
	P50   duration.Duration `json:"p50_ms"`
	P90   duration.Duration `json:"p90_ms"`
	Max   duration.Duration `json:"max_ms"`
	Total duration.Duration `json:"total_ms"`
}

// NewMetrics counts the runs and reviews that began at or after since and before until.
func NewMetrics(since, until time.Time, runs []RunHistory, reviews []record.Review) Metrics {
	c := newCounter()
	m := Metrics{Since: since, Until: until}
	within := func(at time.Time) bool { return !at.Before(since) && at.Before(until) }
	for _, h := range runs {
		if within(h.Run.CreatedAt) {
			c.run(&m.Runs, h)
		}
	}
	for _, r := range reviews {
		if within(r.CreatedAt) {
			c.review(&m.Reviews, r)
		}
	}
	c.finish(&m)
	return m
}

// Empty reports whether there is nothing to count.
func (m Metrics) Empty() bool { return m.Runs.Total == 0 && m.Reviews.Requested == 0 }

// counter collects values until finish sorts them.
type counter struct {
	rounds, attempts                   []int
	steps                              map[string][]duration.Duration
	toSubmit, toResolve                []duration.Duration
	stops, interventions, rules, files map[string]int
	weeks                              map[time.Time]*Week
	seen                               map[string]bool // ids of findings
	findings                           FindingMetrics
	spending                           spend.Spending
}

func newCounter() *counter {
	return &counter{
		steps: map[string][]duration.Duration{}, stops: map[string]int{}, interventions: map[string]int{},
		rules: map[string]int{}, files: map[string]int{}, weeks: map[time.Time]*Week{}, seen: map[string]bool{}, spending: spend.Spending{},
	}
}

func (c *counter) run(m *RunMetrics, h RunHistory) {
	run := h.Run
	m.add(run)
	c.spending.Join(run.Spending)
	c.attempts = append(c.attempts, len(run.Attempts))
	if rounds := answeredRounds(run); run.Status == record.RunCompleted && run.Result == record.ResultPass && rounds > 0 {
		c.rounds = append(c.rounds, rounds)
		if rounds == 1 {
			m.FirstReview++
		}
	}
	for _, reason := range stopReasons(h) {
		c.stops[reason]++
	}
	for _, iv := range run.Interventions {
		c.interventions[oneLine(iv.Reason)]++
	}
	for _, a := range run.Attempts {
		if !a.EndedAt.IsZero() {
			c.steps[phaseImplement] = append(c.steps[phaseImplement], attemptTook(a))
		}
	}
	for _, turn := range run.Checks {
		total := duration.Duration(0)
		for _, result := range turn.Results {
			total = addDurations(total, max(0, result.Duration))
		}
		c.steps[phaseCheck] = append(c.steps[phaseCheck], total)
	}
	for _, round := range run.Rounds {
		c.steps[phaseReview] = append(c.steps[phaseReview], max(0, round.Duration))
		c.count("run "+run.ID, round.At, round.Report.Findings)
	}
}

func attemptTook(a record.Attempt) duration.Duration {
	if a.Duration > 0 {
		return a.Duration
	}
	if a.StartedAt.IsZero() {
		return 0
	}
	return between(a.StartedAt, a.EndedAt)
}

func (m *RunMetrics) add(run record.Run) {
	m.Total++
	m.Ended++
	switch run.Status {
	case record.RunRunning:
		m.Running++
		m.Ended--
	case record.RunCompleted:
		m.Completed++
	case record.RunReviewing:
		m.Reviewing++
	case record.RunSkipped:
		m.Skipped++
	case record.RunAborted:
		m.Aborted++
	default:
		m.Stopped++
	}
	if run.Landed != nil {
		m.Landed++
	}
}

// answeredRounds returns the number of rounds in which the reviewer saw something and answered.
func answeredRounds(run record.Run) int {
	n := 0
	for _, round := range run.Rounds {
		if round.Failure == nil && !round.Census.Nothing() {
			n++
		}
	}
	return n
}

// stopReasons returns the reasons of all stops of a run, including those after which it was resumed.
func stopReasons(h RunHistory) []string {
	lost := map[gitstore.ID]bool{}
	for _, l := range h.Run.Lost {
		lost[l.Event] = true
	}
	var reasons []string
	for _, e := range h.Events {
		if e.Type != record.EventRunStopped.Name && e.Type != record.EventReviewLoopDetected.Name || lost[e.ID] {
			continue
		}
		if stop, err := record.EventRunStopped.Payload(e); err == nil {
			reasons = append(reasons, oneLine(stop.Reason))
		}
	}
	return reasons
}

// count counts the findings at a time that a run or review did not have before.
func (c *counter) count(of string, at time.Time, findings []reply.Finding) {
	for _, f := range findings {
		key := of + "\x00" + cmp.Or(f.ID, string(f.Severity)+"\x00"+f.File+"\x00"+f.Issue)
		if c.seen[key] {
			continue
		}
		c.seen[key] = true
		c.findings.Total++
		c.findings.add(f.Severity)
		week := c.week(at)
		week.Findings++
		if f.Rule != "" {
			c.rules[oneLine(f.Rule)]++
			week.Rules[oneLine(f.Rule)]++
		}
		if f.File != "" {
			c.files[oneLine(f.File)]++
		}
	}
}

func (c *counter) week(at time.Time) *Week {
	begins := WeekOf(at)
	if c.weeks[begins] == nil {
		c.weeks[begins] = &Week{Begins: begins, Rules: map[string]int{}}
	}
	return c.weeks[begins]
}

func (c *counter) review(m *ReviewMetrics, r record.Review) {
	m.Requested++
	c.spending.Join(r.Spending)
	switch r.Status {
	case record.ReviewOpen:
		m.Open++
	case record.ReviewCancelled:
		m.Cancelled++
	case record.ReviewResolved:
		m.Resolved++
		c.toResolve = append(c.toResolve, between(r.SubmittedAt, r.ResolvedAt))
	}
	if r.Failure != nil {
		m.Failed++
	}
	if len(r.Submissions) == 0 {
		return
	}
	m.Submitted++
	c.toSubmit = append(c.toSubmit, between(r.CreatedAt, r.SubmittedAt))
	switch r.Outcome() {
	case record.OutcomePassed:
		m.Passed++
	case record.OutcomeFailed, record.OutcomePartial:
		m.NotPassed++
	case record.OutcomeNothing:
		m.Nothing++
	}
	c.count("review "+r.ID, r.SubmittedAt, r.Findings())
}

func (c *counter) finish(m *Metrics) {
	if m.Runs.Ended > 0 {
		rate := percentDown(m.Runs.Completed, m.Runs.Ended)
		m.Runs.SuccessRate = &rate
	}
	m.Runs.Rounds, m.Runs.Attempts = newSpread(c.rounds), newSpread(c.attempts)
	m.Runs.PassedIn = make([]int, m.Runs.Rounds.Max)
	for _, rounds := range c.rounds {
		m.Runs.PassedIn[rounds-1]++
	}
	m.Stops, m.Interventions = tallies(c.stops, 0), tallies(c.interventions, 0)
	m.Steps = map[string]TimeSpread{}
	for _, kind := range []string{phaseImplement, phaseCheck, phaseReview} {
		m.Steps[kind] = newTimeSpread(c.steps[kind])
	}
	m.Findings, m.Agents = c.findings, c.spending
	m.Findings.Rules, m.Findings.Files = tallies(c.rules, topShown), tallies(c.files, topShown)
	m.Findings.Weeks = []Week{}
	for _, begins := range slices.SortedFunc(maps.Keys(c.weeks), time.Time.Compare) {
		m.Findings.Weeks = append(m.Findings.Weeks, *c.weeks[begins])
	}
	m.Reviews.ToSubmit, m.Reviews.ToResolve = newTimeSpread(c.toSubmit), newTimeSpread(c.toResolve)
}

// tallies returns counts, highest first and then by name; limit 0 means all.
func tallies(counts map[string]int, limit int) []Tally {
	list := []Tally{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, Tally{Name: name, Count: counts[name]})
	}
	slices.SortStableFunc(list, func(a, b Tally) int { return cmp.Compare(b.Count, a.Count) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list
}

// rank returns the index of a percentile in n sorted values, by nearest rank.
func rank(n, percent int) int { return (n*percent+99)/100 - 1 }

func newSpread(values []int) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	sum, n := 0, len(values)
	for _, v := range values {
		sum += v
	}
	mean := (100*sum + n/2) / n
	return Spread{Count: n, P50: values[rank(n, 50)], P90: values[rank(n, 90)], Max: values[n-1], Mean: float64(mean) / 100}
}

func newTimeSpread(values []duration.Duration) TimeSpread {
	if len(values) == 0 {
		return TimeSpread{}
	}
	slices.Sort(values)
	n, total := len(values), duration.Duration(0)
	for _, v := range values {
		total = addDurations(total, v)
	}
	return TimeSpread{Count: n, P50: values[rank(n, 50)], P90: values[rank(n, 90)], Max: values[n-1], Total: total}
}
