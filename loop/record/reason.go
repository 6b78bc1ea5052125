package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Family groups stop reasons by what a person has to look at.
type Family string

const (
	FamilyReview Family = "review"
	FamilyAgent  Family = "agent"
	FamilyChecks Family = "checks"
	FamilyLimit  Family = "limit"
	FamilySetup  Family = "setup"
	FamilyUser   Family = "user"
	FamilyTree   Family = "tree"
)

// Reason is one entry of the registry of stop reasons, which alone defines what a code means and its exit status.
type Reason struct {
	Code        string `json:"code"`
	Title       string `json:"title"`
	Explanation string `json:"explanation"`
	Family      Family `json:"family"`
	Resumable   bool   `json:"resumable"`
	Status      int    `json:"exit_status"`
	Judge       bool   `json:"-"` // the review did not pass: such a run has status reviewing, not stopped
	// Intervene is the reason to give for an intervention after such a stop, or "" if none helps.
	Intervene string `json:"intervention_reason,omitempty"`
	// Next lists at most three steps to take, the most useful first.
	Next []NextStep `json:"next_steps"`
}

// NextStep is a command and its purpose.
type NextStep struct {
	Command string `json:"command"` // RUN is a placeholder for the run's id
	What    string `json:"what"`
}

// For returns the command as typed for run.
func (n NextStep) For(run string) string { return strings.ReplaceAll(n.Command, "RUN", run) }

// Steps returns the commands of the next steps as typed for run.
func (r Reason) Steps(run string) []string {
	return each.Of(r.Next, func(n NextStep) string { return n.For(run) })
}

// Retry reports whether a run that stopped for this reason may be resumed before a person has looked: nothing was
// refused, and another try may well succeed.
func (r Reason) Retry() bool {
	switch r.Code {
	case ReasonInterrupted, ReasonAgentTimeout, ReasonAgentIdle, ReasonAgentKilled, ReasonAgentFailed, ReasonAgentEmpty,
		ReasonBudget, ReasonTampered:
		return true
	}
	return false
}

// Codes of stop reasons. Those that runr has too keep runr's names.
const (
	ReasonReviewLoop       = "review_loop_detected"
	ReasonReviewNotPassed  = "review_not_passed"
	ReasonNoProgress       = "no_progress"
	ReasonReviewUnreadable = "review_parse_failed"
	ReasonNoChange         = "no_change"
	ReasonBlocked          = "implement_blocked"
	ReasonCheckpoint       = "checkpoint_reached"
	ReasonScope            = "scope_violation"
	ReasonChecksNotRun     = "checks_not_run"
	ReasonSetup            = "setup_failed"
	ReasonChecksFailed     = "verification_failed_max_retries"
	ReasonAgentFailed      = "agent_failed"
	ReasonAgentNotFound    = "agent_not_found"
	ReasonAgentEmpty       = "agent_empty_output"
	ReasonAgentTimeout     = "worker_call_timeout"
	ReasonAgentIdle        = "stalled_timeout"
	ReasonAgentKilled      = "agent_killed"
	ReasonBudget           = "time_budget_exceeded"
	ReasonSpent            = "budget_exceeded"
	ReasonNothing          = "nothing_to_review"
	ReasonPartial          = "review_incomplete"
	ReasonUntrusted        = "untrusted_config"
	ReasonRevertConflict   = "revert_conflict"
	ReasonUnclaimed        = "unclaimed_changes"
	ReasonTampered         = "review_tampered"
	ReasonTamperedRepo     = "tampered"
	ReasonInterrupted      = "interrupted"
	ReasonHuman            = "human_turn"
	ReasonObjects          = "objects_missing"
)

// Reasons of an intervention: why a person stepped in. The first six are runr's.
const (
	InterveneReviewLoop   = "review_loop"
	InterveneStalled      = "stalled_timeout"
	InterveneVerification = "verification_failed"
	InterveneScope        = "scope_violation"
	InterveneManualFix    = "manual_fix"
	InterveneOther        = "other"
	InterveneNoProgress   = "no_progress"
	InterveneAgent        = "agent_failed"
	InterveneConflict     = "revert_conflict"
)

// InterventionReasons returns all of them, in the order of listings.
func InterventionReasons() []string {
	return []string{
		InterveneReviewLoop, InterveneStalled, InterveneVerification, InterveneScope, InterveneManualFix,
		InterveneNoProgress, InterveneAgent, InterveneConflict, InterveneOther,
	}
}

// Next steps that several reasons share.
var (
	stepShow   = NextStep{"git runr show RUN", "read the findings"}
	stepLog    = NextStep{"git runr log RUN", "see what happened"}
	stepResume = NextStep{"git runr resume RUN", "let the loop go on, with fresh counters"}
	StepAccept = NextStep{"git runr resume RUN --commit", "accept the result as it is"}
	StepAudit  = NextStep{"git runr audit --run RUN", "see which commits are accounted for"}
	stepAbort  = NextStep{"git runr abort RUN", "give it up"}
	stepKept   = NextStep{"git runr undo --list RUN", "see which of its files are kept; git runr undo --to puts them back"}
	stepReport = NextStep{"git runr show --steps RUN", "see what each attempt did and how long it took"}
)

// stepLarger raises how much a reviewer is sent at once.
var stepLarger = NextStep{"git config runr.review.maxBytes 10000000", "send the reviewer up to 10 MB at once"}

// stepIntervene records what a person did for the run.
func stepIntervene(reason string) NextStep {
	return NextStep{"git runr intervene RUN --reason " + reason + ` --note "..."`,
		"record what you did, for the next prompt"}
}

// Reasons returns the registry, in the order in which help lists it.
func Reasons() []Reason {
	loopSteps := []NextStep{stepResume, stepIntervene(InterveneReviewLoop), StepAudit}
	retry := []NextStep{stepResume, stepLog, stepAbort}
	return []Reason{
		{ReasonReviewLoop, "review loop",
			"The reviewer's findings are still unmet and the retries are used up, or one finding " +
				"survived two attempts to fix it.", FamilyReview, true, 4, true, InterveneReviewLoop, loopSteps},
		{ReasonReviewNotPassed, "review not passed",
			"The review did not pass and the workflow has no agent step that could fix anything.", FamilyReview, true, 4, true,
			InterveneManualFix, []NextStep{stepShow, stepIntervene(InterveneManualFix), StepAccept}},
		{ReasonNoProgress, "no progress", "An attempt brought back a tree that a review had already refused.", FamilyReview,
			true, 4, true, InterveneNoProgress, []NextStep{stepIntervene(InterveneNoProgress), stepResume, StepAccept}},
		{ReasonReviewUnreadable, "review unreadable",
			"Neither the reviewer's answer nor the answer to a second question has a line \"### Verdict: …\", " +
				"a JSON report or a request.", FamilyReview,
			true, 4, true, InterveneReviewLoop, []NextStep{stepLog, stepResume, StepAccept}},
		{ReasonPartial, "review incomplete",
			"The reviewer passed what it was shown, but part of the change could not be shown.", FamilyReview, true, 4, true,
			InterveneManualFix, []NextStep{stepLarger, stepResume, StepAccept}},
		{ReasonNothing, "nothing to review",
			"The reviewer would have been shown nothing of the change; that is never a pass.", FamilyReview, false, 5, false, "",
			[]NextStep{stepShow, stepReport, stepAbort}},
		{ReasonNoChange, "no change", "The implementer ended without changing a file.", FamilyAgent, true, 4, false,
			InterveneNoProgress, []NextStep{stepIntervene(InterveneNoProgress), stepResume, stepAbort}},
		{ReasonBlocked, "implementer blocked", "The implementer reported that it could not do the work.", FamilyAgent, true,
			4, false, InterveneManualFix, []NextStep{stepIntervene(InterveneManualFix), stepResume, stepAbort}},
		{ReasonCheckpoint, "checkpoint", "The implementer waits for a person.", FamilyAgent, true, 4, false,
			InterveneManualFix, []NextStep{stepShow, stepIntervene(InterveneManualFix), stepResume}},
		{ReasonAgentFailed, "agent failed", "The agent's call gave no answer.", FamilyAgent, true, 30, false,
			InterveneAgent, retry},
		{ReasonAgentNotFound, "agent not found", "The agent's program is not installed or not on PATH.", FamilySetup, true,
			30, false, "", retry},
		{ReasonAgentEmpty, "empty answer", "The agent ended without an answer.", FamilyAgent, true, 30, false, InterveneAgent,
			retry},
		{ReasonAgentTimeout, "time limit", "The agent ran longer than its time limit and was stopped.", FamilyLimit, true, 30,
			false, InterveneStalled, retry},
		{ReasonAgentIdle, "stalled", "The agent printed nothing for longer than its idle limit and was stopped.", FamilyLimit,
			true, 30, false, InterveneStalled, retry},
		{ReasonAgentKilled, "agent killed", "The agent was killed by a signal.", FamilyAgent, true, 30, false, InterveneAgent,
			retry},
		{ReasonTampered, "review void", "The reviewer changed files that it may only read, so its verdict does not count.",
			FamilyAgent, true, 30, false, "", retry},
		{ReasonTamperedRepo, "repository changed",
			"Refs, hooks or configuration of the repository changed while an agent, a check or a hook ran, which is not part " +
				"of their work. If you changed them, go on; otherwise put them back first.", FamilyAgent, true, 4, false,
			InterveneAgent, retry},
		{ReasonChecksNotRun, "checks not run",
			"A check could not start, which is not a pass: its program, a dependency or the network is missing. Provide that, " +
				"or let setup under [worktree] in .runr.toml do so, and resume.", FamilySetup, true, 4, false,
			InterveneVerification, []NextStep{stepResume, stepShow, stepAbort}},
		{ReasonSetup, "setup failed",
			"The command setup under [worktree] failed in the run's worktree before an agent began.", FamilySetup, true, 4,
			false, InterveneVerification, []NextStep{stepLog, stepResume, stepAbort}},
		{ReasonChecksFailed, "checks failed", "A check still fails, and no further fix is allowed.", FamilyChecks, true, 4,
			false, InterveneVerification, []NextStep{stepIntervene(InterveneVerification), stepResume, StepAudit}},
		{ReasonScope, "scope violated", "The implementer changed files that it must not change.", FamilyTree, true, 4, false,
			InterveneScope, []NextStep{stepShow, stepIntervene(InterveneScope), stepResume}},
		{ReasonRevertConflict, "conflict on revert",
			"Files that the attempt changed were changed again by somebody else, so they were left alone.", FamilyTree, true, 3,
			false, InterveneConflict, []NextStep{stepKept, stepIntervene(InterveneConflict), stepResume}},
		{ReasonUnclaimed, "changes that nobody claims",
			"Files of your checkout changed while the agent worked, and it does not report changing them: they were left " +
				"alone and are not part of the run. Resuming keeps it so; an intervention adds them to the run.", FamilyTree, true,
			3, false, InterveneManualFix, []NextStep{stepResume, stepIntervene(InterveneManualFix), stepShow}},
		{ReasonBudget, "time used up", "The run took longer than loop.time_budget allows.", FamilyLimit, true, 4, false,
			InterveneStalled, []NextStep{stepReport, stepResume, stepAbort}},
		{ReasonSpent, "budget used up", "The agents have reached a configured limit, so no further call was started.",
			FamilyLimit, true, 4, false, "", []NextStep{stepReport, stepResume, stepAbort}},
		{ReasonUntrusted, "configuration not trusted", "The repository's .runr.toml names commands that nobody has approved.",
			FamilySetup, true, 20, false, "", []NextStep{{"git runr trust --show", "see what the commands are"},
				{"git runr trust", "approve the commands of .runr.toml"}, stepResume}},
		{ReasonObjects, "objects missing",
			"What the reviewer needs is not in this clone, or cannot be read; once it is there, try again.", FamilySetup, true,
			10, false, "", []NextStep{stepLog, stepResume, stepAbort}},
		{ReasonInterrupted, "interrupted", "The run was interrupted.", FamilyUser, true, 130, false, InterveneOther,
			[]NextStep{stepResume, stepLog, stepAbort}},
		{ReasonHuman, "a person's turn", "The next step belongs to a person.", FamilyUser, true, 4, false, InterveneManualFix,
			[]NextStep{stepShow, stepIntervene(InterveneManualFix), StepAccept}},
	}
}

// ReasonOf returns the registry's entry for code. For an unknown code, from a newer program, it returns an entry
// that repeats the code.
func ReasonOf(code string) Reason {
	for _, r := range Reasons() {
		if r.Code == code {
			return r
		}
	}
	return Reason{
		Code: code, Title: code, Explanation: "The run stopped with reason " + code + ".", Family: FamilyUser,
		Resumable: true, Status: 4,
		Intervene: InterveneOther, Next: []NextStep{stepLog, stepResume, stepAbort},
	}
}

// Stop says why a run ended early: a code of the registry and the facts. The fields for rounds and requests are those
// of runr's event.
type Stop struct {
	Reason    string   `json:"reason"`
	Detail    string   `json:"detail,omitempty"`
	Round     int      `json:"round,omitempty"`
	MaxRounds int      `json:"max_rounds,omitempty"` // max_retries: see RoundOf
	Unmet     []string `json:"unmet_requests,omitempty"`
	Commands  []string `json:"suggested_commands,omitempty"`
	// ids of findings, or requests without an id, that were unmet twice
	Repeated []string `json:"repeated_findings,omitempty"`
	// UnmetChecks, Intervention and NextSteps are the part of the diagnosis that goes into the commit's note: codes,
	// and commands to type.
	UnmetChecks  []string `json:"unmet_checks,omitempty"`
	Intervention string   `json:"suggested_intervention,omitempty"`
	NextSteps    []string `json:"next_steps,omitempty"`
	// Review is the id of the review that waits for a person, if any. Answered says that it has a verdict by now.
	Review   string `json:"review_id,omitempty"`
	Answered bool   `json:"-"`
	NotAsIs  bool   `json:"-"` // the result cannot be accepted as it is: its branch has other commits
	// FailingChecks are the names of the checks that count against the work.
	FailingChecks []string `json:"failing_checks,omitempty"`
	// Setting is the configured value that ended the run.
	Setting *runplan.Setting `json:"setting,omitempty"`
	// Undo lists commands that restore what an agent changed outside of its work.
	Undo    []string    `json:"undo,omitempty"`
	Reached spend.Usage `json:"reached,omitzero"` // the usage at that point, if Setting limits usage
	// Said quotes, truncated, what the run stopped for: an implementer's reason not to finish, a review that could not
	// be parsed, the output of setup. SaidBy names the source.
	Said   string    `json:"said,omitempty"`
	SaidBy string    `json:"said_by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// ForGood says that the run was imported without an implementer, so that nothing can resume it.
	ForGood bool `json:"for_good,omitempty"`
	// Tree is the content of the run's own working tree at the stop, or "" if it has none. Later differences are a
	// person's work.
	Tree gitstore.ID `json:"tree,omitempty"`
	// LastActivity is when the agent because of which the run stopped last wrote something.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
	// ResumeAfter is when the cause ends by itself, as a quota or a day's budget does.
	ResumeAfter time.Time `json:"resume_after,omitzero"`
}

// StopPayload is a stop and the commit that gets its note.
type StopPayload struct {
	Stop
	Commit gitstore.ID `json:"commit,omitempty"`
	otherStop
}

// otherStop holds the fields of a stop under runr's names.
type otherStop struct {
	OtherRounds    int      `json:"review_rounds,omitempty"`
	OtherMaxRounds int      `json:"max_review_rounds,omitempty"`
	OtherRequests  []string `json:"reviewer_requests,omitempty"`
	OtherCommands  []string `json:"commands_to_satisfy,omitempty"`
	OtherError     string   `json:"error,omitempty"`
}

// afterRead copies runr's fields to our own fields that are empty. An event of type review_loop_detected may omit the
// reason.
func (p *StopPayload) afterRead(e Event) {
	p.Round, p.MaxRounds = cmp.Or(p.Round, p.OtherRounds), cmp.Or(p.MaxRounds, p.OtherMaxRounds)
	p.Detail = cmp.Or(p.Detail, p.OtherError)
	if len(p.Unmet) == 0 {
		p.Unmet = p.OtherRequests
	}
	if len(p.Commands) == 0 {
		p.Commands = p.OtherCommands
	}
	if p.Reason == "" && e.Type == EventReviewLoopDetected.Name {
		p.Reason = ReasonReviewLoop
	}
	p.At = e.Timestamp
}

// personSteps are the next steps for a run that waits for a person's review.
var personSteps = []NextStep{
	{"git runr inbox submit REVIEW --approve", "let it pass"},
	{`git runr inbox submit REVIEW --request-changes -m "..."`, "say what must change"},
	{"git runr resume RUN", "go on from your verdict"},
}

// Explained returns the registry's entry for the stop, with next steps that fit this stop.
func (s Stop) Explained() Reason {
	reason := ReasonOf(s.Reason)
	if s.ForGood {
		reason.Resumable, reason.Intervene, reason.Next = false, "", []NextStep{stepLog, stepAbort}
		return reason
	}
	if s.NotAsIs {
		reason.Next = each.Where(reason.Next, func(step NextStep) bool { return step != StepAccept })
	}
	if s.Reason == ReasonSpent && s.Setting != nil {
		reason.Next = append(raise(*s.Setting, s.Reached), reason.Next[0])
	}
	if s.Answered {
		reason.Explanation = "A person has answered, and the run can go on."
		reason.Intervene, reason.Next = "", []NextStep{stepResume}
		return reason
	}
	if s.Review == "" {
		return reason
	}
	reason.Intervene, reason.Next = "", each.Of(personSteps, func(step NextStep) NextStep {
		return NextStep{strings.ReplaceAll(step.Command, "REVIEW", s.Review), step.What}
	})
	return reason
}

// raise returns the steps that double the usage limit that ended a run.
func raise(s runplan.Setting, spent spend.Usage) []NextStep {
	if s.IsLimit() {
		flag := strings.ReplaceAll(strings.TrimPrefix(s.Name, "loop."), "_", "-")
		return []NextStep{{"git runr resume RUN --" + flag + " " + s.Double(spent), "raise the limit of the whole run"}}
	}
	return []NextStep{{s.Raised(spent), "raise the limit of a day; then resume"}, stepResume}
}

// RoundOf names a round and how many a run may take: the first, and each retry. A run that somebody continued may have
// taken more; then it names the round alone.
func RoundOf(round, retries int) string {
	if round > retries+1 {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("round %d of %d", round, retries+1)
}
