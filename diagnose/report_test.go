package diagnose

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

const (
	baseCommit  = gitstore.ID("ba5e000000000000000000000000000000000000")
	firstWork   = gitstore.ID("aaaa100000000000000000000000000000000000")
	secondWork  = gitstore.ID("bbbb200000000000000000000000000000000000")
	personsWork = gitstore.ID("cccc300000000000000000000000000000000000")
)

// history builds a run's events, one after the other.
type history struct {
	t      *testing.T
	at     time.Time
	events []record.Event
}

func newHistory(t *testing.T) *history {
	h := &history{t: t, at: time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)}
	h.add(0, record.EventRunStarted.Name, runplan.Plan{
		Entity: runplan.Entity{Type: "task", Identifier: "T1", Title: "Add a thing"}, Base: baseCommit,
		Branch:      "runr/" + runID,
		Implementer: "impl", Reviewer: "rev", Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 2},
		Checks: []runplan.Check{{Name: "test", Command: "go test ./..."}, {Name: "lint", Command: "golint"}},
	})
	return h
}

// add appends an event that is recorded some time after the one before.
func (h *history) add(later time.Duration, eventType string, payload any) *history {
	h.t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		h.t.Fatal(err)
	}
	h.at = h.at.Add(later)
	n := len(h.events) + 1
	h.events = append(h.events, record.Event{
		V: 1, Clock: uint64(n), Writer: "0123456789ab", Timestamp: h.at, Type: eventType, Run: runID, Payload: body,
		ID: gitstore.ID(fmt.Sprintf("e%039d", n)), Actor: "Ada <ada@example.com>", Title: eventType + ": title",
	})
	return h
}

func (h *history) attempt(number int, mode record.AttemptMode, took time.Duration, from, commit gitstore.ID) *history {
	a := record.Attempt{Number: number, Step: "implement", Mode: mode, Agent: "impl", From: from}
	h.add(time.Second, record.EventAttemptStarted.Name, a)
	a.Commit, a.Files, a.Duration = commit, []string{"a.go", "b.go"}, duration.Duration(took)
	a.Unclaimed, a.Unchanged, a.Status = []string{"b.go"}, []string{"ghost.go"}, reply.ExecutorComplete
	return h.add(took, record.EventAttemptCompleted.Name, a)
}

func (h *history) checks(attempt int, on gitstore.ID, exit int) *history {
	result := record.CheckResult{Name: "test", Command: "go test ./...", ExitCode: exit, Tree: string(on),
		Duration: duration.Duration(10 * time.Second)}
	if exit != 0 {
		result.Said = "3 errors"
	}
	return h.add(10*time.Second, record.EventChecksCompleted.Name,
		record.CheckRun{Step: "check", Attempt: attempt, Tree: on, Results: []record.CheckResult{result}})
}

func (h *history) round(number, attempt int, verdict reply.Verdict, findings ...reply.Finding) *history {
	return h.add(90*time.Second, record.EventRoundCompleted.Name, record.Round{
		Number: number, Attempt: attempt, Reviewer: "rev",
		Report:   reply.Report{Verdict: verdict, Effective: verdict, Findings: findings},
		Census:   record.Census{Files: 2, Lines: 12, SentFiles: 2, SentLines: 12},
		Duration: duration.Duration(90 * time.Second),
	})
}

func (h *history) input() ReportInput {
	run, bad := record.FoldRun(h.events)
	if len(bad) > 0 {
		h.t.Fatalf("fold: %v", bad)
	}
	return ReportInput{Run: run, Events: h.events}
}

var wrong = reply.Finding{ID: "f-1", Severity: reply.Critical, File: "a.go", Line: 3, Issue: "It is all wrong"}

// wholeRun goes round twice, stops, is helped by a person, passes and lands.
func wholeRun(t *testing.T) ReportInput {
	h := newHistory(t)
	h.attempt(1, record.ModeImplement, 3*time.Minute+12*time.Second, baseCommit, firstWork)
	h.checks(1, firstWork, 1)
	h.round(1, 1, reply.CriticalFail, wrong, reply.Finding{Severity: reply.Note, Issue: "a nit"})
	h.add(time.Second, record.EventAttemptReverted.Name, record.Reverted{Attempt: 1, Restored: []string{"a.go", "b.go"}})
	h.attempt(2, record.ModeReexecute, 500*time.Millisecond, baseCommit, secondWork)
	h.checks(2, secondWork, 0)
	h.round(2, 2, reply.NeedsFix, reply.Finding{ID: "f-2", Severity: reply.Warning, File: "a.go", Issue: "Say please"})
	h.add(time.Second, record.EventReviewLoopDetected.Name,
		record.Stop{Reason: record.ReasonReviewLoop, Round: 2, MaxRounds: 1, Detail: "the retries are used up",
			Unmet: []string{"Say please"}})
	h.add(2*time.Hour, record.EventRunIntervened.Name, record.Intervention{
		Number: 1, Reason: record.InterveneReviewLoop, Note: "said please", By: "Ada <ada@example.com>", Attempts: 2,
		Commit: personsWork, Files: []string{"a.go"},
		Commands: []record.CheckResult{
			{Name: "test", Command: "go test ./...", Tree: string(personsWork), Duration: duration.Duration(4 * time.Second)},
			{Command: "make docs", ExitCode: 2, Tree: string(personsWork)},
		},
	})
	h.add(time.Minute, record.EventRunResumed.Name, struct{}{})
	h.round(3, 2, reply.Pass)
	h.add(0, record.EventRunCompleted.Name, map[string]any{"status": "pass", "commit": personsWork})
	h.add(time.Hour, record.EventRunLanded.Name,
		record.Landed{Commit: personsWork, Onto: baseCommit, Branch: "main", Squash: true})
	in := h.input()
	in.Attempts = map[int][]gitstore.FileStat{
		1: {{Path: "a.go", Added: 12, Deleted: 3}, {Path: "b.go", Binary: true}},
		2: {{Path: "a.go", Added: 2}, {OldPath: "c.go", Path: "b.go", Added: 1, Deleted: 1}},
	}
	in.Changes = []gitstore.FileStat{{Path: "a.go", Added: 3, Deleted: 1}}
	in.Attachments = map[gitstore.ID][]string{
		h.events[3].ID: {"checks/test.log"}, h.events[11].ID: {"commands/1.log", "commands/2.log"},
	}
	return in
}

// golden compares got with a file; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}

func TestReportText(t *testing.T) { golden(t, "report.txt", NewReport(wholeRun(t)).Text()) }

func TestReportMarkdown(t *testing.T) { golden(t, "report.md", NewReport(wholeRun(t)).Markdown()) }

func TestReportTimes(t *testing.T) {
	r := NewReport(wholeRun(t))
	for what, pair := range map[string][2]duration.Duration{
		"implement": {r.Phases["implement"].Duration, ms(192_500)},
		"check":     {r.Phases["check"].Duration, ms(20_000)},
		"review":    {r.Phases["review"].Duration, ms(270_000)},
		"waiting":   {r.Waiting, ms(7_260_000)},
		// the rest: a second each of two starts, revert and stop
		"total": {r.Total, ms(192_500 + 20_000 + 270_000 + 7_260_000 + 4_000)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s took %s, want %s", what, time.Duration(pair[0]), time.Duration(pair[1]))
		}
	}
	if r.Phases["review"].Count != 3 || r.EndedAt.IsZero() || r.EndedAt != r.StartedAt.Add(time.Duration(r.Total)) {
		t.Errorf("%d reviews, from %s to %s", r.Phases["review"].Count, r.StartedAt, r.EndedAt)
	}
}

func ms(n int64) duration.Duration { return duration.Duration(n * int64(time.Millisecond)) }

func TestReportOutcome(t *testing.T) {
	r := NewReport(wholeRun(t))
	if r.Outcome != record.RunCompleted || r.Result != "pass" || r.Suggested != "" || r.Landed != personsWork ||
		r.Checkpoint != personsWork {
		t.Errorf("%s %s, next %s, landed %s, checkpoint %s", r.Outcome, r.Result, r.Suggested, r.Landed, r.Checkpoint)
	}
}

// TestReportEvidence: the newest result counts, wherever it was recorded.
func TestReportEvidence(t *testing.T) {
	in := wholeRun(t)
	r := NewReport(in)
	if len(r.Evidence) != 2 {
		t.Fatalf("evidence %+v", r.Evidence)
	}
	test, lint := r.Evidence[0], r.Evidence[1]
	if test.State != "ok" || test.Stale || test.Log != string(in.Events[11].ID)+":commands/1.log" {
		t.Errorf("test: %+v", test)
	}
	if lint.State != "never_run" || lint.Command != "golint" {
		t.Errorf("lint: %+v", lint)
	}
	in.Run.Interventions, in.Events = nil, in.Events[:11] // only what the check step said
	stale := NewReport(in).Evidence[0]
	if stale.State != "ok" || stale.Stale {
		t.Errorf("evidence on the run's head: %+v", stale)
	}
	in.Run.Attempts[1].Commit = personsWork
	if stale = NewReport(in).Evidence[0]; !stale.Stale {
		t.Errorf("evidence on an older commit: %+v", stale)
	}
	in.Events = in.Events[:5]
	if failed := NewReport(in).Evidence[0]; failed.State != "failed" || failed.Was != "exit 1 (3 errors)" ||
		failed.Log != string(in.Events[3].ID)+":checks/test.log" {
		t.Errorf("failed: %+v", failed)
	}
}

func TestReportJSONNames(t *testing.T) {
	body, err := json.Marshal(NewReport(wholeRun(t)))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"run_id", "checkpoint_sha", "total_duration_ms", "waiting_ms", "started_at", "ended_at", "phases", "outcome",
		"timeline", "evidence",
	} {
		if doc[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if doc["total_duration_ms"] != 7746500.0 {
		t.Errorf("total_duration_ms %v", doc["total_duration_ms"])
	}
}

func TestReportOfAStoppedRun(t *testing.T) {
	in := wholeRun(t)
	in.Events = in.Events[:11]
	in.Run, _ = record.FoldRun(in.Events)
	r := NewReport(in)
	first := record.ReasonOf(record.ReasonReviewLoop).Next[0]
	if r.StopReason != record.ReasonReviewLoop || r.Suggested != strings.ReplaceAll(first.Command, "RUN", runID) ||
		r.Waiting != 0 {
		t.Errorf("stop %q, suggested %q, waiting %d", r.StopReason, r.Suggested, r.Waiting)
	}
	if text := r.Text(); !strings.Contains(text, "STOPPED: review_loop_detected (round 2 of 2)") ||
		!strings.Contains(text, "unmet: Say please") {
		t.Errorf("text:\n%s", text)
	}
}

func TestReportSaysWhatComesNext(t *testing.T) {
	stopped := func(reason string) record.Run {
		return record.Run{ID: runID, Status: record.RunStopped, Stop: &record.Stop{Reason: reason}}
	}
	done := record.Run{ID: runID, Status: record.RunCompleted, Plan: runplan.Plan{Base: baseCommit},
		Attempts: []record.Attempt{{Commit: firstWork}}}
	nothing := done
	nothing.Attempts = nil
	inPlace := done
	inPlace.Plan.InPlace = true
	for _, test := range []struct {
		name, next string // the command's first word
		run        record.Run
		live       bool
	}{
		{"being carried out", "", record.Run{ID: runID, Status: record.RunRunning}, true},
		{"killed", "resume", record.Run{ID: runID, Status: record.RunRunning}, false},
		{"passed", "land", done, false},
		{"passed without a change", "", nothing, false},
		{"passed in place", "", inPlace, false},
		{"aborted", "", record.Run{ID: runID, Status: record.RunAborted, Stop: &record.Stop{Reason: record.ReasonScope}},
			false},
		{"untrusted", "trust", stopped(record.ReasonUntrusted), false},
		{"interrupted", "resume", stopped(record.ReasonInterrupted), false},
		{"checks", "intervene", stopped(record.ReasonChecksFailed), false},
		{"a reason that is not known", "log", stopped("later"), false},
	} {
		next := nextCommand(test.run, test.live)
		if test.next == "" && next != "" || !strings.HasPrefix(next+" ", "git runr "+test.next+" ") && test.next != "" {
			t.Errorf("%s: %q; want %s", test.name, next, test.next)
		}
	}
}

func TestReportOfAKilledRun(t *testing.T) {
	h := newHistory(t)
	h.add(time.Second, record.EventAttemptStarted.Name,
		record.Attempt{Number: 1, Mode: record.ModeImplement, Agent: "impl"})
	h.add(time.Hour, record.EventAttemptStarted.Name, record.Attempt{Number: 1, Mode: record.ModeImplement, Agent: "impl"})
	h.add(time.Minute, record.EventAttemptCompleted.Name,
		record.Attempt{Number: 1, Mode: record.ModeImplement, Agent: "impl", Commit: firstWork, Files: []string{"a.go"}})
	h.add(time.Second, record.EventAttemptStarted.Name, record.Attempt{Number: 2, Mode: record.ModeFix, Agent: "impl"})
	r := NewReport(h.input())
	var unfinished []bool
	for _, e := range r.Timeline {
		unfinished = append(unfinished, e.Unfinished())
	}
	if !slices.Equal(unfinished, []bool{false, true, false, true}) {
		t.Errorf("unfinished %v", unfinished)
	}
	if r.Phases["implement"].Duration != ms(60_000) || !r.EndedAt.IsZero() || r.Total != ms(3_662_000) {
		t.Errorf("implement %d, ended %s, total %d", r.Phases["implement"].Duration, r.EndedAt, r.Total)
	}
	text := r.Text()
	for _, part := range []string{"running, but no process on this machine",
		"attempt 1 (implement) by impl: 1 file, aaaa100 (1m)", "attempt 2 (fix) by impl: begun, not finished",
		"git runr resume " + runID} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestReportOfOneEvent(t *testing.T) {
	started := newHistory(t)
	if text := NewReport(started.input()).Text(); !strings.Contains(text, "+0s  started by Ada\n") ||
		!strings.Contains(text, "test: never run") {
		t.Errorf("started:\n%s", text)
	}
	h := newHistory(t).checks(1, firstWork, 0)
	r := NewReport(ReportInput{Events: h.events[1:]}) // the start is in a log that has not come
	if r.RunID != runID || r.Outcome != "unknown" || r.Suggested != "" || len(r.Timeline) != 1 {
		t.Errorf("without its start: %+v", r)
	}
	if text := r.Text(); !strings.Contains(text, "has not arrived") {
		t.Errorf("without its start:\n%s", text)
	}
}

// TestReportOfClocksThatDisagree: no duration is negative, and none overflows.
func TestReportOfClocksThatDisagree(t *testing.T) {
	h := newHistory(t)
	h.add(-time.Hour, record.EventAttemptStarted.Name, record.Attempt{Number: 1})
	h.add(-time.Hour, record.EventAttemptCompleted.Name,
		record.Attempt{Number: 1, Duration: duration.Duration(-time.Minute)})
	huge := duration.Duration(time.Duration(1<<63 - 1).Truncate(time.Millisecond))
	h.add(0, record.EventChecksCompleted.Name,
		record.CheckRun{Results: []record.CheckResult{{Name: "a", Duration: huge}, {Name: "b", Duration: huge},
			{Name: "c", Duration: -5}}})
	h.add(-time.Hour, record.EventRunStopped.Name, record.Stop{Reason: record.ReasonHuman})
	h.add(-time.Hour, record.EventRunResumed.Name, struct{}{})
	r := NewReport(h.input())
	all := []duration.Duration{r.Total, r.Waiting, r.Phases["implement"].Duration}
	for _, e := range r.Timeline {
		all = append(all, e.Offset, e.Duration)
	}
	for _, d := range all {
		if d < 0 {
			t.Errorf("a duration of %s", time.Duration(d))
		}
	}
}

func TestReportOfEventsThatDoNotCount(t *testing.T) {
	h := newHistory(t)
	h.add(0, record.EventRunAborted.Name, struct{}{})
	h.add(0, record.EventRunCompleted.Name, map[string]string{"status": "pass"})
	h.add(0, "of_a_newer_program", map[string]string{})
	h.add(0, record.EventChecksCompleted.Name, map[string]string{"results": "many"})
	run, _ := record.FoldRun(h.events)
	r := NewReport(ReportInput{Run: run, Events: h.events})
	var kinds []string
	for _, e := range r.Timeline {
		kinds = append(kinds, e.Kind)
	}
	if got := strings.Join(kinds, " "); got != "started aborted not_counted other not_counted" {
		t.Errorf("entries %s", got)
	}
	if r.Phases["check"].Count != 0 || r.Outcome != record.RunAborted {
		t.Errorf("%+v, %s", r.Phases, r.Outcome)
	}
	h = newHistory(t).add(0, record.EventChecksCompleted.Name, map[string]string{"results": "many"})
	run, _ = record.FoldRun(h.events)
	if r := NewReport(ReportInput{Run: run, Events: h.events}); r.Timeline[1].Kind != "unreadable" {
		t.Errorf("unreadable: %+v", r.Timeline)
	}
}

// TestNothingForeignGetsOutOfAReport: text is one line each and Markdown stays text.
func TestNothingForeignGetsOutOfAReport(t *testing.T) {
	hostile := "x\x1b[2J\n## owned\r\n- [click](http://e) <img src=x> @everyone #1 | `tick` \u202e*b*"
	h := newHistory(t)
	h.events[0].Payload, _ = json.Marshal(runplan.Plan{Entity: runplan.Entity{Title: hostile}, Base: gitstore.ID(hostile),
		Branch: hostile, Checks: []runplan.Check{{Name: hostile}}})
	h.add(0, record.EventAttemptStarted.Name, record.Attempt{Number: 1, Mode: record.AttemptMode(hostile), Agent: hostile})
	h.add(0, record.EventAttemptCompleted.Name, record.Attempt{
		Number: 1, Agent: hostile, Commit: gitstore.ID(hostile), Files: []string{hostile}, Unclaimed: []string{hostile},
		Unchanged: []string{hostile}, Warnings: []string{hostile},
	})
	h.add(0, record.EventChecksCompleted.Name,
		record.CheckRun{Results: []record.CheckResult{{Name: hostile, Command: hostile, Reason: hostile, Said: hostile}}})
	h.round(1, 1, reply.Verdict(hostile), reply.Finding{Severity: reply.Severity(hostile), File: hostile, Issue: hostile})
	h.add(0, record.EventRunStopped.Name, record.Stop{Reason: hostile, Detail: hostile, Unmet: []string{hostile}})
	h.add(0, record.EventRunIntervened.Name,
		record.Intervention{Reason: hostile, Note: hostile, By: hostile, Files: []string{hostile}})
	h.add(0, record.EventRunAnswered.Name, map[string]string{"choice": hostile, "by": hostile})
	h.add(0, "type "+hostile, map[string]string{})
	h.events[len(h.events)-1].Title = hostile
	r := NewReport(h.input())
	text, md := r.Text(), r.Markdown()
	for name, got := range map[string]string{"text": text, "markdown": md} {
		if strings.ContainsAny(got, "\x1b\r\u202e") || strings.Contains(got, "\n## owned") {
			t.Errorf("%s:\n%q", name, got)
		}
	}
	for _, markup := range []string{"[click](", "<img", "@everyone", "#1", " `tick", " *b*", " | \\`"} {
		if strings.Contains(md, markup) {
			t.Errorf("%q in:\n%s", markup, md)
		}
	}
}

func TestMarkdownShowsWhatItSays(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, (1) a/b.go:3": "plain text, (1) a/b.go:3",
		"+1 -2":                    `\+1 -2`,
		"- item":                   `\- item`,
		"1. item":                  "1.&#8203; item",
		"a_b*c":                    `a\_b\*c`,
		`C:\dir`:                   `C:\\dir`,
		"a|b":                      `a\|b`,
		"<b>&amp;":                 "&lt;b&gt;&amp;amp;",
		"see @bob and #12":         "see @&#8203;bob and #&#8203;12",
		"two\nlines":               "two lines",
	} {
		if got := markdown(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 340 * time.Millisecond: "340ms", 1400 * time.Millisecond: "1s", 59 * time.Second: "59s",
		192 * time.Second:           "3m12s",
		2*time.Hour + 3*time.Minute: "2h3m", 76 * time.Hour: "76h",
	} {
		if got := took(duration.Duration(d)); got != want {
			t.Errorf("%s is shown as %s, want %s", d, got, want)
		}
	}
}

// A landing that was taken back is in the timeline, and what comes next is to land.
func TestReportOfTakenBackLanding(t *testing.T) {
	h := newHistory(t)
	h.attempt(1, record.ModeImplement, time.Minute, baseCommit, firstWork)
	h.round(1, 1, reply.Pass)
	h.add(0, record.EventRunCompleted.Name, map[string]any{"status": "pass", "commit": firstWork})
	h.add(time.Hour, record.EventRunLanded.Name, record.Landed{Commit: firstWork, Onto: baseCommit, Branch: "main"})
	h.add(time.Hour, record.EventRunUnlanded.Name, record.Landed{Commit: firstWork, Onto: baseCommit, Branch: "main"})
	r := NewReport(h.input())
	last := r.Timeline[len(r.Timeline)-1]
	if last.Kind != "unlanded" || last.Title != "no longer landed as "+firstWork.Short()+" on main" || r.Landed != "" {
		t.Errorf("%+v, landed %q", last, r.Landed)
	}
	if r.Suggested != "git runr land "+runID {
		t.Errorf("next %q", r.Suggested)
	}
}
