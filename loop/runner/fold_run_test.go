package runner

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// workflow parses a list of step names. A name that begins with "check" or "review" sets that kind; any other step is
// an agent's.
func workflow(names string) []runplan.WorkStep {
	var steps []runplan.WorkStep
	for _, name := range strings.Fields(names) {
		step := runplan.WorkStep{Name: name, Kind: runplan.StepAgent}
		for _, kind := range []runplan.StepKind{runplan.StepCheck, runplan.StepReview} {
			if strings.HasPrefix(name, string(kind)) {
				step.Kind = kind
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// story collects the events of a run, described by one short line per event.
type story struct {
	t       testing.TB
	events  []record.Event
	attempt int
	tree    gitstore.ID // tree of the newest attempt
	rounds  int
}

// tell returns the events of a run: its start, and those that the lines describe.
//
//	implement | fix | re-execute | given   an attempt in that mode, started and completed; options:
//	    step=NAME tree=ID status=S failure=REASON unchanged (no file differs)
//	    denied=TOOL begun (not completed) redo (repeats the attempt's number)
//	    unclaimed (a file differs that the attempt does not list)
//	check ok | check fail                  options: step=NAME failure=REASON
//	asked                                   a person was asked for a review of the run
//	review VERDICT [ID=SEVERITY…]
//	    options: step=NAME failure=REASON nothing (no line was seen)
//	    partial (some lines were not seen) badcheck (with a failed check as evidence) unreadable
//	revert N [conflict] [left]             left: a file of the executor stays in the checkout
//	intervene [work] [ok] [fail]           work: with a person's commit; ok, fail: with commands that passed or failed
//	stop REASON | loop | answer CHOICE | complete RESULT | land | unland | abort | resume | unknown
func tell(t testing.TB, plan runplan.Plan, lines ...string) []record.Event {
	t.Helper()
	s := &story{t: t, tree: "tree-0"}
	s.add(record.EventRunStarted.Name, plan)
	for _, line := range lines {
		s.line(line)
	}
	return s.events
}

func (s *story) add(eventType string, what any) {
	e := runtest.EventAt(len(s.events)+1, eventType, what)
	e.Run = runtest.Run
	s.events = append(s.events, e)
}

// options splits a line's words into flags and NAME=VALUE pairs.
func options(words []string) (flags []string, values map[string]string) {
	values = map[string]string{}
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok {
			values[name] = value
		} else {
			flags = append(flags, w)
		}
	}
	return flags, values
}

func (s *story) line(line string) {
	s.t.Helper()
	words := strings.Fields(line)
	flags, values := options(words[1:])
	switch words[0] {
	case "implement", "fix", "re-execute", "given":
		s.attempted(record.AttemptMode(words[0]), flags, values)
	case "check":
		exit := map[string]int{"ok": 0, "fail": 1}[words[1]]
		run := record.CheckRun{Step: cmp.Or(values["step"], "check"), Attempt: s.attempt,
			Results: []record.CheckResult{{Name: "test", ExitCode: exit}}}
		if values["failure"] != "" {
			run.Results, run.Failure = nil, &record.Failure{Reason: values["failure"]}
		}
		s.add(record.EventChecksCompleted.Name, run)
	case "review":
		s.reviewed(reply.Verdict(words[1]), flags[1:], values)
	case "revert":
		s.reverted(flags)
	case "stop":
		s.add(record.EventRunStopped.Name, record.Stop{Reason: words[1]})
	case "loop":
		s.add(record.EventReviewLoopDetected.Name, record.Stop{Reason: record.ReasonReviewLoop, Round: s.rounds})
	case "answer":
		s.add(record.EventRunAnswered.Name, record.AnswerPayload{Choice: runplan.Choice(words[1])})
	case "complete":
		s.add(record.EventRunCompleted.Name, record.CompletedPayload{Result: words[1]})
	case "land":
		s.add(record.EventRunLanded.Name, record.Landed{Commit: "landed"})
	case "unland":
		s.add(record.EventRunUnlanded.Name, record.Landed{Commit: "landed"})
	case "abort":
		s.add(record.EventRunAborted.Name, struct{}{})
	case "resume":
		s.add(record.EventRunResumed.Name, struct{}{})
	case "intervene":
		s.intervened(flags)
	case "asked":
		s.add(record.EventReviewRequested.Name,
			record.ReviewRequest{Subject: record.Subject{Commit: "head"}, Reviewer: record.Human, Run: runtest.Run,
				Round: s.rounds + 1})
	case "unknown":
		s.add("of_a_newer_program", `{"later":true}`)
	default:
		s.t.Fatalf("no event for %q", line)
	}
}

func (s *story) attempted(mode record.AttemptMode, flags []string, values map[string]string) {
	if !slices.Contains(flags, "redo") {
		s.attempt++
	}
	a := record.Attempt{Number: s.attempt, Step: cmp.Or(values["step"], "implement"), Mode: mode, Agent: "imp",
		Files: []string{}}
	s.add(record.EventAttemptStarted.Name, a)
	if slices.Contains(flags, "begun") {
		return
	}
	a.Status = reply.ExecutorStatus(cmp.Or(values["status"], string(reply.ExecutorComplete)))
	if reason := values["failure"]; reason != "" {
		a.Failure = &record.Failure{Reason: reason, Detail: "so it said"}
	} else if !slices.Contains(flags, "unchanged") {
		s.tree = gitstore.ID(cmp.Or(values["tree"], fmt.Sprintf("tree-%d", s.attempt)))
		a.Files, a.Commit = []string{"a.go"}, gitstore.ID(fmt.Sprintf("commit-%d", s.attempt))
	}
	if slices.Contains(flags, "refutes") {
		a.Refutes = "the finding is wrong"
	}
	a.Denied = values["denied"]
	if slices.Contains(flags, "unclaimed") {
		a.Unclaimed = []string{"mine.go"}
	}
	a.Tree = s.tree
	s.add(record.EventAttemptCompleted.Name, a)
}

func (s *story) reviewed(verdict reply.Verdict, flags []string, values map[string]string) {
	s.rounds++
	report := reply.Report{Verdict: verdict, Findings: []reply.Finding{}}
	round := record.RoundPayload{Step: cmp.Or(values["step"], "review"),
		Round: record.Round{Number: s.rounds, Attempt: s.attempt, Reviewer: cmp.Or(values["by"], "rev"), Tree: s.tree,
			Commit: gitstore.ID(values["on"])}}
	for id, severity := range values {
		if strings.HasPrefix(id, "f-") {
			report.Findings = append(report.Findings, reply.Finding{ID: id, Severity: reply.Severity(severity), File: "f.go",
				Line: 1, Issue: "issue " + id})
		}
	}
	slices.SortFunc(report.Findings, func(a, b reply.Finding) int { return strings.Compare(a.ID, b.ID) })
	if slices.Contains(flags, "badcheck") {
		round.Checks = []record.CheckResult{{Name: "test", ExitCode: 1}}
	}
	report.Effective = reply.EffectiveVerdict(verdict, report.Findings, round.ChecksFailed())
	if slices.Contains(flags, "unreadable") {
		report.Format = reply.FormatUnreadable
	}
	round.Census = record.Census{Files: 1, Lines: 3, SentFiles: 1, SentLines: 3}
	if slices.Contains(flags, "partial") {
		round.Census.LeftOut = []record.LeftOut{{Path: "big.txt", Why: record.LeftTooLarge}}
	}
	switch {
	case values["failure"] != "":
		round.Failure, report = &record.Failure{Reason: values["failure"], Detail: "so it said"}, record.EmptyReport()
	case slices.Contains(flags, "nothing"):
		round.Census, report = record.Census{Files: 1, Lines: 3}, record.EmptyReport()
	}
	round.Report = report
	s.add(record.EventRoundCompleted.Name, round)
}

func (s *story) intervened(flags []string) {
	iv := record.Intervention{Reason: record.InterveneReviewLoop, Note: "did it", By: "Ada", Attempts: s.attempt,
		Files: []string{}, Commits: []gitstore.ID{}}
	if slices.Contains(flags, "work") {
		iv.Commit, iv.Tree = "by-ada", "tree-ada"
		s.tree = iv.Tree
	}
	if slices.Contains(flags, "lines") {
		iv.Lines = &record.Comment{File: "a.go", StartLine: 1, EndLine: 1}
	}
	for _, flag := range flags {
		if exit, known := map[string]int{"ok": 0, "fail": 1}[flag]; known {
			iv.Commands = append(iv.Commands, record.CheckResult{Command: "make test", ExitCode: exit})
		}
	}
	s.add(record.EventRunIntervened.Name, record.InterventionPayload{Intervention: iv, On: "by-ada"})
}

func (s *story) reverted(flags []string) {
	done := record.Reverted{Restored: []string{"a.go"}}
	fmt.Sscan(flags[0], &done.Attempt)
	if slices.Contains(flags, "conflict") {
		done.Restored, done.Conflicts = nil, []string{"a.go"}
	}
	if slices.Contains(flags, "left") {
		done.Left = []string{"a.go"}
	}
	s.add(record.EventAttemptReverted.Name, done)
}

func foldRun(t testing.TB, events []record.Event) record.Run {
	t.Helper()
	run, bad := record.FoldRun(events)
	if len(bad) > 0 {
		t.Fatalf("unreadable: %v", bad)
	}
	return run
}

// TestRunEnds: a run completes only after a passed review; otherwise it waits for a person's decision, or is stopped.
func TestRunEnds(t *testing.T) {
	for _, test := range []struct {
		steps, lines string
		status       record.RunStatus
		result       string
	}{
		{"implement check review", "implement", record.RunRunning, ""},
		{"implement check review", "implement; check ok; review PASS", record.RunRunning, ""},
		{"implement check review", "implement; check ok; review PASS; complete pass", record.RunCompleted, "pass"},
		{"implement review", "implement; review NEEDS_FIX; loop", record.RunReviewing, "abort"},
		{"implement review", "implement; review NEEDS_FIX; stop review_loop_detected", record.RunReviewing, "abort"},
		{"review", "review NEEDS_FIX; stop review_not_passed", record.RunReviewing, "abort"},
		{"implement judgement-review", "implement; stop no_progress", record.RunStopped, "abort"},
		{"implement review", "implement; stop no_progress", record.RunReviewing, "abort"},
		{"implement review check", "implement; review NEEDS_FIX; loop", record.RunStopped, "abort"},
		{"implement review", "implement unchanged; stop no_change", record.RunStopped, "abort"},
		{"implement review", "implement; review PASS failure=agent_failed; stop agent_failed", record.RunStopped, "abort"},
		{"implement review", "implement; review PASS nothing; stop nothing_to_review", record.RunStopped, "abort"},
		{"implement review", "implement; review PASS failure=human_turn; stop human_turn", record.RunStopped, "abort"},
		{"implement review", "implement; stop of_a_newer_program", record.RunStopped, "abort"},
		{"implement review", "implement; review NEEDS_FIX; loop; answer commit; complete pass_with_issues",
			record.RunCompleted, "pass_with_issues"},
		{"implement review", "implement; review NEEDS_FIX; answer commit; complete pass_with_issues", record.RunCompleted,
			"pass_with_issues"},
		{"implement review", "implement; review NEEDS_FIX; loop; answer skip", record.RunSkipped, "skipped"},
		{"implement review", "implement; review NEEDS_FIX; answer skip", record.RunSkipped, "skipped"},
		{"implement review", "implement; review NEEDS_FIX; answer skip; abort", record.RunAborted, "abort"},
		{"implement review", "implement; review NEEDS_FIX; loop; resume", record.RunRunning, ""},
		{"implement review", "implement; stop interrupted; resume", record.RunRunning, ""},
		{"implement review", "implement begun; abort", record.RunAborted, "abort"},
		{"implement review", "implement; unknown", record.RunRunning, ""},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow(test.steps)
		run := foldRun(t, tell(t, plan, strings.Split(test.lines, "; ")...))
		if run.Status != test.status || run.Result != test.result || len(run.Lost) > 0 {
			t.Errorf("%s: %s: %q with result %q, lost %v, want %q, %q", test.steps, test.lines, run.Status, run.Result, run.Lost,
				test.status, test.result)
		}
		if run.Done() != (test.status != record.RunRunning) {
			t.Errorf("%s: done is %v", test.lines, run.Done())
		}
	}
}

// TestRunBelowThreshold: where warnings do not block, a run over a reviewer's refusal is no pass, whatever another
// reviewer or an older program says.
func TestRunBelowThreshold(t *testing.T) {
	for _, test := range []struct{ lines, result, verdict string }{
		{"implement; review NEEDS_FIX on=commit-1 f-1=warning; complete pass", record.ResultBelow, "NEEDS_FIX"},
		{"implement; review NEEDS_FIX on=commit-1 f-1=warning; review PASS on=commit-1 by=other; complete pass",
			record.ResultBelow, "NEEDS_FIX"},
		{"implement; review NEEDS_FIX on=commit-1 f-1=warning; review PASS on=commit-1; complete pass", record.ResultPass,
			"PASS"},
		{"implement; review PASS on=commit-1 f-1=warning; complete pass", record.ResultPass, "PASS_WITH_NOTES"},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow, plan.Policy.Threshold = workflow("implement review"), runplan.ThresholdCritical
		run := foldRun(t, tell(t, plan, strings.Split(test.lines, "; ")...))
		if run.Result != test.result || string(run.Summary().Verdict) != test.verdict {
			t.Errorf("%s: %q with verdict %q, want %q, %q", test.lines, run.Result, run.Summary().Verdict, test.result,
				test.verdict)
		}
	}
}

// TestPassThatNoReviewSaid: a run that another clone calls passed over its last review is not.
func TestPassThatNoReviewSaid(t *testing.T) {
	plan := runtest.Plan()
	plan.Policy.Workflow = workflow("implement review")
	for lines, status := range map[string]record.RunStatus{
		"implement; review NEEDS_FIX on=commit-1 f-1=warning; loop; complete pass":                record.RunReviewing,
		"implement; review NEEDS_FIX on=commit-1 f-1=warning; loop; answer commit; complete pass": record.RunCompleted,
		"implement; review PASS on=commit-1; complete pass":                                       record.RunCompleted,
	} {
		run := foldRun(t, tell(t, plan, strings.Split(lines, "; ")...))
		if run.Status != status || len(run.Lost) > 0 == (status == record.RunCompleted) {
			t.Errorf("%s: %s, lost %v, want %s", lines, run.Status, run.Lost, status)
		}
	}
}

// TestResumeForgetsTheAnswer: accepting the result of a run does not accept the result after the run is resumed.
func TestResumeForgetsTheAnswer(t *testing.T) {
	plan := runtest.Plan()
	run := foldRun(t, tell(t, plan, "implement", "check ok", "review NEEDS_FIX f-1=warning", "loop", "answer commit",
		"resume"))
	if run.Answer != "" || stepText(Next(run, plan.Policy)) != "attempt 2 fix at implement" {
		t.Errorf("answer %q, next %s", run.Answer, stepText(Next(run, plan.Policy)))
	}
}

// TestRunRefuses: events of a clone that did not know the run's state are refused.
func TestRunRefuses(t *testing.T) {
	for _, test := range []struct{ lines, late, says string }{
		{"implement; stop no_change", "fix", "stopped and cannot be continued"},
		{"implement; stop no_change", "check ok", "stopped and cannot be continued"},
		{"implement; stop no_change", "land", "stopped and cannot be landed"},
		{"implement; review NEEDS_FIX; loop", "review PASS", "stopped and cannot be continued"},
		{"implement; review PASS; complete pass", "resume", "completed and cannot be resumed"},
		{"implement; review PASS; complete pass; land", "abort", "landed and cannot be aborted"},
		{"implement; review PASS; complete pass", "answer skip", "completed and cannot be answered"},
		{"implement; review PASS; complete pass", "complete pass_with_issues", "is completed already"},
		{"implement; review NEEDS_FIX; loop; answer skip", "resume", "skipped and cannot be resumed"},
		{"abort", "resume", "aborted and cannot be resumed"},
		{"abort", "complete pass", "aborted and cannot be completed"},
		{"implement", "land", "running and cannot be landed"},
		{"implement; review PASS; complete pass; land", "land", "landed as landed and cannot be landed again"},
		{"implement; review PASS; complete pass", "unland", "not landed and cannot be taken back"},
		{"implement; review PASS; complete pass; land; unland", "unland", "not landed and cannot be taken back"},
	} {
		lines := strings.Split(test.lines, "; ")
		events := tell(t, runtest.Plan(), append(lines, test.late)...)
		cut := len(tell(t, runtest.Plan(), lines...))
		before, after := foldRun(t, events[:cut]), foldRun(t, events)
		if len(after.Lost) != len(events)-cut || after.Lost[0].Event != events[cut].ID ||
			!strings.HasSuffix(after.Lost[0].Why, test.says) {
			t.Errorf("%s; %s: lost %+v, want %q", test.lines, test.late, after.Lost, test.says)
		}
		after.Lost = nil
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s; %s: changed %+v to %+v", test.lines, test.late, before, after)
		}
	}
}

func TestRunStartsOnce(t *testing.T) {
	events := tell(t, runtest.Plan(), "implement")
	want := foldRun(t, events)
	if want.ID != runtest.Run || want.Plan.Entity.Title != "Add a thing" || want.Writer != runtest.OneWriter ||
		want.StartedBy != events[0].Actor {
		t.Errorf("run %+v", want)
	}
	other := runtest.Plan()
	other.Base = "elsewhere"
	again := tell(t, other)[0]
	early := tell(t, runtest.Plan(), "review PASS")[1]
	review := runtest.EventAt(9, record.EventReviewRequested.Name, record.ReviewRequest{})
	review.Review = runtest.Review
	for name, with := range map[string][]record.Event{
		"started twice":     append(slices.Clone(events), again),
		"before the start":  append([]record.Event{early}, events...),
		"event of a review": append(slices.Clone(events), review),
	} {
		if got := foldRun(t, with); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestRunReportsUnreadableEvents(t *testing.T) {
	for _, eventType := range []string{record.EventRunStarted.Name, record.EventAttemptStarted.Name,
		record.EventAttemptCompleted.Name, record.EventAttemptReverted.Name, record.EventChecksCompleted.Name,
		record.EventRoundCompleted.Name, record.EventRunStopped.Name, record.EventReviewLoopDetected.Name,
		record.EventRunAnswered.Name, record.EventRunCompleted.Name} {
		events := tell(t, runtest.Plan(), "implement")
		want := foldRun(t, events)
		broken := runtest.EventAt(9, eventType, `[]`)
		broken.Run = runtest.Run
		got, bad := record.FoldRun(append(events, broken))
		if len(bad) != 1 || !strings.Contains(bad[0].Error(), broken.ID.Short()) {
			t.Errorf("%s: reported %v", eventType, bad)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: an unreadable event changed the run: updated at %v, was %v", eventType, got.UpdatedAt, want.UpdatedAt)
		}
		if why := panics(func() { Next(got, got.Plan.Policy) }); why != nil {
			t.Errorf("%s: what comes next: %v", eventType, why)
		}
	}
}

func TestRunHead(t *testing.T) {
	for _, test := range []struct {
		lines, head, files string
		good               int
	}{
		{"unknown", "base", "", 0},
		{"implement begun", "base", "", 0},
		{"implement", "commit-1", "a.go", 1},
		{"implement unchanged", "base", "", 0},
		{"implement; review NEEDS_FIX; fix unchanged", "commit-1", "a.go", 1},
		{"implement; review NEEDS_FIX; fix failure=agent_failed", "commit-1", "a.go", 1},
		{"implement; review NEEDS_FIX; fix", "commit-2", "a.go", 2},
		{"implement; review CRITICAL; revert 1", "base", "", 0},
		{"implement; review NEEDS_FIX; fix; review CRITICAL; revert 2", "commit-1", "a.go", 1},
		{"implement; review CRITICAL; revert 1; re-execute", "commit-2", "a.go", 1},
	} {
		run := foldRun(t, tell(t, runtest.Plan(), strings.Split(test.lines, "; ")...))
		if string(run.Head()) != test.head || run.Commit != run.Head() || strings.Join(run.Files(), " ") != test.files ||
			len(run.GoodAttempts()) != test.good {
			t.Errorf("%s: head %s, commit %s, files %v, %d good attempts", test.lines, run.Head(), run.Commit, run.Files(),
				len(run.GoodAttempts()))
		}
	}
}

func TestRunAttemptTakenUpAgainIsOneAttempt(t *testing.T) {
	events := tell(t, runtest.Plan(), "implement begun", "implement redo")
	run := foldRun(t, events)
	if len(run.Attempts) != 1 || run.Attempts[0].EndedAt.IsZero() ||
		!run.Attempts[0].StartedAt.Equal(events[2].Timestamp) {
		t.Errorf("attempts %+v", run.Attempts)
	}
}

func TestRunResumeStartsTheCountersAfresh(t *testing.T) {
	run := foldRun(t, tell(t, runtest.Plan(), "implement", "review NEEDS_FIX", "fix", "review NEEDS_FIX", "loop", "resume",
		"fix", "review NEEDS_FIX"))
	if len(run.Rounds)-run.Since != 1 || len(run.Rounds) != 3 || run.Stop != nil || run.Answer != "" {
		t.Errorf("%d of %d rounds used, stop %v, answer %q", len(run.Rounds)-run.Since, len(run.Rounds), run.Stop, run.Answer)
	}
}

func TestRunLands(t *testing.T) {
	events := tell(t, runtest.Plan(), "implement", "review PASS", "complete pass", "land")
	run := foldRun(t, events)
	if run.Landed == nil || run.Landed.Commit != "landed" || !run.Landed.At.Equal(events[len(events)-1].Timestamp) ||
		run.Status != record.RunCompleted {
		t.Errorf("landed %+v, status %q", run.Landed, run.Status)
	}
	// After a landing is undone, the run can be landed again.
	lines := []string{"implement", "review PASS", "complete pass", "land", "unland"}
	before, after := foldRun(t, tell(t, runtest.Plan(), lines[:3]...)), foldRun(t, tell(t, runtest.Plan(), lines...))
	if after.Landed != nil || after.Status != before.Status || after.Commit != before.Commit || len(after.Lost) != 0 {
		t.Errorf("taken back: %+v", after)
	}
	if again := foldRun(t, tell(t, runtest.Plan(), append(lines, "land")...)); again.Landed == nil ||
		len(again.Lost) != 0 {
		t.Errorf("landed again: %+v", again)
	}
}

func TestRunOpen(t *testing.T) {
	plan := runtest.Plan()
	plan.Findings, plan.Requests = []reply.Finding{{ID: "f-plan"}}, []string{"from the review"}
	run := foldRun(t, tell(t, plan))
	if findings, asked := run.Open(); len(findings) != 1 || findings[0].ID != "f-plan" || len(asked) != 1 {
		t.Errorf("before the first round: %v, %v", findings, asked)
	}
	run = foldRun(t, tell(t, plan, "fix", "review NEEDS_FIX f-new=warning"))
	if findings, asked := run.Open(); len(findings) != 1 || findings[0].ID != "f-new" || len(asked) != 0 {
		t.Errorf("after it: %v, %v", findings, asked)
	}
}

// randomRunEvent returns a random event, which may make no sense at its place.
func randomRunEvent(rng *rand.Rand, clock int) record.Event {
	types := []string{
		record.EventAttemptStarted.Name, record.EventAttemptCompleted.Name, record.EventAttemptCompleted.Name,
		record.EventAttemptReverted.Name, record.EventChecksCompleted.Name, record.EventRoundCompleted.Name,
		record.EventRoundCompleted.Name, record.EventReviewLoopDetected.Name,
		record.EventRunStopped.Name, record.EventRunAnswered.Name, record.EventRunCompleted.Name, record.EventRunLanded.Name,
		record.EventRunUnlanded.Name, record.EventRunAborted.Name, record.EventRunResumed.Name, record.EventRunResumed.Name,
		record.EventRunStarted.Name, record.EventReviewSubmitted.Name, "newer",
	}
	payloads := []string{
		`{}`, `null`, ``, `[]`, `{"attempt":1,"step":"implement","mode":"implement","files":["a"],"commit":"c1","tree":"t1"}`,
		`{"attempt":2,"step":"implement","mode":"fix","files":[]}`, `{"attempt":1,"failure":{"reason":"agent_failed"}}`,
		`{"attempt":1,"restored":["a"]}`, `{"attempt":1,"conflicts":["a"]}`,
		`{"step":"check","results":[{"name":"t","exit_code":1}]}`,
		`{"round":1,"attempt":1,"step":"review","tree":"t1","census":{"sent_lines":1},"report":{"effective_verdict":"NEEDS_FIX","findings":[{"id":"f"}]}}`,
		`{"round":2,"attempt":1,"step":"review","census":{"sent_lines":1},"report":{"effective_verdict":"CRITICAL"}}`,
		`{"round":-1,"step":"nowhere","attempt":-3}`,
		`{"round":1,"step":"review","census":{"sent_lines":1},"report":{"effective_verdict":"PASS"}}`,
		`{"reason":"review_loop_detected"}`, `{"choice":"commit"}`, `{"choice":"skip"}`, `{"status":"pass"}`,
	}
	e := runtest.EventAt(clock, types[rng.IntN(len(types))], payloads[rng.IntN(len(payloads))])
	e.Run = runtest.Run
	if clock <= 2 {
		e = runtest.EventAt(clock, record.EventRunStarted.Name, randomPlan(rng))
		e.Run = runtest.Run
	}
	return e
}

func randomPlan(rng *rand.Rand) runplan.Plan {
	plan := runtest.Plan()
	workflows := []string{"implement check review", "review", "implement check", "check", "",
		"spec implement review check"}
	plan.Policy.Workflow = workflow(workflows[rng.IntN(len(workflows))])
	plan.Policy.MaxRetries = rng.IntN(4) - 1
	plan.Policy.Threshold = []runplan.Threshold{"", runplan.ThresholdWarning, runplan.ThresholdCritical}[rng.IntN(3)]
	if rng.IntN(4) == 0 {
		plan.Implementer = ""
	}
	if rng.IntN(4) == 0 {
		plan.Context = &runplan.Context{Commit: "given"}
	}
	return plan
}

func TestFoldRunDoesNotDependOnArrival(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	for i := range 300 {
		one, two := randomLogs(rng, func(clock int) record.Event { return randomRunEvent(rng, clock) })
		all := slices.Concat(one, two)
		want, wantBad := record.FoldRun(sorted(all...))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for name, events := range map[string][]record.Event{"one after two": slices.Concat(two, one), "shuffled": all} {
			got, bad := record.FoldRun(sorted(events...))
			if !reflect.DeepEqual(got, want) || fmt.Sprint(bad) != fmt.Sprint(wantBad) {
				t.Fatalf("seed %d, case %d, %s: %+v, want %+v", seed, i, name, got, want)
			}
		}
	}
}

// TestFoldRunAndNextNeverPanic: a foreign log may contain any events, and Next is called for every run.
func TestFoldRunAndNextNeverPanic(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 4))
	for i := range 5000 {
		events := tell(t, randomPlan(rng))
		for range rng.IntN(12) {
			events = append(events, randomRunEvent(rng, len(events)+2))
		}
		why := panics(func() {
			run, _ := record.FoldRun(events)
			Next(run, run.Plan.Policy)
			run.Summary()
		})
		if why != nil {
			t.Fatalf("seed %d, case %d: %v on %v", seed, i, why, strings.Join(described(events), "\n"))
		}
	}
}

// randomLogs returns the logs of two writers.
func randomLogs(rng *rand.Rand, of func(clock int) record.Event) (one, two []record.Event) {
	for writer, log := range map[string]*[]record.Event{runtest.OneWriter: &one, runtest.TwoWriter: &two} {
		clock := 0
		for range rng.IntN(15) {
			clock += rng.IntN(3) + 1
			e := of(clock)
			e.Writer = writer
			e.ID = gitstore.ID(writer) + e.ID
			*log = append(*log, e)
		}
	}
	return one, two
}

func sorted(events ...record.Event) []record.Event {
	events = slices.Clone(events)
	record.Sort(events)
	return events
}

// described returns the events for a failure's message.
func described(events []record.Event) []string {
	return each.Of(events, func(e record.Event) string { return e.Type + string(e.Payload) })
}

func panics(f func()) (why any) {
	defer func() { why = recover() }()
	f()
	return nil
}
