package record

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/reply"
	"git-runr/loop/track"
)

// RunStatus is where a run stands; see the state machine in the package comment.
type RunStatus string

const (
	RunRunning   RunStatus = "running"
	RunReviewing RunStatus = "reviewing" // the review did not pass: a person must judge
	RunStopped   RunStatus = "stopped"
	RunCompleted RunStatus = "completed"
	RunSkipped   RunStatus = "skipped"
	RunAborted   RunStatus = "aborted"
)

// Entity is what a run works on.
type Entity struct {
	Type       string `json:"type"` // task, subtask, plan or review
	Identifier string `json:"identifier"`
	Title      string `json:"title"`
}

// RunPlan is the payload of run_started: everything that the run decides by.
type RunPlan struct {
	Entity        Entity          `json:"entity"`
	Task          string          `json:"task"` // what the implementer is told
	DoneCriteria  string          `json:"done_criteria,omitempty"`
	References    string          `json:"references,omitempty"` // passed on to every prompt as it is
	Base          gitstore.ID     `json:"base"`
	Branch        string          `json:"branch"`           // the run's own, refs/heads/runr/…
	Target        string          `json:"target,omitempty"` // the branch that was checked out
	Implementer   string          `json:"implementer,omitempty"`
	Reviewer      string          `json:"reviewer"`
	Profile       string          `json:"profile"`
	Checks        []Check         `json:"checks,omitempty"`
	Exclude       []string        `json:"exclude,omitempty"` // globs left out of review
	Scope         Scope           `json:"scope,omitzero"`
	TaskScope     Scope           `json:"task_scope,omitzero"`   // of the task file: what it allows must be in Scope as well
	Tier          string          `json:"tier,omitempty"`        // of verification that the task file asks for
	DoneChecks    []string        `json:"done_checks,omitempty"` // commands that the task file's done criteria name
	Policy        Policy          `json:"policy"`
	Settings      []Setting       `json:"settings,omitempty"` // the limits of Policy, and where they come from
	InPlace       bool            `json:"in_place,omitempty"`
	Checkout      string          `json:"checkout,omitempty"`    // the linked worktree that the run was started from, as git calls it; "" is the main one
	Context       *Context        `json:"context,omitempty"`     // an executor's finished work to start from
	FromReview    string          `json:"from_review,omitempty"` // a submitted review whose findings are to be fixed
	Findings      []reply.Finding `json:"findings,omitempty"`    // those findings
	Requests      []string        `json:"requests,omitempty"`
	Said          []Words         `json:"said,omitempty"`           // its reviewers' own words
	FailedChecks  []string        `json:"failed_checks,omitempty"`  // names of checks that failed in that review: they are to be mended
	Imported      string          `json:"imported_from,omitempty"`  // id of the run in another system's timeline
	ImportedLines string          `json:"imported_lines,omitempty"` // how many lines that had, where it has no id, and their hash: "N:HASH"
}

// Context is the finished work that a run starts from at its review.
type Context struct {
	ExecutorResult string      `json:"executor_result"`
	Files          []string    `json:"files_modified"`     // the executor's, of those that differ
	Commit         gitstore.ID `json:"commit"`             // the work, as a commit on the run's base
	Message        string      `json:"message,omitempty"`  // of Commit, where the executor made it
	Snapshot       gitstore.ID `json:"snapshot,omitempty"` // of the checkout that it was taken from, "" when it was committed already
	Before         gitstore.ID `json:"before,omitempty"`   // the same with Files as they were before the executor; "" where Snapshot is
}

// AttemptMode is how an implementer was asked.
type AttemptMode string

const (
	ModeImplement AttemptMode = "implement"
	ModeFix       AttemptMode = "fix"        // only the findings named
	ModeReexecute AttemptMode = "re-execute" // from scratch, knowing what went wrong
	ModeGiven     AttemptMode = "given"      // an executor's finished work, handed over
)

// Attempt is one turn of an implementer.
type Attempt struct {
	Number       int                  `json:"attempt"`
	Step         string               `json:"step"`
	Mode         AttemptMode          `json:"mode"`
	Agent        string               `json:"agent"`
	From         gitstore.ID          `json:"from"`             // commit that it started from
	Before       gitstore.ID          `json:"before,omitempty"` // snapshot of the working tree
	After        gitstore.ID          `json:"after,omitempty"`
	Commit       gitstore.ID          `json:"commit,omitempty"` // what came of it, on the run's branch
	Tree         gitstore.ID          `json:"tree,omitempty"`   // of Commit
	Files        []string             `json:"files"`            // changed, from trees
	Claimed      []string             `json:"claimed,omitempty"`
	Edited       []string             `json:"edited,omitempty"`    // seen in its tool calls
	Unclaimed    []string             `json:"unclaimed,omitempty"` // changed, but not said; in place they are nobody's that we know, and not among Files
	Unchanged    []string             `json:"unchanged,omitempty"` // said, but not changed
	Status       reply.ExecutorStatus `json:"executor_status,omitempty"`
	Verification string               `json:"verification,omitempty"`
	Warnings     []string             `json:"parse_warnings,omitempty"`
	Failure      *Failure             `json:"failure,omitempty"`
	StartedAt    time.Time            `json:"started_at,omitzero"`
	EndedAt      time.Time            `json:"ended_at,omitzero"`
	Duration     Duration             `json:"duration_ms,omitzero"`
	Reverted     *Reverted            `json:"reverted,omitempty"`
	Event        gitstore.ID          `json:"event,omitempty"` // that records its end and keeps what it left behind
}

// undone reports whether nothing is left of the attempt: one that was reverted with
// conflicts still stands on the run's branch.
func (a Attempt) undone() bool { return a.Reverted != nil && len(a.Reverted.Conflicts) == 0 }

// Reverted is what undoing an attempt did, path by path.
type Reverted struct {
	Attempt   int      `json:"attempt"`
	Restored  []string `json:"restored"`
	Conflicts []string `json:"conflicts,omitempty"` // changed since by somebody else: left alone
	// Checkout and Left are the same for the user's checkout, where an executor's work
	// was taken from it.
	Checkout []string `json:"checkout_restored,omitempty"`
	Left     []string `json:"checkout_conflicts,omitempty"`
}

// CheckRun is one turn of a check step.
type CheckRun struct {
	Step    string        `json:"step"`
	Attempt int           `json:"attempt"`
	Tree    gitstore.ID   `json:"tree"`
	Results []CheckResult `json:"results"`
	At      time.Time     `json:"at,omitzero"`
	Event   gitstore.ID   `json:"event,omitempty"`
}

// Failing names the checks that count against the change.
func (c CheckRun) Failing() string {
	var names []string
	for _, r := range c.Results {
		if r.Fails() {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Failed reports whether any check of it counts against the change.
func (c CheckRun) Failed() bool { return slices.ContainsFunc(c.Results, CheckResult.Fails) }

// Round is one turn of a reviewer.
type Round struct {
	Number   int           `json:"round"`
	Attempt  int           `json:"attempt"`
	Reviewer string        `json:"reviewer"`
	Review   string        `json:"review_id,omitempty"` // that people answered
	Commit   gitstore.ID   `json:"commit"`
	Tree     gitstore.ID   `json:"tree"`
	Report   reply.Report  `json:"report"`
	Census   Census        `json:"census"`
	Checks   []CheckResult `json:"checks,omitempty"`
	Failure  *Failure      `json:"failure,omitempty"`
	At       time.Time     `json:"at,omitzero"`
	Duration Duration      `json:"duration_ms,omitzero"`
	Event    gitstore.ID   `json:"event,omitempty"`
}

// ChecksFailed reports whether the round's evidence holds a failed check.
func (r Round) ChecksFailed() bool { return CheckRun{Results: r.Checks}.Failed() }

// Stop is why a run ended early: a code of the registry and what is known of it.
// The round and request fields are those of runr's event.
type Stop struct {
	Reason    string   `json:"reason"`
	Detail    string   `json:"detail,omitempty"`
	Round     int      `json:"round,omitempty"`
	MaxRounds int      `json:"max_rounds,omitempty"` // max_retries: shown as "round 3/2"
	Unmet     []string `json:"unmet_requests,omitempty"`
	Commands  []string `json:"suggested_commands,omitempty"`
	Repeated  []string `json:"repeated_findings,omitempty"` // ids of findings, or requests without one, that were unmet twice
	// UnmetChecks, Intervention and NextSteps are the diagnosis as far as the note on
	// the commit tells it: codes, and lines to type.
	UnmetChecks  []string `json:"unmet_checks,omitempty"`
	Intervention string   `json:"suggested_intervention,omitempty"`
	NextSteps    []string `json:"next_steps,omitempty"`
	// Review is the id of the review that waits for a person.
	Review string `json:"review_id,omitempty"`
	// FailingChecks are the names of the checks that count against the work.
	FailingChecks []string `json:"failing_checks,omitempty"`
	// Setting is the configured value that ended the run.
	Setting *Setting `json:"setting,omitempty"`
	// Said are the words of whoever the run stopped for, bounded: why an implementer did
	// not finish, or a review that could not be read.
	Said   string    `json:"said,omitempty"`
	SaidBy string    `json:"said_by,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// LastActivity is when the agent that the run stopped for last wrote something.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
}

// Intervention is what a person did for a run that had stopped. Field names are
// those of runr's receipts where it has them.
type Intervention struct {
	Number   int           `json:"intervention"` // from 1
	Reason   string        `json:"reason"`       // one of InterventionReasons
	Note     string        `json:"note"`
	By       string        `json:"by"`
	Attempts int           `json:"attempts"`             // how many there were before it
	Since    gitstore.ID   `json:"base_sha"`             // where the commits in range begin, exclusive
	Head     gitstore.ID   `json:"head_sha"`             // where they end
	Branch   string        `json:"branch,omitempty"`     // of the checkout that they were made in
	Commits  []gitstore.ID `json:"commits_in_range"`     // made by people since, newest first
	Files    []string      `json:"files_changed"`        // by those commits and in the run's working tree
	Commit   gitstore.ID   `json:"checkpoint,omitempty"` // what a person did in the run's working tree, on the run's branch
	Tree     gitstore.ID   `json:"tree,omitempty"`       // of Commit
	Commands []CheckResult `json:"commands"`             // run as part of it; Name is the check's, "" for another command
	Evidence []Evidence    `json:"evidence,omitempty"`   // that was left for it
	At       time.Time     `json:"at,omitzero"`
}

// Landed is where a run's result went.
type Landed struct {
	Commit  gitstore.ID `json:"commit"`
	Onto    gitstore.ID `json:"onto"`
	Branch  string      `json:"branch,omitempty"`
	Squash  bool        `json:"squash,omitempty"`
	Carried []Carried   `json:"carried,omitempty"` // commits that landed as others, oldest first
	At      time.Time   `json:"at,omitzero"`
}

// Carried is a commit of a run that landed as another, and what its note says of its
// review: the commit that landed has that in its own note.
type Carried struct {
	From gitstore.ID `json:"from"`
	To   gitstore.ID `json:"to"`
	Said []Saying    `json:"said,omitempty"`
}

// Saying is one line of a note, without its time.
type Saying struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// TitleOf is the landing in a few words.
func (l Landed) TitleOf() string {
	return fmt.Sprintf("%s onto %s", l.Commit.Short(), cmp.Or(l.Branch, "a detached HEAD"))
}

// Run is one execution of the loop, folded from its events.
type Run struct {
	ID       string     `json:"run_id"`
	Status   RunStatus  `json:"status"`
	Result   string     `json:"result,omitempty"` // pass, pass_with_issues, skipped, abort or unreviewed
	Plan     RunPlan    `json:"plan"`
	Position int        `json:"position"` // step of the workflow that comes next
	Attempts []Attempt  `json:"attempts"`
	Checks   []CheckRun `json:"checks"`
	Rounds   []Round    `json:"rounds"`
	Stop     *Stop      `json:"stop,omitempty"`
	// Interventions are what people did meanwhile, oldest first.
	Interventions []Intervention `json:"interventions,omitempty"`
	Answer        Choice         `json:"answer,omitempty"`      // a person's, for a run that gave up
	AnsweredBy    string         `json:"answered_by,omitempty"` // whose answer it is
	Landed        *Landed        `json:"landed,omitempty"`
	Asked         *Asked         `json:"asked,omitempty"` // the review that people were asked for last
	Since         int            `json:"rounds_before"`   // rounds that no longer count, after a person stepped in
	ChecksSince   int            `json:"checks_before"`   // the same for check steps
	Commit        gitstore.ID    `json:"commit,omitempty"`
	StartedBy     string         `json:"started_by"`
	Writer        string         `json:"writer"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Lost          []Lost         `json:"lost,omitempty"`

	Last      string    `json:"-"` // type of the newest event that counted
	news      int       // interventions that no step has followed yet
	Began     time.Time `json:"-"` // when the run was started, or last taken up
	sameStops stopCount
}

// LastActivity is when the newest thing happened: what the agent that failed last
// wrote, where that is known, else the newest event.
func (r Run) LastActivity() time.Time {
	failure := r.Failure()
	if failure != nil && !failure.LastActivity.IsZero() {
		return failure.LastActivity
	}
	return r.UpdatedAt
}

// News are the interventions that no step has followed yet, oldest first.
func (r Run) News() []Intervention {
	return r.Interventions[len(r.Interventions)-r.news:]
}

// StoppedAlike is how often in a row the run stopped for the same reason without
// getting on in between.
func (r Run) StoppedAlike() int { return r.sameStops.times }

// Done reports whether nothing more will happen by itself.
func (r Run) Done() bool { return r.Status != RunRunning }

// LastAttempt is the newest attempt, nil when there is none.
func (r *Run) LastAttempt() *Attempt {
	if len(r.Attempts) == 0 {
		return nil
	}
	return &r.Attempts[len(r.Attempts)-1]
}

func (r *Run) LastRound() *Round {
	if len(r.Rounds) == 0 {
		return nil
	}
	return &r.Rounds[len(r.Rounds)-1]
}

// LastChecks is the evidence of the newest check step; nil when there was none.
func (r Run) LastChecks() *CheckRun {
	if len(r.Checks) == 0 {
		return nil
	}
	return &r.Checks[len(r.Checks)-1]
}

// Head is the commit that the run's branch stands on.
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

// HeadTree is the tree of Head; "" when that is the run's base.
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

// ByPeople is what people committed for the run when it had that many attempts; ""
// when they committed nothing.
func (r Run) ByPeople(attempts int) gitstore.ID {
	for i := len(r.Interventions) - 1; i >= 0; i-- {
		if iv := r.Interventions[i]; iv.Attempts == attempts && iv.Commit != "" {
			return iv.Commit
		}
	}
	return ""
}

// GoodAttempts are those whose work stands, oldest first.
func (r Run) GoodAttempts() []Attempt {
	var good []Attempt
	for _, a := range r.Attempts {
		if !a.undone() && a.Commit != "" && a.Failure == nil {
			good = append(good, a)
		}
	}
	return good
}

// lastSaid is the newest round whose reviewer came to an answer that says something;
// nil when there is none.
func (r *Run) lastSaid() *Round {
	for i := len(r.Rounds) - 1; i >= 0; i-- {
		if round := &r.Rounds[i]; round.Failure == nil && round.Report.Format != reply.FormatNone && !round.Report.Unreadable() {
			return round
		}
	}
	return nil
}

// Open are the findings and requests of the newest review that nobody has met.
func (r Run) Open() ([]reply.Finding, []string) {
	if round := r.lastSaid(); round != nil {
		return round.Report.Findings, round.Report.Requests
	}
	return r.Plan.Findings, r.Plan.Requests
}

// Said is the newest review in its reviewer's own words.
func (r Run) Said() []Words {
	if round := r.lastSaid(); round != nil {
		return []Words{round.Words()}
	}
	return r.Plan.Said
}

// Commits are the messages of the commits that somebody else made for the run.
func (p RunPlan) Commits() []Words {
	if p.Context == nil || p.Context.Message == "" {
		return nil
	}
	return []Words{{By: "commit " + p.Context.Commit.Short(), Text: p.Context.Message}}
}

func (r Round) Words() Words {
	return Words{By: fmt.Sprintf("%s, round %d", r.Reviewer, r.Number), Text: cmp.Or(r.Report.Text, r.Report.Summary)}
}

// Files are the paths that differ between the run's base and its head, as far as
// its attempts changed them, in the order in which they were first changed.
func (r Run) Files() []string {
	seen := map[string]bool{}
	files := []string{}
	add := func(paths []string) {
		for _, f := range paths {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	for _, a := range r.GoodAttempts() {
		add(a.Files)
	}
	for _, iv := range r.Interventions {
		if iv.Commit != "" {
			add(iv.Files)
		}
	}
	return files
}

// FoldRun is the state of one run after events, which are in order. Events that
// cannot be read are left out and reported.
func FoldRun(events []Event) (Run, []error) {
	var run Run
	var bad []error
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			bad = append(bad, fmt.Errorf("read event %s: %w", e.ID.Short(), err))
		}
	}
	return run, bad
}

// Requests are what was asked for over the rounds of the run: see track.
func (r Run) Requests() []track.Request { return track.Requests(TrackedRounds(r.Rounds)) }

func TrackedRounds(rounds []Round) []track.Round {
	tracked := make([]track.Round, len(rounds))
	for i, r := range rounds {
		tracked[i] = track.Round{Number: r.Number, Report: r.Report, Failed: r.Failure != nil}
	}
	return tracked
}

// Failure is why the agent that the run waited for last gave no answer; nil when it did.
func (r Run) Failure() *Failure {
	if a := r.LastAttempt(); a != nil && r.Last == EventAttemptCompleted.Name {
		return a.Failure
	}
	if round := r.LastRound(); round != nil && r.Last == EventRoundCompleted.Name {
		return round.Failure
	}
	return nil
}

// Failing are the newest results that count against the run's work.
func (r Run) Failing() []CheckResult {
	checks := r.LastChecks()
	if a := r.LastAttempt(); checks == nil || a != nil && checks.Attempt != a.Number {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(checks.Results), func(c CheckResult) bool { return !c.Fails() })
}

// Asked is the review that a run has asked people for: an ordinary one, bound to the run.
type Asked struct {
	Review string      `json:"review_id"`
	Commit gitstore.ID `json:"commit"` // of the run's branch, that it is of
	Round  int         `json:"round"`
}

// asked keeps which review was asked for last.
func (r *Run) asked(e Event, request ReviewRequest) {
	if request.Run == r.ID {
		r.Asked = &Asked{Review: e.Review, Commit: request.Subject.Commit, Round: request.Round}
	}
}

// Counted reports whether a round was made of the review called id.
func (r Run) Counted(id string) bool {
	return slices.ContainsFunc(r.Rounds, func(round Round) bool { return round.Review == id })
}

// Name is what people call the entity: its identifier and its title.
func (e Entity) Name() string {
	return strings.Trim(e.Identifier+": "+e.Title, ": ")
}

// Claim compares what the implementer says with what it did.
func (a *Attempt) Claim(report reply.ExecutorReport) {
	a.Status, a.Verification, a.Claimed, a.Warnings = report.Status, report.Verification, report.Files, report.Warnings
	for _, f := range report.Files {
		if !slices.ContainsFunc(a.Files, func(changed string) bool { return covers(f, changed) }) {
			a.Unchanged = append(a.Unchanged, f)
		}
	}
	said := slices.Concat(a.Claimed, a.Edited)
	for _, f := range a.Files {
		if len(said) > 0 && !slices.ContainsFunc(said, func(claim string) bool { return covers(claim, f) }) {
			a.Unclaimed = append(a.Unclaimed, f)
		}
	}
}

// Outcome is what a run comes to whose steps are all done.
func (r Run) Outcome() string {
	if round := r.lastSaid(); round != nil && round.Commit == r.Head() {
		return ResultPass
	}
	return ResultUnreviewed
}

// Unchanged are the names in the list of an executor in dir that stand for no file of
// its work.
func (c *Context) Unchanged(listed []string, dir string) []string {
	return slices.DeleteFunc(slices.Clone(listed), func(name string) bool {
		return slices.ContainsFunc(c.Files, func(file string) bool { return Lists(name, dir, file) })
	})
}

// CheckFor is the check that runs command, by its command or its name.
func (p RunPlan) CheckFor(command string) (Check, bool) {
	i := slices.IndexFunc(p.Checks, func(c Check) bool { return reply.OneRow(c.Command) == reply.OneRow(command) || c.Name == command })
	if i < 0 {
		return Check{}, false
	}
	return p.Checks[i], true
}

// ScopeText says what may be changed; "" when that is everything.
func (p RunPlan) ScopeText() string {
	var lines []string
	add := func(format string, globs []string) {
		if len(globs) > 0 {
			lines = append(lines, fmt.Sprintf(format, prose.Names(globs)))
		}
	}
	add("Only files that match one of these may be changed: %s", p.Scope.Allow)
	add("The task itself is limited to these: %s", p.TaskScope.Allow)
	add("These may not be changed: %s", slices.Concat(p.Scope.Deny, p.TaskScope.Deny))
	return strings.Join(lines, "\n")
}

// What a run that is completed came to.
const (
	ResultPass       = "pass"             // a review passed it
	ResultWithIssues = "pass_with_issues" // a person accepted it
	ResultUnreviewed = "unreviewed"       // its workflow has no review, or none after the last change
)

// covers reports whether a claim means a file: it names the file, or a directory that
// the file is in.
func covers(claim, file string) bool {
	return claim == file || strings.HasPrefix(file, strings.TrimSuffix(claim, "/")+"/")
}

// Lists reports whether an executor in dir means a file by a name in its list.
func Lists(name, dir, file string) bool {
	return covers(path.Clean(strings.TrimPrefix(name, dir+"/")), file)
}
