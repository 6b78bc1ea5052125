package diagnose

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

var periodStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// counted returns the rows of a group of metrics, each with its name.
func counted(runs []record.Run, reviews []record.Review) func(group string) map[string]MetricRow {
	c := newCounter()
	for _, run := range runs {
		c.run(run, run.Status, nil)
	}
	for _, review := range reviews {
		c.review(review)
	}
	return rowsOf(Metrics{Groups: c.groups()})
}

func rowsOf(m Metrics) func(group string) map[string]MetricRow {
	return func(group string) map[string]MetricRow {
		rows := map[string]MetricRow{}
		for _, g := range m.Groups {
			for _, row := range g.Rows {
				if g.Name == group {
					rows[row.Name] = row
				}
			}
		}
		return rows
	}
}

func counts(rows map[string]MetricRow) map[string]int {
	n := map[string]int{}
	for name, row := range rows {
		n[name] = row.Count
	}
	return n
}

// rounds are n rounds with an answer, and took what is given.
func rounds(took ...time.Duration) []record.Round {
	var all []record.Round
	for i, d := range took {
		all = append(all, record.Round{Number: i + 1, Census: record.Census{SentLines: 1}, Duration: duration.Duration(d)})
	}
	return all
}

func TestMetricsOfRuns(t *testing.T) {
	failed := record.Round{Failure: &record.Failure{Reason: record.ReasonAgentTimeout}}
	rows := counted([]record.Run{
		{ID: "1", Status: record.RunCompleted, Result: "pass", Rounds: rounds(0), Landed: &record.Landed{}},
		{ID: "2", Status: record.RunCompleted, Result: "pass", Rounds: append(rounds(0, 0, 0), failed)},
		{ID: "3", Status: record.RunCompleted, Result: "pass_with_issues", Rounds: rounds(0, 0)}, // a person let it pass
		{ID: "4", Status: record.RunCompleted, Result: "pass"},                                   // without a review
		{ID: "5", Status: record.RunReviewing}, {ID: "6", Status: record.RunStopped}, {ID: "7", Status: record.RunRunning},
		{ID: "8", Status: record.RunSkipped}, {ID: "9", Status: record.RunAborted},
		{ID: "10", Status: record.RunCompleted, Result: "pass", Rounds: rounds(0, 0, 0, 0, 0, 0, 0)},
	}, nil)
	want := map[string]int{"completed": 5, "landed": 1, "stopped": 2, "skipped": 1, "aborted": 1, "running": 1}
	if got := counts(rows(metricRuns)); !reflect.DeepEqual(got, want) {
		t.Errorf("runs %v", got)
	}
	want = map[string]int{"1 round": 1, "3 rounds": 1, "5 rounds or more": 1}
	if got := counts(rows(metricRounds)); !reflect.DeepEqual(got, want) {
		t.Errorf("rounds to pass %v", got)
	}
}

// TestMetricsStops: a stop that was resumed from counts, one that came too late does not.
func TestMetricsStops(t *testing.T) {
	h := newHistory(t)
	h.add(0, record.EventRunStopped.Name, record.Stop{Reason: record.ReasonInterrupted}).add(0,
		record.EventRunResumed.Name, struct{}{})
	h.add(0, record.EventReviewLoopDetected.Name, record.Stop{Reason: record.ReasonReviewLoop}).add(0,
		record.EventRunIntervened.Name, record.Intervention{Reason: record.InterveneReviewLoop, By: "Ada"})
	h.add(0, record.EventRunResumed.Name, struct{}{}).add(0, record.EventRunStopped.Name,
		record.Stop{Reason: record.ReasonInterrupted}).add(0, record.EventRunStopped.Name,
		record.Stop{Reason: record.ReasonScope})
	m := NewMetrics(periodStart, h.events, all, recorded)
	i := slices.IndexFunc(m.Groups, func(g MetricGroup) bool { return g.Name == metricStops })
	if want := []MetricRow{{Name: record.ReasonInterrupted, Count: 2}, {Name: record.ReasonReviewLoop, Count: 1}}; i < 0 ||
		!slices.Equal(m.Groups[i].Rows, want) {
		t.Errorf("stops %+v", m.Groups)
	}
	if got := counts(rowsOf(m)(metricPeople)); !reflect.DeepEqual(got, map[string]int{record.InterveneReviewLoop: 1}) {
		t.Errorf("interventions %+v", got)
	}
}

func TestMetricsTimes(t *testing.T) {
	began := periodStart.Add(time.Hour)
	rows := counted([]record.Run{{
		Attempts: []record.Attempt{
			{StartedAt: began, EndedAt: began.Add(time.Minute)}, // no duration of its own
			{StartedAt: began, EndedAt: began.Add(time.Hour), Duration: ms(2_000)},
			{StartedAt: began}, // not finished
			{StartedAt: began, EndedAt: began.Add(-time.Hour)},
			{EndedAt: began},
		},
		Checks: []record.CheckRun{{Results: []record.CheckResult{{Duration: ms(1_000)}, {Duration: ms(500)},
			{Duration: -1}}}},
		Rounds: rounds(-time.Second, time.Second, 2*time.Second, 3*time.Second),
	}}, nil)(metricTime)
	for kind, want := range map[string]MetricRow{
		"implement": {Count: 4, P50: 0, P90: ms(60_000), Total: ms(62_000)},
		"check":     {Count: 1, P50: ms(1_500), P90: ms(1_500), Total: ms(1_500)},
		"review":    {Count: 4, P50: ms(1_000), P90: ms(3_000), Total: ms(6_000)},
	} {
		if want.Name = kind; rows[kind] != want {
			t.Errorf("%s %+v, want %+v", kind, rows[kind], want)
		}
	}
}

func TestMetricsFindings(t *testing.T) {
	again := reply.Finding{ID: "f-1", Severity: reply.Warning, File: "a.go", Rule: "todo"}
	run := record.Run{ID: "1", Rounds: rounds(0, 0)}
	run.Rounds[0].Report.Findings = []reply.Finding{again, {ID: "f-2", Severity: reply.Critical, File: "b.go"}}
	run.Rounds[1].Report.Findings = []reply.Finding{again, {Severity: reply.Note, Issue: "no id"},
		{Severity: reply.Note, Issue: "no id"}}
	review := record.Review{ID: "2", CreatedAt: periodStart,
		Submissions: []record.Submission{{Report: reply.Report{Findings: []reply.Finding{again}}}}}
	rows := counted([]record.Run{run}, []record.Review{review})
	for group, want := range map[string]map[string]int{
		metricFindings: {"critical": 1, "warning": 2, "note": 1}, metricRules: {"todo": 2},
		metricFiles: {"a.go": 2, "b.go": 1},
	} {
		if got := counts(rows(group)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s %v", group, got)
		}
	}
}

func TestMetricsOfReviews(t *testing.T) {
	submitted := func(after, resolved time.Duration, outcome record.Outcome) record.Review {
		r := record.Review{CreatedAt: periodStart, Status: record.ReviewSubmitted, SubmittedAt: periodStart.Add(after),
			Submissions: []record.Submission{{Outcome: outcome}}}
		if resolved != 0 {
			r.Status, r.ResolvedAt = record.ReviewResolved, r.SubmittedAt.Add(resolved)
		}
		return r
	}
	rows := counted(nil, []record.Review{
		submitted(time.Minute, 0, record.OutcomePassed), submitted(time.Hour, 2*time.Hour, record.OutcomeFailed),
		submitted(-time.Hour, -time.Hour, record.OutcomeNothing),
		{CreatedAt: periodStart, Status: record.ReviewOpen, Failure: &record.Failure{}},
		{CreatedAt: periodStart, Status: record.ReviewCancelled},
	})
	want := map[string]int{"requested": 5, "submitted": 3, "resolved": 2, "open": 1, "cancelled": 1, "failed": 1,
		"passed": 1, "did not pass": 1, "saw nothing": 1}
	if got := counts(rows(metricReviews)); !reflect.DeepEqual(got, want) {
		t.Errorf("reviews %v", got)
	}
	for name, want := range map[string]MetricRow{
		"until submitted": {Count: 3, P50: ms(60_000), P90: ms(3_600_000), Total: ms(3_660_000)},
		"until resolved":  {Count: 2, P90: ms(7_200_000), Total: ms(7_200_000)},
	} {
		if want.Name = name; rows(metricTime)[name] != want {
			t.Errorf("%+v, want %+v", rows(metricTime)[name], want)
		}
	}
}

func TestMetricsOfNothing(t *testing.T) {
	m := NewMetrics(periodStart, nil, nil, nil)
	if got := m.Text(); got != "No runs or reviews since 2026-01-01 00:00.\n" {
		t.Errorf("text %q", got)
	}
	if body, err := json.Marshal(m); err != nil || !strings.Contains(string(body), `"groups":[]`) {
		t.Errorf("%s, %v", body, err)
	}
}

func TestMetricsText(t *testing.T) {
	golden(t, "metrics.txt", NewMetrics(periodStart, wholeRun(t).Events, all, recorded).Text())
}

func TestRank(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for _, p := range []int{50, 90} {
			if got, want := rank(n, p), int(math.Ceil(float64(n)*float64(p)/100))-1; got != want {
				t.Errorf("rank(%d, %d) = %d, want %d", n, p, got, want)
			}
		}
	}
}

// TestMetricsOfWhatIsKept: only chosen runs and reviews count, and none whose first event is missing.
func TestMetricsOfWhatIsKept(t *testing.T) {
	events := newHistory(t).add(0, record.EventRunAborted.Name, struct{}{}).events
	other := newHistory(t).checks(1, "", 0).events[1]
	other.Run = "20260107120000-bbbbbb" // its start is not here
	review, _ := json.Marshal(record.ReviewRequest{Reviewer: "human"})
	events = append(events, other, record.Event{Type: record.EventReviewRequested.Name, Review: "20260107120000-cccccc",
		Payload: review, ID: gitstore.ID("e")})
	rows := rowsOf(NewMetrics(periodStart, events, all, recorded))
	if runs, reviews := counts(rows(metricRuns)), counts(rows(metricReviews)); runs["aborted"] != 1 || len(runs) != 1 ||
		reviews["requested"] != 1 {
		t.Errorf("runs %+v, reviews %+v", runs, reviews)
	}
	rows = rowsOf(NewMetrics(periodStart, events, func(id string) bool { return id != runID }, recorded))
	if len(rows(metricRuns)) != 0 || len(rows(metricReviews)) == 0 {
		t.Errorf("%+v", rows(metricRuns))
	}
}

// all keeps every run and review.
func all(string) bool { return true }

// TestMetricsWithoutChecks: a check step of a run that has no checks took no time.
func TestMetricsWithoutChecks(t *testing.T) {
	rows := counted([]record.Run{{Checks: []record.CheckRun{{Attempt: 1}}}}, nil)(metricTime)
	if row, ok := rows[phaseCheck]; ok {
		t.Errorf("%+v", row)
	}
}

// recorded is the status of a run that the test's clone does not carry out.
func recorded(run record.Run) record.RunStatus { return run.Status }
