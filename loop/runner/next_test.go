package runner

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// stepText formats a step as one line, for tables.
func stepText(s Step) string {
	text := string(s.Action)
	switch s.Action {
	case DoAttempt:
		text = fmt.Sprintf("attempt %d %s at %s", s.Number, s.Mode, s.Work.Name)
	case DoChecks:
		text += " at " + s.Work.Name
	case DoReview:
		text += fmt.Sprintf(" %d at %s", s.Number, s.Work.Name)
	case DoRevert:
		text += fmt.Sprintf(" %d", s.Number)
	case DoStop, DoExhaust:
		text += " " + s.Reason
	}
	if s.Redo {
		text += " again"
	}
	if len(s.Repeated) > 0 {
		text += " " + strings.Join(s.Repeated, ",")
	}
	return text
}

type nextTest struct {
	name  string
	lines string // the events, in the format of tell
	want  string
}

// check folds the events and compares the next step.
func (test nextTest) check(t *testing.T, plan runplan.Plan) {
	t.Helper()
	var lines []string
	if test.lines != "" {
		lines = strings.Split(test.lines, "; ")
	}
	run := foldRun(t, tell(t, plan, lines...))
	if len(run.Lost) > 0 {
		t.Fatalf("%s: lost %v", test.name, run.Lost)
	}
	if got := stepText(Next(run, plan.Policy)); got != test.want {
		t.Errorf("%s:\n after %s\n next is %q, want %q", test.name, test.lines, got, test.want)
	}
}

func TestNext(t *testing.T) {
	for _, test := range []nextTest{
		{"first", "", "attempt 1 implement at implement"},
		{"then the checks", "implement", "checks at check"},
		{"then the review", "implement; check ok", "review 1 at review"},
		{"a failed check is for the review to weigh", "implement; check fail", "review 1 at review"},
		{"pass", "implement; check ok; review PASS", "complete"},
		{"pass with notes", "implement; check ok; review PASS_WITH_NOTES f-1=warning", "complete"},
		{"a stated pass with a critical finding", "implement; check ok; review PASS f-1=critical", "revert 1"},
		{"a stated pass with a failed check", "implement; check fail; review PASS badcheck", "attempt 2 fix at implement"},
		{"only warnings", "implement; check ok; review NEEDS_FIX f-1=warning", "attempt 2 fix at implement"},
		{"after the fix the checks again", "implement; check ok; review NEEDS_FIX f-1=warning; fix", "checks at check"},
		{"and the review", "implement; check ok; review NEEDS_FIX f-1=warning; fix; check ok", "review 2 at review"},
		{"critical", "implement; check ok; review CRITICAL f-1=critical", "revert 1"},
		{"critical in words alone", "implement; check ok; review CRITICAL", "revert 1"},
		{"critical beside warnings", "implement; check ok; review NEEDS_FIX f-1=warning f-2=critical", "revert 1"},
		{"reverted", "implement; check ok; review CRITICAL f-1=critical; revert 1", "attempt 2 re-execute at implement"},
		{"the newest attempt is reverted",
			"implement; check ok; review NEEDS_FIX f-1=warning; fix; check ok; review CRITICAL f-2=critical", "revert 2"},
		{"conflict", "implement; check ok; review CRITICAL f-1=critical; revert 1 conflict", "stop revert_conflict"},
		{"unknown events do not count", "implement; unknown; unknown", "checks at check"},
		{"an attempt that was begun", "implement begun", "attempt 1 implement at implement again"},
		{"a fix that was begun", "implement; check ok; review NEEDS_FIX f-1=warning; fix begun",
			"attempt 2 fix at implement again"},
		{"begun twice", "implement begun; implement redo begun", "attempt 1 implement at implement again"},
		{"taken up and ended", "implement begun; implement redo", "checks at check"},
		{"blocked", "implement status=failed", "stop implement_blocked"},
		{"blocked, with files", "implement status=failed tree=t", "stop implement_blocked"},
		{"checkpoint", "implement status=checkpoint", "stop checkpoint_reached"},
		{"a report that cannot be read is no reason to stop", "implement status=unknown", "checks at check"},
		{"the agent failed", "implement failure=agent_failed", "stop agent_failed"},
		{"the agent is a person", "implement failure=human_turn", "stop human_turn"},
		{"no change at all", "implement unchanged", "stop no_change"},
		{"a fix without a change", "implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged", "stop no_change"},
		{"a fix that refutes is heard", "implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged refutes",
			"checks at check"},
		{"and reviewed", "implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged refutes; check ok",
			"review 2 at review"},
		{"and may convince",
			"implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged refutes; check ok; review PASS", "complete"},
		{"or not", "implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged refutes; check ok; review NEEDS_FIX " +
			"f-1=warning", "attempt 3 fix at implement"},
		{"it is heard once",
			"implement; check ok; review NEEDS_FIX f-1=warning; fix unchanged refutes; check ok; review NEEDS_FIX " +
				"f-1=warning; fix unchanged refutes", "stop no_change"},
		{"a re-execution that refutes has nothing to show",
			"implement; check ok; review CRITICAL; revert 1; re-execute unchanged refutes", "stop no_change"},
		{"a re-execution without a change", "implement; check ok; review CRITICAL; revert 1; re-execute unchanged",
			"stop no_change"},
		{"the reviewer failed", "implement; check ok; review PASS failure=worker_call_timeout", "stop worker_call_timeout"},
		{"a check tampered", "implement; check ok failure=tampered", "stop tampered"},
		{"the reviewer wrote", "implement; check ok; review PASS failure=review_tampered", "stop review_tampered"},
		{"the reviewer is a person", "implement; check ok; review PASS failure=human_turn", "stop human_turn"},
		{"nothing to review", "implement; check ok; review PASS nothing", "stop nothing_to_review"},
		{"the reviewer failed on nothing", "implement; check ok; review PASS nothing failure=agent_failed",
			"stop agent_failed"},
		{"accepted, and the process died", "implement; check ok; review NEEDS_FIX f-1=warning; answer commit", "complete"},
		{"stopped", "implement; stop no_change", "nothing"},
		{"reviewing", "implement; check ok; review NEEDS_FIX; loop", "nothing"},
		{"skipped", "implement; check ok; review NEEDS_FIX; answer skip", "nothing"},
		{"aborted", "implement; abort", "nothing"},
		{"completed", "implement; check ok; review PASS; complete pass", "nothing"},
		{"landed", "implement; check ok; review PASS; complete pass; land", "nothing"},
	} {
		test.check(t, runtest.Plan())
	}
}

// A run in place stops once if files changed that no agent claims. After it is resumed, it continues without these
// files.
func TestNextInPlace(t *testing.T) {
	plan := runtest.Plan()
	for _, test := range []nextTest{
		{"elsewhere it is only said", "implement unclaimed", "checks at check"},
	} {
		test.check(t, plan)
	}
	plan.InPlace = true
	for _, test := range []nextTest{
		{"all claimed", "implement", "checks at check"},
		{"some not", "implement unclaimed", "stop unclaimed_changes"},
		{"none", "implement unclaimed unchanged", "stop unclaimed_changes"},
		{"it failed", "implement unclaimed failure=agent_failed", "stop agent_failed"},
		{"an executor's work has a list", "given unclaimed", "checks at check"},
		{"resumed", "implement unclaimed; stop unclaimed_changes; resume", "checks at check"},
		{"nothing is left of a fix",
			"implement; check ok; review NEEDS_FIX; fix unclaimed unchanged; stop unclaimed_changes; resume",
			"attempt 3 fix at implement"},
		{"a person takes them in", "implement unclaimed; stop unclaimed_changes; intervene work; resume", "checks at check"},
		{"left alone in the checkout", "given; review CRITICAL; revert 1 left", "stop revert_conflict"},
		{"and gone on from there", "given; review CRITICAL; revert 1 left; stop revert_conflict; resume",
			"attempt 2 re-execute at implement"},
	} {
		test.check(t, plan)
	}
}

// reviews returns the lines of n failed reviews with a new finding each, and the fixes between them.
func reviews(n int) string {
	lines := []string{"implement"}
	for i := range n {
		if i > 0 {
			lines = append(lines, "fix")
		}
		lines = append(lines, "check ok", fmt.Sprintf("review NEEDS_FIX f-%d=warning", i))
	}
	return strings.Join(lines, "; ")
}

func TestNextExhausted(t *testing.T) {
	for _, test := range []struct {
		retries int
		nextTest
	}{
		{2, nextTest{"one of two", reviews(1), "attempt 2 fix at implement"}},
		{2, nextTest{"two of two", reviews(2), "attempt 3 fix at implement"}},
		{2, nextTest{"used up", reviews(3), "exhausted review_loop_detected"}},
		{1, nextTest{"used up", reviews(2), "exhausted review_loop_detected"}},
		{0, nextTest{"none allowed", reviews(1), "exhausted review_loop_detected"}},
		{2, nextTest{"the last review passes", reviews(2) + "; fix; check ok; review PASS", "complete"}},
		{2, nextTest{"critical findings are no way round", reviews(2) + "; fix; check ok; review CRITICAL f-9=critical",
			"exhausted review_loop_detected"}},
		{1, nextTest{"a re-execution is a retry",
			"implement; check ok; review CRITICAL; revert 1; re-execute; check ok; review CRITICAL",
			"exhausted review_loop_detected"}},
		{5, nextTest{"other findings each time", reviews(4), "attempt 5 fix at implement"}},
		{1, nextTest{"an answer that nobody could read is no refusal",
			"implement; check ok; review NEEDS_FIX unreadable; review NEEDS_FIX f-1=warning", "attempt 2 fix at implement"}},
		{2, nextTest{"a person resumed", reviews(3) + "; loop; resume", "attempt 4 fix at implement"}},
		{2, nextTest{"and the counter began again",
			reviews(3) + "; loop; resume; fix; check ok; review NEEDS_FIX f-8=warning", "attempt 5 fix at implement"}},
		{0, nextTest{"and is used up again", reviews(1) + "; loop; resume; fix; check ok; review NEEDS_FIX f-8=warning",
			"exhausted review_loop_detected"}},
	} {
		plan := runtest.Plan()
		plan.Policy.MaxRetries = test.retries
		test.check(t, plan)
	}
}

// sameFinding returns the lines of n reviews that report f-same and a new finding each.
func sameFinding(n int, severity string) string {
	return strings.ReplaceAll(reviews(n), "NEEDS_FIX", "NEEDS_FIX f-same="+severity)
}

func TestNextNoticesAFindingThatSurvives(t *testing.T) {
	for _, test := range []nextTest{
		{"asked for once", sameFinding(2, "warning"), "attempt 3 fix at implement"},
		{"unmet twice", sameFinding(3, "warning"), "exhausted review_loop_detected f-same"},
		{"a note may stay", sameFinding(3, "note"), "attempt 4 fix at implement"},
		{"it went and came back",
			"implement; check ok; review NEEDS_FIX f-a=warning; fix; check ok; review NEEDS_FIX f-b=warning; fix; check ok; " +
				"review NEEDS_FIX f-a=warning", "attempt 4 fix at implement"},
		{"two of them", strings.ReplaceAll(sameFinding(3, "warning"), "f-same=warning", "f-a=warning f-b=warning"),
			"exhausted review_loop_detected f-a,f-b"},
		{"a person stepped in", sameFinding(3, "warning") + "; loop; resume; fix; check ok; review NEEDS_FIX f-same=warning",
			"attempt 5 fix at implement"},
		{"and it survived again", sameFinding(3, "warning") +
			"; loop; resume; fix; check ok; review NEEDS_FIX f-same=warning; fix; check ok; review NEEDS_FIX f-same=warning; " +
			"fix; check ok; review NEEDS_FIX f-same=warning", "exhausted review_loop_detected f-same"},
	} {
		plan := runtest.Plan()
		plan.Policy.MaxRetries = 5
		test.check(t, plan)
	}
}

func TestNextNoticesAnEarlierTree(t *testing.T) {
	for _, test := range []nextTest{
		{"a refused tree", "implement; check ok; review NEEDS_FIX; fix; check ok; review NEEDS_FIX; fix tree=tree-1",
			"stop no_progress"},
		{"the tree before", "implement; check ok; review NEEDS_FIX; fix tree=tree-1", "stop no_progress"},
		{"re-executed the same", "implement; check ok; review CRITICAL; revert 1; re-execute tree=tree-1",
			"stop no_progress"},
		{"never reviewed", "implement; check ok; fix tree=tree-1", "checks at check"},
		{"the reviewer failed on it",
			"implement; check ok; review PASS failure=agent_failed; stop agent_failed; resume; fix tree=tree-1",
			"checks at check"},
	} {
		test.check(t, runtest.Plan())
	}
}

func TestNextThreshold(t *testing.T) {
	for _, test := range []struct {
		threshold runplan.Threshold
		nextTest
	}{
		{runplan.ThresholdVerdict, nextTest{"the reviewer decides", "implement; review PASS f-1=warning", "complete"}},
		{runplan.ThresholdVerdict, nextTest{"the reviewer decides", "implement; review NEEDS_FIX f-1=note",
			"attempt 2 fix at implement"}},
		{"", nextTest{"the default is the verdict", "implement; review PASS f-1=warning", "complete"}},
		{runplan.ThresholdWarning, nextTest{"a warning", "implement; review PASS f-1=warning", "attempt 2 fix at implement"}},
		{runplan.ThresholdWarning, nextTest{"a note", "implement; review PASS f-1=note", "complete"}},
		{runplan.ThresholdWarning, nextTest{"a verdict", "implement; review NEEDS_FIX f-1=note",
			"attempt 2 fix at implement"}},
		{runplan.ThresholdWarning, nextTest{"a refused tree came back", "implement; review PASS f-1=warning; fix tree=tree-1",
			"stop no_progress"}},
		{runplan.ThresholdCritical, nextTest{"a warning", "implement; review NEEDS_FIX f-1=warning", "complete"}},
		{runplan.ThresholdCritical, nextTest{"a critical finding", "implement; review NEEDS_FIX f-1=warning f-2=critical",
			"revert 1"}},
		{runplan.ThresholdCritical, nextTest{"a critical verdict", "implement; review CRITICAL f-1=warning", "revert 1"}},
		{runplan.ThresholdCritical, nextTest{"an answer that says nothing", "implement; review NEEDS_FIX",
			"attempt 2 fix at implement"}},
		{runplan.ThresholdCritical, nextTest{"a failed check", "implement; review NEEDS_FIX f-1=warning badcheck",
			"attempt 2 fix at implement"}},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow("implement review")
		plan.Policy.Threshold = test.threshold
		test.name = string(test.threshold) + ": " + test.name
		test.check(t, plan)
	}
}

func TestNextWorkflows(t *testing.T) {
	for _, test := range []struct {
		steps string
		nextTest
	}{
		{"review", nextTest{"only a review", "", "review 1 at review"}},
		{"review", nextTest{"nobody could fix it", "review NEEDS_FIX f-1=warning", "exhausted review_not_passed"}},
		{"review", nextTest{"nor do it again", "review CRITICAL f-1=critical", "exhausted review_not_passed"}},
		{"review", nextTest{"passed", "review PASS", "complete"}},
		{"check review", nextTest{"checks first", "", "checks at check"}},
		{"check review", nextTest{"nobody could fix it", "check fail; review NEEDS_FIX badcheck",
			"exhausted review_not_passed"}},
		{"implement check", nextTest{"ends in a check", "implement; check ok", "complete"}},
		{"implement check", nextTest{"a failed check is fixed", "implement; check fail", "attempt 2 fix at implement"}},
		{"implement check", nextTest{"and again", "implement; check fail; fix; check fail", "attempt 3 fix at implement"}},
		{"implement check", nextTest{"and given up", "implement; check fail; fix; check fail; fix; check fail",
			"stop verification_failed_max_retries"}},
		{"implement check", nextTest{"fixed in the end", "implement; check fail; fix; check fail; fix; check ok",
			"complete"}},
		{"check", nextTest{"nobody could fix it", "check fail", "stop verification_failed_max_retries"}},
		{"implement review check", nextTest{"a check after the review", "implement; review PASS; check fail",
			"attempt 2 fix at implement"}},
		{"implement review check", nextTest{"is reviewed again", "implement; review PASS; check fail; fix",
			"review 2 at review"}},
		{"implement", nextTest{"only an agent", "implement", "complete"}},
		{"implement", nextTest{"without a change", "implement unchanged", "stop no_change"}},
		{"spec implement review", nextTest{"the first agent", "", "attempt 1 implement at spec"}},
		{"spec implement review", nextTest{"the second agent", "implement step=spec", "attempt 2 implement at implement"}},
		{"spec implement review", nextTest{"the first may change nothing", "implement step=spec unchanged",
			"attempt 2 implement at implement"}},
		{"spec implement review", nextTest{"the second not", "implement step=spec unchanged; implement unchanged",
			"stop no_change"}},
		{"spec implement review", nextTest{"the last agent before the review fixes",
			"implement step=spec; implement; review NEEDS_FIX", "attempt 3 fix at implement"}},
		{"spec implement review", nextTest{"and is reverted", "implement step=spec; implement; review CRITICAL", "revert 2"}},
		{"spec implement review", nextTest{"and does it again", "implement step=spec; implement; review CRITICAL; revert 2",
			"attempt 3 re-execute at implement"}},
		{"implement review polish", nextTest{"an agent after the review does not fix", "implement; review NEEDS_FIX",
			"attempt 2 fix at implement"}},
		{"implement review polish", nextTest{"but has its turn", "implement; review PASS", "attempt 2 implement at polish"}},
		{"implement review-a review-b", nextTest{"two reviews", "implement; review PASS step=review-a",
			"review 2 at review-b"}},
		{"implement review-a review-b", nextTest{"both passed",
			"implement; review PASS step=review-a; review PASS step=review-b", "complete"}},
		{"implement review-a review-b", nextTest{"the second asks for a fix",
			"implement; review PASS step=review-a; review NEEDS_FIX step=review-b", "attempt 2 fix at implement"}},
		{"implement review-a review-b", nextTest{"a review that passed uses up no retry",
			"implement; review PASS step=review-a; review NEEDS_FIX step=review-b; fix; review PASS step=review-a; review " +
				"NEEDS_FIX step=review-b", "attempt 3 fix at implement"}},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow(test.steps)
		test.name = test.steps + ": " + test.name
		test.check(t, plan)
	}
}

// TestNextGivenContext: a run starts with the finished work of an executor.
func TestNextGivenContext(t *testing.T) {
	for _, test := range []struct {
		steps string
		nextTest
	}{
		{"implement check review", nextTest{"the given attempt is first", "", "attempt 1 given at implement"}},
		{"spec implement check review", nextTest{"in the place of the last agent before the review", "",
			"attempt 1 given at implement"}},
		{"implement review polish", nextTest{"and not after it", "", "attempt 1 given at implement"}},
		{"spec implement check", nextTest{"without a review", "", "attempt 1 given at implement"}},
		{"check review", nextTest{"without an agent", "", "attempt 1 given at given"}},
		{"spec implement check review", nextTest{"then what follows", "given", "checks at check"}},
		{"check review", nextTest{"then what there is", "given step=given", "checks at check"}},
		{"implement review", nextTest{"critical findings undo it", "given; review CRITICAL", "revert 1"}},
		{"implement review", nextTest{"and it is done again", "given; review CRITICAL; revert 1",
			"attempt 2 re-execute at implement"}},
		{"implement review", nextTest{"warnings are fixed", "given; review NEEDS_FIX", "attempt 2 fix at implement"}},
		{"implement review", nextTest{"an empty one is for the review to notice", "given unchanged", "review 1 at review"}},
		{"check review", nextTest{"nobody could fix it", "given step=given; check ok; review NEEDS_FIX",
			"exhausted review_not_passed"}},
		{"implement review", nextTest{"begun", "given begun", "attempt 1 given at implement again"}},
		{"implement review", nextTest{"interrupted while it was taken over", "given begun; stop interrupted; resume",
			"attempt 1 given at implement again"}},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow(test.steps)
		plan.Context = &runplan.Context{Commit: "given"}
		test.name = test.steps + ": " + test.name
		test.check(t, plan)
	}
}

// TestNextFromReview: a run fixes a submitted review.
func TestNextFromReview(t *testing.T) {
	for _, test := range []nextTest{
		{"starts with the fix", "", "attempt 1 fix at implement"},
		{"goes on as ever", "fix; check ok", "review 1 at review"},
		{"without a change", "fix unchanged", "stop no_change"},
		{"critical findings of its own", "fix; check ok; review CRITICAL; revert 1", "attempt 2 re-execute at implement"},
	} {
		plan := runtest.Plan()
		plan.FromReview, plan.Findings = runtest.Review, []reply.Finding{{ID: "f-1", Severity: reply.Critical, Issue: "leak"}}
		test.check(t, plan)
		plan.Findings, plan.Requests = nil, []string{"add a test"}
		test.check(t, plan)
	}
}

func TestNextWithoutImplementer(t *testing.T) {
	plan := runtest.Plan()
	plan.Context, plan.Implementer = &runplan.Context{Commit: "given"}, ""
	nextTest{"nobody to fix it", "given; check ok; review NEEDS_FIX f-1=warning", "exhausted review_not_passed"}.check(t,
		plan)
	nextTest{"resumed: still nobody, and no pass",
		"given; check ok; review NEEDS_FIX f-1=warning; stop review_not_passed; resume", "review 2 at review"}.check(t, plan)
}

func TestNextResumed(t *testing.T) {
	for _, test := range []struct {
		steps string
		nextTest
	}{
		{"implement check review", nextTest{"the agent failed", "implement failure=agent_failed; stop agent_failed; resume",
			"attempt 1 implement at implement again"}},
		{"implement check review", nextTest{"a fix failed",
			"implement; check ok; review NEEDS_FIX; fix failure=stalled_timeout; stop stalled_timeout; resume",
			"attempt 2 fix at implement again"}},
		{"implement check review", nextTest{"interrupted in an attempt", "implement begun; stop interrupted; resume",
			"attempt 1 implement at implement again"}},
		{"implement check review", nextTest{"interrupted before the first", "stop interrupted; resume",
			"attempt 1 implement at implement"}},
		{"implement check review", nextTest{"interrupted after an attempt", "implement; stop interrupted; resume",
			"checks at check"}},
		{"implement check review", nextTest{"interrupted after the checks", "implement; check fail; stop interrupted; resume",
			"review 1 at review"}},
		{"implement check review", nextTest{"interrupted after a review",
			"implement; check ok; review NEEDS_FIX; stop interrupted; resume", "attempt 2 fix at implement"}},
		{"implement check review", nextTest{"interrupted after a pass",
			"implement; check ok; review PASS; stop interrupted; resume", "complete"}},
		{"implement check review", nextTest{"interrupted before a revert",
			"implement; check ok; review CRITICAL; stop interrupted; resume", "revert 1"}},
		{"implement check review", nextTest{"interrupted after a revert",
			"implement; check ok; review CRITICAL; revert 1; stop interrupted; resume", "attempt 2 re-execute at implement"}},
		{"implement check review", nextTest{"the reviewer failed",
			"implement; check ok; review PASS failure=agent_failed; stop agent_failed; resume", "review 2 at review"}},
		{"implement check review", nextTest{"a person's turn",
			"implement; check ok; review PASS failure=human_turn; stop human_turn; resume", "review 2 at review"}},
		{"implement check review", nextTest{"a check that tampered",
			"implement; check ok failure=tampered; stop tampered; resume", "checks at check"}},
		{"implement check", nextTest{"the last check tampered", "implement; check ok failure=tampered; stop tampered; resume",
			"checks at check"}},
		{"implement check review", nextTest{"a review that wrote",
			"implement; check ok; review PASS failure=review_tampered; stop review_tampered; resume", "review 2 at review"}},
		{"implement check review", nextTest{"given up", reviews(3) + "; loop; resume", "attempt 4 fix at implement"}},
		{"implement check review", nextTest{"given up on something critical",
			"implement; check ok; review CRITICAL; loop; resume", "revert 1"}},
		{"implement check review", nextTest{"no progress is tried again",
			"implement; check ok; review NEEDS_FIX; fix tree=tree-1; stop no_progress; resume", "attempt 3 fix at implement"}},
		{"implement check review", nextTest{"checkpoint passed",
			"implement status=checkpoint; stop checkpoint_reached; resume", "checks at check"}},
		{"implement check review", nextTest{"a conflict",
			"implement; check ok; review CRITICAL; revert 1 conflict; stop revert_conflict; resume",
			"attempt 2 re-execute at implement"}},
		{"implement check review", nextTest{"an old conflict stops once",
			"implement; check ok; review CRITICAL; revert 1 conflict; stop revert_conflict; resume; re-execute; check ok; " +
				"review CRITICAL; revert 2", "attempt 3 re-execute at implement"}},
		{"implement check", nextTest{"a check that still fails",
			"implement; check fail; fix; check fail; fix; check fail; stop verification_failed_max_retries; resume",
			"attempt 4 fix at implement"}},
		{"implement check", nextTest{"counts afresh",
			"implement; check fail; fix; check fail; fix; check fail; stop verification_failed_max_retries; resume; fix; " +
				"check fail", "attempt 5 fix at implement"}},
		{"implement check", nextTest{"interrupted after a failed check", "implement; check fail; stop interrupted; resume",
			"attempt 2 fix at implement"}},
		{"review", nextTest{"a refused review does not pass by itself", "review NEEDS_FIX; stop review_not_passed; resume",
			"review 2 at review"}},
		{"review", nextTest{"nothing to review is no pass", "review PASS nothing; stop nothing_to_review; resume",
			"review 2 at review"}},
		{"check", nextTest{"a failed check does not pass by itself",
			"check fail; stop verification_failed_max_retries; resume", "checks at check"}},
		{"implement review-a review-b", nextTest{"between two reviews",
			"implement; review PASS step=review-a; stop interrupted; resume", "review 2 at review-b"}},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow(test.steps)
		test.name = test.steps + ": " + test.name
		test.check(t, plan)
	}
}

func TestNextAfterPeople(t *testing.T) {
	loop3 := reviews(3) + "; loop; "
	for _, test := range []nextTest{
		{"a note is for the next attempt", loop3 + "intervene; resume", "attempt 4 fix at implement"},
		{"a person's work is checked and reviewed", loop3 + "intervene work; resume", "checks at check"},
		{"and then reviewed", loop3 + "intervene work; resume; check ok", "review 4 at review"},
		{"commands that passed are for the reviewer", loop3 + "intervene ok; resume", "checks at check"},
		{"commands that failed are for the implementer", loop3 + "intervene ok fail; resume", "attempt 4 fix at implement"},
		{"a comment on lines is for the implementer, also beside work", loop3 + "intervene work; intervene lines; resume",
			"attempt 4 fix at implement"},
		{"also where nobody refused the work", "implement unclaimed; stop unclaimed_changes; intervene lines; resume",
			"attempt 2 fix at implement"},
		{"once", loop3 + "intervene lines; resume; fix; check ok", "review 4 at review"},
		{"the newest evidence counts", loop3 + "intervene fail; intervene ok; resume", "checks at check"},
		{"counters start afresh", loop3 + "intervene work; resume; check ok; review NEEDS_FIX", "attempt 4 fix at implement"},
		{"a person's work is not reverted", loop3 + "intervene work; resume; check ok; review CRITICAL",
			"attempt 4 fix at implement"},
		{"a later attempt is", loop3 + "intervene work; resume; check ok; review NEEDS_FIX; fix; check ok; review CRITICAL",
			"revert 4"},
		{"a failed attempt is made again", "implement failure=agent_failed; stop agent_failed; intervene; resume",
			"attempt 1 implement at implement again"},
		{"unless a person did it", "implement failure=agent_failed; stop agent_failed; intervene work; resume",
			"checks at check"},
		{"a killed run that a person finished", "implement begun; intervene work", "checks at check"},
		{"what changed nothing is tried again",
			"implement; check ok; review NEEDS_FIX; fix unchanged; stop no_change; intervene; resume",
			"attempt 3 fix at implement"},
		{"also without a person's help", "implement; check ok; review NEEDS_FIX; fix unchanged; stop no_change; resume",
			"attempt 3 fix at implement"},
		{"blocked", "implement status=failed; stop implement_blocked; resume", "attempt 2 implement at implement"},
		{"an answered checkpoint goes on working", "implement status=checkpoint; stop checkpoint_reached; intervene; resume",
			"attempt 2 implement at implement"},
	} {
		test.check(t, runtest.Plan())
	}
}

// TestNextOfAnUnreadableReview: no further round follows, because the reviewer was already asked a second time for
// its block.
func TestNextOfAnUnreadableReview(t *testing.T) {
	for _, test := range []nextTest{
		{"at once", "implement; check ok; review NEEDS_FIX unreadable", "exhausted review_parse_failed"},
		{"it costs no retry",
			"implement; check ok; review NEEDS_FIX unreadable; stop review_parse_failed; resume; review NEEDS_FIX; fix; check " +
				"ok; review NEEDS_FIX; fix; check ok; review PASS", "complete"},
		{"and again when resumed", "implement; check ok; review NEEDS_FIX unreadable; stop review_parse_failed; resume",
			"review 2 at review"},
	} {
		test.check(t, runtest.Plan())
	}
}

// TestNextOfAReviewThatSawAPart: if the reviewer saw only a part of the change, its pass does not complete the run.
func TestNextOfAReviewThatSawAPart(t *testing.T) {
	for _, test := range []nextTest{
		{"a pass", "implement; check ok; review PASS partial", "exhausted review_incomplete"},
		{"with notes", "implement; check ok; review PASS_WITH_NOTES f-1=note partial", "exhausted review_incomplete"},
		{"what it found is fixed first", "implement; check ok; review NEEDS_FIX f-1=warning partial",
			"attempt 2 fix at implement"},
		{"reviewed again when resumed", "implement; check ok; review PASS partial; stop review_incomplete; resume",
			"review 2 at review"},
		{"and then it passes", "implement; check ok; review PASS partial; stop review_incomplete; resume; review PASS",
			"complete"},
	} {
		test.check(t, runtest.Plan())
	}
}

// TestNextAfterAskingAPerson: if the process ended after it asked a person, the next step is still the same.
func TestNextAfterAskingAPerson(t *testing.T) {
	for _, test := range []struct {
		steps string
		nextTest
	}{
		{"implement check review", nextTest{"asked", "implement; check ok; asked", "review 1 at review"}},
		{"implement check review", nextTest{"and stopped", "implement; check ok; asked; stop human_turn; resume",
			"review 1 at review"}},
		{"implement check review", nextTest{"after a fix",
			"implement; check ok; review NEEDS_FIX f-1=warning; fix; check ok; asked", "review 2 at review"}},
		{"review", nextTest{"again", "review NEEDS_FIX; stop review_not_passed; resume; asked", "review 2 at review"}},
	} {
		plan := runtest.Plan()
		plan.Policy.Workflow = workflow(test.steps)
		test.name = test.steps + ": " + test.name
		test.check(t, plan)
	}
}

func TestNextKeepsToTheTimeBudget(t *testing.T) {
	plan := runtest.Plan()
	minute := duration.Duration(time.Minute) // a story's events are a minute apart
	for _, test := range []struct {
		budget duration.Duration
		nextTest
	}{
		{3 * minute, nextTest{"in time", "implement", "checks at check"}},
		{2 * minute, nextTest{"used up", "implement", "stop time_budget_exceeded"}},
		{2 * minute, nextTest{"what is done is done", "implement; check ok; review PASS", "complete"}},
		{2 * minute, nextTest{"a new one when resumed", "implement; stop time_budget_exceeded; resume", "checks at check"}},
	} {
		plan.Policy.TimeBudget = test.budget
		test.check(t, plan)
	}
}

func TestNextSaysWhy(t *testing.T) {
	for lines, want := range map[string]string{
		"implement failure=agent_failed":                        "so it said",
		"implement; check ok; review PASS failure=agent_failed": "so it said",
		"implement; check ok; review NEEDS_FIX; fix " +
			"unchanged": "attempt 2 changed nothing",
		"implement; check ok; review NEEDS_FIX; fix unchanged " +
			"denied=Write": "attempt 2 changed nothing; Write",
		"implement; check ok; review NEEDS_FIX; fix; check ok; review NEEDS_FIX; fix " +
			"tree=tree-1": "attempt 3 brought back the tree of attempt 1",
		"implement; check ok; review CRITICAL; revert 1 conflict": "1 file changed since attempt 1: a.go",
		reviews(3):                "the retries are used up",
		sameFinding(3, "warning"): "the same finding was unmet twice",
	} {
		run := foldRun(t, tell(t, runtest.Plan(), strings.Split(lines, "; ")...))
		if got := Next(run, run.Plan.Policy).Detail; got != want {
			t.Errorf("%s: %q, want %q", lines, got, want)
		}
	}
}

func TestNextTellsTheStepsWork(t *testing.T) {
	plan := runtest.Plan()
	plan.Policy.Workflow[0].Agent, plan.Policy.Workflow[0].Prompt = "other", "think first"
	run := foldRun(t, tell(t, plan, "implement begun"))
	if work := Next(run, plan.Policy).Work; work.Agent != "other" || work.Prompt != "think first" {
		t.Errorf("taken up with %+v", work)
	}
}

func TestPolicyCheck(t *testing.T) {
	for steps, says := range map[string]string{"": "no steps", "implement review implement": `"implement" twice`} {
		if err := (runplan.Policy{Workflow: workflow(steps)}).Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v", steps, err)
		}
	}
	policy := runplan.Policy{Workflow: runplan.DefaultWorkflow()}
	if err := policy.Check(); err != nil || policy.String() != "implement → check → review" {
		t.Errorf("%s: %v", policy, err)
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range record.Reasons() {
		if seen[r.Code] || r.Title == "" || r.Explanation == "" || r.Family == "" || r.Status == 0 {
			t.Errorf("reason %+v", r)
		}
		seen[r.Code] = true
		if !reflect.DeepEqual(record.ReasonOf(r.Code), r) {
			t.Errorf("%s: ReasonOf gives %+v", r.Code, record.ReasonOf(r.Code))
		}
	}
	if r := record.ReasonOf("of_a_newer_program"); r.Code != "of_a_newer_program" || r.Judge || r.Status != 4 ||
		!strings.Contains(r.Explanation, "of_a_newer_program") {
		t.Errorf("unknown: %+v", r)
	}
}
