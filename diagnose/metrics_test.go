package diagnose

import (
	"encoding/json"
	"fmt"
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

var (
	periodStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	periodEnd   = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
)

func measured(run record.Run) RunHistory {
	if run.CreatedAt.IsZero() {
		run.CreatedAt = periodStart.Add(time.Hour)
	}
	return RunHistory{Run: run}
}

// rounds returns one answered round per duration.
func rounds(took ...time.Duration) []record.Round {
	var all []record.Round
	for i, d := range took {
		all = append(all, record.Round{Number: i + 1, Census: record.Census{SentLines: 1}, Duration: duration.Duration(d)})
	}
	return all
}

func TestMetricsOfRuns(t *testing.T) {
	attempts := make([]record.Attempt, 3)
	failed := record.Round{Failure: &record.Failure{Reason: record.ReasonAgentTimeout}}
	m := NewMetrics(periodStart, periodEnd, []RunHistory{
		measured(record.Run{ID: "1", Status: record.RunCompleted, Result: "pass", Rounds: rounds(0), Attempts: attempts[:1], Landed: &record.Landed{}}),
		measured(record.Run{ID: "2", Status: record.RunCompleted, Result: "pass", Rounds: append(rounds(0, 0, 0), failed), Attempts: attempts[:3]}),
		measured(record.Run{ID: "3", Status: record.RunCompleted, Result: "pass_with_issues", Rounds: rounds(0, 0)}), // accepted by a person
		measured(record.Run{ID: "4", Status: record.RunCompleted, Result: "pass"}),                                   // without a review
		measured(record.Run{ID: "5", Status: record.RunReviewing}), measured(record.Run{ID: "6", Status: record.RunStopped}), measured(record.Run{ID: "7", Status: record.RunRunning}),
		measured(record.Run{ID: "8", Status: record.RunSkipped}), measured(record.Run{ID: "9", Status: record.RunAborted}),
	}, nil)
	r := m.Runs
	if r.Total != 9 || r.Ended != 8 || r.Completed != 4 || r.Landed != 1 || r.FirstReview != 1 || r.SuccessRate == nil || *r.SuccessRate != 50 {
		t.Errorf("runs %+v", r)
	}
	if r.Reviewing != 1 || r.Stopped != 1 || r.Running != 1 || r.Skipped != 1 || r.Aborted != 1 {
		t.Errorf("states %+v", r)
	}
	if want := (Spread{Count: 2, P50: 1, P90: 3, Max: 3, Mean: 2}); r.Rounds != want {
		t.Errorf("rounds to pass %+v", r.Rounds)
	}
	if !slices.Equal(r.PassedIn, []int{1, 0, 1}) {
		t.Errorf("passed in %v", r.PassedIn)
	}
	if want := (Spread{Count: 9, P50: 0, P90: 3, Max: 3, Mean: 0.44}); r.Attempts != want {
		t.Errorf("attempts %+v", r.Attempts)
	}
}

func TestMetricsPeriod(t *testing.T) {
	at := func(when time.Time) record.Run { return record.Run{ID: when.String(), CreatedAt: when} }
	m := NewMetrics(periodStart, periodEnd, []RunHistory{
		measured(at(periodStart.Add(-1))), measured(at(periodStart)), measured(at(periodEnd.Add(-1))), measured(at(periodEnd)),
	}, []record.Review{{CreatedAt: periodStart.Add(-1)}, {CreatedAt: periodStart}, {CreatedAt: periodEnd}})
	if m.Runs.Total != 2 || m.Reviews.Requested != 1 {
		t.Errorf("%d runs, %d reviews", m.Runs.Total, m.Reviews.Requested)
	}
}

// TestMetricsStops: a stop after which the run was resumed is counted; a stop that came too late is not.
func TestMetricsStops(t *testing.T) {
	h := newHistory(t)
	h.add(0, record.EventRunStopped.Name, record.Stop{Reason: record.ReasonInterrupted}).add(0, record.EventRunResumed.Name, struct{}{})
	h.add(0, record.EventReviewLoopDetected.Name, record.Stop{Reason: record.ReasonReviewLoop}).add(0, record.EventRunIntervened.Name, record.Intervention{Reason: record.InterveneReviewLoop, By: "Ada"})
	h.add(0, record.EventRunResumed.Name, struct{}{}).add(0, record.EventRunStopped.Name, record.Stop{Reason: record.ReasonInterrupted}).add(0, record.EventRunStopped.Name, record.Stop{Reason: record.ReasonScope})
	run, _ := record.FoldRun(h.events)
	m := NewMetrics(periodStart, periodEnd, []RunHistory{{Run: run, Events: h.events}}, nil)
	if want := []Tally{{record.ReasonInterrupted, 2}, {record.ReasonReviewLoop, 1}}; !slices.Equal(m.Stops, want) {
		t.Errorf("stops %+v", m.Stops)
	}
	if want := []Tally{{record.InterveneReviewLoop, 1}}; !slices.Equal(m.Interventions, want) {
		t.Errorf("interventions %+v", m.Interventions)
	}
}

func TestMetricsTimes(t *testing.T) {
	began := periodStart.Add(time.Hour)
	run := record.Run{
		Attempts: []record.Attempt{
			{StartedAt: began, EndedAt: began.Add(time.Minute)}, // without a recorded duration
			{StartedAt: began, EndedAt: began.Add(time.Hour), Duration: ms(2_000)},
			{StartedAt: began}, // not finished
			{StartedAt: began, EndedAt: began.Add(-time.Hour)},
		},
		Checks: []record.CheckRun{{Results: []record.CheckResult{{Duration: ms(1_000)}, {Duration: ms(500)}, {Duration: -1}}}},
		Rounds: rounds(-time.Second, time.Second, 2*time.Second, 3*time.Second),
	}
	m := NewMetrics(periodStart, periodEnd, []RunHistory{measured(run)}, nil)
	for kind, want := range map[string]TimeSpread{
		"implement": {Count: 3, P50: ms(2_000), P90: ms(60_000), Max: ms(60_000), Total: ms(62_000)},
		"check":     {Count: 1, P50: ms(1_500), P90: ms(1_500), Max: ms(1_500), Total: ms(1_500)},
		"review":    {Count: 4, P50: ms(1_000), P90: ms(3_000), Max: ms(3_000), Total: ms(6_000)},
	} {
		if m.Steps[kind] != want {
			t.Errorf("%s %+v, want %+v", kind, m.Steps[kind], want)
		}
	}
}

func TestMetricsFindings(t *testing.T) {
	again := reply.Finding{ID: "f-1", Severity: reply.Warning, File: "a.go", Rule: "todo"}
	run := measured(record.Run{ID: "1", Rounds: rounds(0, 0)})
	run.Run.Rounds[0].Report.Findings = []reply.Finding{again, {ID: "f-2", Severity: reply.Critical, File: "b.go"}}
	run.Run.Rounds[1].Report.Findings = []reply.Finding{again, {Severity: reply.Note, Issue: "no id"}, {Severity: reply.Note, Issue: "no id"}}
	sunday := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	run.Run.Rounds[0].At, run.Run.Rounds[1].At = sunday, sunday.Add(time.Second)
	review := record.Review{ID: "2", CreatedAt: periodStart, SubmittedAt: sunday, Submissions: []record.Submission{{Report: reply.Report{Findings: []reply.Finding{again}}}}}
	f := NewMetrics(periodStart, periodEnd, []RunHistory{run}, []record.Review{review}).Findings
	if f.Total != 4 || f.SeverityCounts != (SeverityCounts{Critical: 1, Warning: 2, Note: 1}) {
		t.Errorf("findings %+v", f)
	}
	if !slices.Equal(f.Rules, []Tally{{"todo", 2}}) || !slices.Equal(f.Files, []Tally{{"a.go", 2}, {"b.go", 1}}) {
		t.Errorf("rules %v, files %v", f.Rules, f.Files)
	}
	monday := time.Date(2026, 2, 23, 0, 0, 0, 0, time.UTC)
	if want := []Week{{monday, 3, map[string]int{"todo": 2}}, {monday.AddDate(0, 0, 7), 1, map[string]int{}}}; !reflect.DeepEqual(f.Weeks, want) {
		t.Errorf("weeks %v", f.Weeks)
	}
}

func TestMetricsOfReviews(t *testing.T) {
	submitted := func(after, resolved time.Duration, outcome record.Outcome) record.Review {
		r := record.Review{CreatedAt: periodStart, Status: record.ReviewSubmitted, SubmittedAt: periodStart.Add(after), Submissions: []record.Submission{{Outcome: outcome}}}
		if resolved != 0 {
			r.Status, r.ResolvedAt = record.ReviewResolved, r.SubmittedAt.Add(resolved)
		}
		return r
	}
	m := NewMetrics(periodStart, periodEnd, nil, []record.Review{
		submitted(time.Minute, 0, record.OutcomePassed), submitted(time.Hour, 2*time.Hour, record.OutcomeFailed), submitted(-time.Hour, -time.Hour, record.OutcomeNothing),
		{CreatedAt: periodStart, Status: record.ReviewOpen, Failure: &record.Failure{}}, {CreatedAt: periodStart, Status: record.ReviewCancelled},
	})
	r := m.Reviews
	if r.Requested != 5 || r.Submitted != 3 || r.Resolved != 2 || r.Open != 1 || r.Cancelled != 1 || r.Failed != 1 || r.Passed != 1 || r.NotPassed != 1 || r.Nothing != 1 {
		t.Errorf("reviews %+v", r)
	}
	if want := (TimeSpread{Count: 3, P50: ms(60_000), P90: ms(3_600_000), Max: ms(3_600_000), Total: ms(3_660_000)}); r.ToSubmit != want {
		t.Errorf("time to submit %+v", r.ToSubmit)
	}
	if want := (TimeSpread{Count: 2, P90: ms(7_200_000), Max: ms(7_200_000), Total: ms(7_200_000)}); r.ToResolve != want {
		t.Errorf("time to resolve %+v", r.ToResolve)
	}
}

func TestMetricsOfNothing(t *testing.T) {
	m := NewMetrics(periodStart, periodEnd, nil, nil)
	if got := m.Text(); got != "No runs or reviews from 2026-01-01 to 2026-02-01.\n" {
		t.Errorf("text %q", got)
	}
	body, err := json.Marshal(m)
	if err != nil || strings.Contains(string(body), "NaN") || !strings.Contains(string(body), `"success_rate":null`) || !strings.Contains(string(body), `"stops":[]`) {
		t.Errorf("%s, %v", body, err)
	}
	running := NewMetrics(periodStart, periodEnd, []RunHistory{measured(record.Run{Status: record.RunRunning})}, nil)
	if text := running.Text(); !strings.Contains(text, "1: 1 running") || strings.Contains(text, "success") {
		t.Errorf("one that runs:\n%s", text)
	}
}

func TestMetricsText(t *testing.T) {
	in := wholeRun(t)
	review := record.Review{ID: "2", CreatedAt: periodStart, Status: record.ReviewSubmitted, SubmittedAt: periodStart.Add(time.Minute), Submissions: []record.Submission{{
		Outcome: record.OutcomeFailed, Report: reply.Report{Findings: []reply.Finding{{ID: "f-9", Severity: reply.Warning, File: "a.go", Rule: "todo"}}},
	}}}
	m := NewMetrics(periodStart, periodEnd.Add(90*time.Minute), []RunHistory{{Run: in.Run, Events: in.Events}}, []record.Review{review})
	golden(t, "metrics.txt", m.Text())
}

// TestMetricsAreDeterministic: the order of the runs has no effect.
func TestMetricsAreDeterministic(t *testing.T) {
	var histories []RunHistory
	for i := range 20 {
		run := record.Run{ID: fmt.Sprint(i), Rounds: rounds(time.Duration(i) * time.Second)}
		run.Rounds[0].Report.Findings = []reply.Finding{{ID: "f", File: fmt.Sprintf("%d.go", i%7)}}
		histories = append(histories, measured(run))
	}
	want := NewMetrics(periodStart, periodEnd, histories, nil)
	slices.Reverse(histories)
	if got := NewMetrics(periodStart, periodEnd, histories, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n%+v", got, want)
	}
	if len(want.Findings.Files) != topShown {
		t.Errorf("files %+v", want.Findings.Files)
	}
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

func TestHistories(t *testing.T) {
	events := newHistory(t).add(0, record.EventRunAborted.Name, struct{}{}).events
	other := newHistory(t).checks(1, "", 0).events[1]
	other.Run = "20260107120000-bbbbbb" // its start is not here
	review, _ := json.Marshal(record.ReviewRequest{Reviewer: "human"})
	events = append(events, other, record.Event{Type: record.EventReviewRequested.Name, Review: "20260107120000-cccccc", Payload: review, ID: gitstore.ID("e")})
	runs, reviews := Histories(events, nil)
	if len(runs) != 1 || runs[0].Run.Status != record.RunAborted || len(runs[0].Events) != 2 || len(reviews) != 1 || reviews[0].Request.Reviewer != "human" {
		t.Errorf("runs %+v, reviews %+v", runs, reviews)
	}
	runs, reviews = Histories(events, func(id string) bool { return id != runID })
	if len(runs) != 0 || len(reviews) != 1 {
		t.Errorf("runs %+v, reviews %+v", runs, reviews)
	}
}
