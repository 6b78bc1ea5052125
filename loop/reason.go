package loop

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

// Reason is one entry of the registry of stop reasons: the only place that knows
// what a code means and which exit status it has.
type Reason struct {
	Code        string `json:"code"`
	Title       string `json:"title"`
	Explanation string `json:"explanation"`
	Family      Family `json:"family"`
	Resumable   bool   `json:"resumable"`
	Status      int    `json:"exit_status"`
	Judge       bool   `json:"-"` // the review did not pass: a run that ends in one is reviewing, not stopped
}

// Codes of stop reasons.
const (
	ReasonReviewLoop      = "review_loop_detected"
	ReasonReviewNotPassed = "review_not_passed"
	ReasonNoProgress      = "no_progress"
	ReasonNoChange        = "no_change"
	ReasonBlocked         = "implement_blocked"
	ReasonCheckpoint      = "checkpoint_reached"
	ReasonScope           = "scope_violation"
	ReasonChecksFailed    = "verification_failed_max_retries"
	ReasonAgentFailed     = "agent_failed"
	ReasonAgentNotFound   = "agent_not_found"
	ReasonAgentEmpty      = "agent_empty_output"
	ReasonAgentTimeout    = "worker_call_timeout"
	ReasonAgentIdle       = "stalled_timeout"
	ReasonAgentKilled     = "agent_killed"
	ReasonNothing         = "nothing_to_review"
	ReasonUntrusted       = "untrusted_config"
	ReasonRevertConflict  = "revert_conflict"
	ReasonTampered        = "review_tampered"
	ReasonInterrupted     = "interrupted"
	ReasonHuman           = "human_turn"
)

// Reasons is the registry, in the order in which help lists it.
func Reasons() []Reason {
	return []Reason{
		{ReasonReviewLoop, "review loop", "The reviewer's findings are still unmet and the retries are used up, or one finding survived two attempts to fix it.", FamilyReview, true, 4, true},
		{ReasonReviewNotPassed, "review not passed", "The review did not pass and the workflow has no agent step that could fix anything.", FamilyReview, true, 4, true},
		{ReasonNoProgress, "no progress", "An attempt brought back a tree that a review had already refused.", FamilyReview, true, 4, true},
		{ReasonNoChange, "no change", "The implementer ended without changing a file.", FamilyAgent, true, 4, false},
		{ReasonBlocked, "implementer blocked", "The implementer reported that it could not do the work.", FamilyAgent, true, 4, false},
		{ReasonCheckpoint, "checkpoint", "The implementer waits for a person.", FamilyAgent, true, 4, false},
		{ReasonScope, "scope violated", "The implementer changed files that it may not change.", FamilyTree, true, 4, false},
		{ReasonChecksFailed, "checks failed", "A check still fails after the last allowed fix.", FamilyChecks, true, 4, false},
		{ReasonAgentFailed, "agent failed", "The agent's command ended with an error.", FamilyAgent, true, 30, false},
		{ReasonAgentNotFound, "agent not found", "The agent's program is not installed or not on PATH.", FamilySetup, true, 30, false},
		{ReasonAgentEmpty, "empty answer", "The agent ended without saying anything.", FamilyAgent, true, 30, false},
		{ReasonAgentTimeout, "time limit", "The agent ran longer than its time limit and was ended.", FamilyLimit, true, 30, false},
		{ReasonAgentIdle, "stalled", "The agent said nothing for longer than its idle limit and was ended.", FamilyLimit, true, 30, false},
		{ReasonAgentKilled, "agent killed", "The agent was ended by a signal.", FamilyAgent, true, 30, false},
		{ReasonNothing, "nothing to review", "The reviewer would have seen no lines; that is never a pass.", FamilyReview, false, 5, false},
		{ReasonUntrusted, "configuration not trusted", "The repository's .runr.toml names commands that nobody has approved.", FamilySetup, true, 20, false},
		{ReasonRevertConflict, "conflict on revert", "Files that the attempt changed were changed again by somebody else, so they were left alone.", FamilyTree, true, 3, false},
		{ReasonTampered, "review void", "The reviewer changed the files that it was to read, so its verdict does not count.", FamilyAgent, true, 30, false},
		{ReasonInterrupted, "interrupted", "The run was interrupted.", FamilyUser, true, 130, false},
		{ReasonHuman, "a person's turn", "The next step belongs to a person.", FamilyUser, true, 4, false},
	}
}

// ReasonOf is the registry's entry for code. A code of a newer program gets an
// entry that says no more than the code.
func ReasonOf(code string) Reason {
	for _, r := range Reasons() {
		if r.Code == code {
			return r
		}
	}
	return Reason{Code: code, Title: code, Explanation: "The run stopped with reason " + code + ".", Family: FamilyUser, Resumable: true, Status: 4}
}
