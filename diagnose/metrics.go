package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Metrics counts the results of the runs and reviews that began at Since or later. It is the output of `git runr
// metrics`, as text, as --json after "v":1, and on the page.
type Metrics struct {
	Since  time.Time      `json:"since"`
	Groups []MetricGroup  `json:"groups"` // those with rows
	Agents spend.Spending `json:"agents"` // usage of each agent's calls
}

// MetricGroup holds the rows of one subject.
type MetricGroup struct {
	Name string      `json:"name"`
	Rows []MetricRow `json:"rows"` // those that are not zero
}

// MetricRow counts how often something occurred and how long it took. P50 and P90 are durations that occurred (nearest
// rank), in milliseconds.
type MetricRow struct {
	Name  string            `json:"name"`
	Count int               `json:"count"`
	P50   duration.Duration `json:"p50_ms,omitzero"`
	P90   duration.Duration `json:"p90_ms,omitzero"`
	Total duration.Duration `json:"total_ms,omitzero"`
}

// The groups of metrics.
const (
	metricRuns, metricRounds, metricStops = "Runs", "Rounds to pass", "Stops"
	metricTime, metricFindings            = "Time", "Findings"
	metricRules, metricFiles              = "Rules with most findings", "Files with most findings"
	metricPeople, metricReviews           = "Interventions", "Reviews"
)

// metricGroups are the groups in order. Rows in a fixed order are named; the others begin with the highest count.
var metricGroups = []struct {
	name  string
	rows  []string
	limit int
}{
	{name: metricRuns, rows: []string{
		"completed", "landed", "stopped", "skipped", "aborted", "died", "running",
	}},
	{name: metricRounds, rows: []string{"1 round", "2 rounds", "3 rounds", "4 rounds", "5 rounds or more"}},
	{name: metricStops},
	{name: metricTime, rows: []string{phaseImplement, phaseCheck, phaseReview, "until submitted", "until resolved"}},
	{name: metricFindings, rows: []string{string(reply.Critical), string(reply.Warning), string(reply.Note)}},
	{name: metricRules, limit: 5},
	{name: metricFiles, limit: 5},
	{name: metricPeople},
	{name: metricReviews, rows: []string{
		"requested", "submitted", "passed", "by rules alone", "by the author alone", "did not pass",
		"saw nothing", "resolved", "open", "cancelled", "failed",
	}},
}

// Measure counts the runs and reviews that began at or after since.
func Measure(ctx context.Context, records *store.Store, since time.Time) (Metrics, error) {
	events, chosen, err := records.EventsOf(ctx, store.Filter{CreatedSince: since})
	if err != nil {
		return Metrics{}, err
	}
	now := func(run record.Run) record.RunStatus { return workspace.Status(records, run.Summary()) }
	return NewMetrics(since, events, func(id string) bool { return chosen[id] }, now), nil
}

// NewMetrics counts the runs and reviews whose ids keep selects, runs by their status now. events must be in order. A
// run or review whose first event is missing is left out.
func NewMetrics(since time.Time, events []record.Event, keep func(id string) bool,
	now func(record.Run) record.RunStatus) Metrics {
	c := newCounter()
	runs, reviews := map[string][]record.Event{}, map[string][]record.Event{}
	for _, e := range events {
		if e.Run != "" && keep(e.Run) {
			runs[e.Run] = append(runs[e.Run], e)
		}
		if e.Review != "" && keep(e.Review) {
			reviews[e.Review] = append(reviews[e.Review], e)
		}
	}
	for _, of := range runs {
		if run, _ := record.FoldRun(of); run.ID != "" {
			c.run(run, now(run), of)
		}
	}
	for _, of := range reviews {
		if review, _ := record.FoldReview(of); review.ID != "" {
			c.review(review)
		}
	}
	return Metrics{Since: since, Groups: c.groups(), Agents: c.spending}
}

// counter collects durations by group and row. Anything without a duration counts as zero.
type counter struct {
	values   map[string]map[string][]duration.Duration
	seen     map[string]bool // findings already counted: each counts once for a run or review
	spending spend.Spending
}

func newCounter() *counter {
	return &counter{values: map[string]map[string][]duration.Duration{}, seen: map[string]bool{},
		spending: spend.Spending{}}
}

func (c *counter) add(group, row string, took duration.Duration) {
	if c.values[group] == nil {
		c.values[group] = map[string][]duration.Duration{}
	}
	row = oneLine(row)
	c.values[group][row] = append(c.values[group][row], max(0, took))
}

func (c *counter) addIf(is bool, group, row string) {
	if is {
		c.add(group, row, 0)
	}
}

func (c *counter) run(run record.Run, status record.RunStatus, events []record.Event) {
	c.spending.Join(run.Spending)
	if status == record.RunReviewing { // to people it is stopped
		status = record.RunStopped
	}
	c.add(metricRuns, string(status), 0)
	c.addIf(run.Landed != nil, metricRuns, "landed")
	if n := answeredRounds(run); run.Status == record.RunCompleted && run.Result == record.ResultPass && n > 0 {
		rounds := metricGroups[1].rows
		c.add(metricRounds, rounds[min(n, len(rounds))-1], 0)
	}
	for _, reason := range stopReasons(run, events) {
		c.add(metricStops, reason, 0)
	}
	for _, iv := range run.Interventions {
		c.add(metricPeople, iv.Reason, 0)
	}
	for _, a := range run.Attempts {
		took := a.Duration
		if took <= 0 && !a.StartedAt.IsZero() {
			took = between(a.StartedAt, a.EndedAt)
		}
		if !a.EndedAt.IsZero() {
			c.add(metricTime, phaseImplement, took)
		}
	}
	for _, turn := range run.Checks {
		total := duration.Duration(0)
		for _, result := range turn.Results {
			total = addDurations(total, max(0, result.Duration))
		}
		if len(turn.Results) > 0 {
			c.add(metricTime, phaseCheck, total)
		}
	}
	for _, round := range run.Rounds {
		c.add(metricTime, phaseReview, round.Duration)
		c.findings("run "+run.ID, round.Report.Findings)
	}
}

// answeredRounds returns the number of rounds in which the reviewer saw something and answered.
func answeredRounds(run record.Run) int {
	return each.Count(run.Rounds, func(r record.Round) bool { return r.Failure == nil && !r.Census.Nothing() })
}

// stopReasons returns the reasons of all stops of a run, including those after which it was resumed.
func stopReasons(run record.Run, events []record.Event) (reasons []string) {
	lost := each.SetOf(run.Lost, func(l record.Lost) gitstore.ID { return l.Event })
	for _, e := range events {
		if e.Type != record.EventRunStopped.Name && e.Type != record.EventReviewLoopDetected.Name || lost[e.ID] {
			continue
		}
		if stop, err := record.EventRunStopped.Payload(e); err == nil {
			reasons = append(reasons, stop.Reason)
		}
	}
	return reasons
}

func (c *counter) findings(of string, findings []reply.Finding) {
	for _, f := range findings {
		key := of + "\x00" + cmp.Or(f.ID, string(f.Severity)+"\x00"+f.File+"\x00"+f.Issue)
		if c.seen[key] {
			continue
		}
		c.seen[key] = true
		severity := f.Severity
		if severity != reply.Critical && severity != reply.Warning {
			severity = reply.Note
		}
		c.add(metricFindings, string(severity), 0)
		c.addIf(f.Rule != "", metricRules, f.Rule)
		c.addIf(f.File != "", metricFiles, f.File)
	}
}

func (c *counter) review(r record.Review) {
	c.spending.Join(r.Spending)
	c.add(metricReviews, "requested", 0)
	c.addIf(r.Status == record.ReviewOpen, metricReviews, "open")
	c.addIf(r.Status == record.ReviewCancelled, metricReviews, "cancelled")
	c.addIf(r.Failure != nil, metricReviews, "failed")
	if r.Status == record.ReviewResolved {
		c.add(metricReviews, "resolved", 0)
		c.add(metricTime, "until resolved", between(r.SubmittedAt, r.ResolvedAt))
	}
	if len(r.Submissions) == 0 {
		return
	}
	c.add(metricReviews, "submitted", 0)
	c.add(metricTime, "until submitted", between(r.CreatedAt, r.SubmittedAt))
	switch r.Outcome() {
	case record.OutcomePassed:
		c.add(metricReviews, "passed", 0)
		c.addIf(r.Looked() == record.LookedRules, metricReviews, "by rules alone")
		c.addIf(r.Looked() == record.LookedAuthor, metricReviews, "by the author alone")
	case record.OutcomeFailed, record.OutcomePartial:
		c.add(metricReviews, "did not pass", 0)
	case record.OutcomeNothing:
		c.add(metricReviews, "saw nothing", 0)
	}
	c.findings("review "+r.ID, r.Findings())
}

func (c *counter) groups() []MetricGroup {
	groups := []MetricGroup{}
	for _, g := range metricGroups {
		values := c.values[g.name]
		names := g.rows
		if names == nil {
			names = slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(values))), func(a, b string) int {
				return cmp.Compare(len(values[b]), len(values[a]))
			})
		}
		if g.limit > 0 {
			names = names[:min(len(names), g.limit)]
		}
		group := MetricGroup{Name: g.name}
		for _, name := range names {
			if len(values[name]) > 0 {
				group.Rows = append(group.Rows, newRow(name, values[name]))
			}
		}
		if len(group.Rows) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

func newRow(name string, took []duration.Duration) MetricRow {
	slices.Sort(took)
	row := MetricRow{Name: name, Count: len(took), P50: took[rank(len(took), 50)], P90: took[rank(len(took), 90)]}
	for _, d := range took {
		row.Total = addDurations(row.Total, d)
	}
	return row
}

// rank returns the index of a percentile in n sorted values, by nearest rank.
func rank(n, percent int) int { return (n*percent+99)/100 - 1 }

// Took formats the durations of a row, or returns "" if it has none.
func (r MetricRow) Took() string {
	if r.Total == 0 {
		return ""
	}
	return fmt.Sprintf("p50 %s, p90 %s, total %s", took(r.P50), took(r.P90), took(r.Total))
}

// Text formats the metrics for a terminal.
func (m Metrics) Text() string {
	since := m.Since.Format("2006-01-02 15:04")
	if len(m.Groups) == 0 {
		return fmt.Sprintf("No runs or reviews since %s.\n", since)
	}
	var b strings.Builder
	safetext.Fprintf(&b, "Runs and reviews begun since %s\n", since)
	for _, g := range m.Groups {
		safetext.Fprintf(&b, "\n%s\n", g.Name)
		for _, row := range g.Rows {
			line := fmt.Sprintf("%6d  %-16s %s", row.Count, safetext.Name(row.Name), row.Took())
			safetext.Fprintf(&b, "%s\n", strings.TrimRight(line, " "))
		}
	}
	if len(m.Agents) > 0 {
		fmt.Fprint(&b, "\nAgents\n")
	}
	for _, agent := range m.Agents.Agents() {
		u := m.Agents[agent]
		line := fmt.Sprintf("%s: %s, %s", oneLine(agent), prose.Count(u.Calls, "call"), u)
		safetext.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, ", "))
	}
	return b.String()
}
