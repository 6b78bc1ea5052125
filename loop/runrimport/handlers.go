package runrimport

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// Types of runr's events that are named more than once.
const (
	sourceStarted    = "run_started"
	sourcePlan       = "plan_generated"
	sourceCheckpoint = "checkpoint_complete"
	sourceImplement  = "implement_complete"
	sourceMaxTicks   = "max_ticks_reached"
)

// planTypes say what a run is. quietTypes say nothing that a run here keeps.
var (
	planTypes  = prose.WordSet(sourceStarted + " " + sourcePlan + " worktree_created")
	quietTypes = prose.WordSet(sourceCheckpoint + ` fresh_target preflight fast_path_skip worker_fallback ignored_changes
	late_worker_result_ignored checkpoint_sidecar_write_failed worker_stats auto_resume_scheduled auto_resume_result
	auto_resume_skipped auto_resume_exhausted auto_resume_loop_detected resume_checkpoint_selected
	milestone_index_corrected auto_stash_created worktree_recreated worktree_branch_mismatch node_modules_symlinked
	submit_validation_failed submit_conflict run_submitted front_door_shown continue_attempted continue_auto_fix_step
	continue_failed continue_success milestone_complete`)
)

// handlers make events of ours from runr's.
var handlers = map[string]func(*importer, SourceEvent){
	"phase_start":                       (*importer).phase,
	"worker_response":                   (*importer).workerResponse,
	sourceImplement:                     (*importer).implemented,
	"no_changes_evidence_ok":            (*importer).evidence,
	"no_changes_evidence_failed":        (*importer).evidence,
	"verification":                      (*importer).verified,
	"verify_failed_retry":               (*importer).verifyFailed,
	"verify_failed_max_retries":         (*importer).verifyFailed,
	"verify_complete":                   (*importer).verifyComplete,
	"review_complete":                   (*importer).reviewComplete,
	"resume":                            (*importer).resumed,
	"run_resumed":                       (*importer).resumed,
	"auto_resume_started":               (*importer).resumed,
	"parse_failed":                      (*importer).parseFailed,
	"guard_violation":                   (*importer).violated,
	"ownership_violation":               (*importer).violated,
	"plan_scope_violation":              (*importer).violated,
	"parallel_file_collision":           (*importer).violated,
	sourceMaxTicks:                      (*importer).stopping,
	"run_dry_stop":                      (*importer).stopping,
	"run_complete":                      (*importer).stopping,
	record.EventReviewLoopDetected.Name: (*importer).stopping,
	record.EventRunStopped.Name:         (*importer).stopping,
}

func knownSource(eventType string) bool {
	return planTypes.Has(eventType) || quietTypes.Has(eventType) || handlers[eventType] != nil
}

func (im *importer) resumed(SourceEvent) { im.active() }

func (im *importer) phase(e SourceEvent) {
	im.active()
	phase := strings.ToUpper(e.Phase)
	if phase == "VERIFY" {
		return
	}
	im.flushChecks()
	if phase == "IMPLEMENT" {
		im.begin(im.mode(), "implementer")
	}
	if phase == "REVIEW" {
		im.reviewAt = im.at
	}
}

// implemented reads runr's own list of changed files, and the implementer's memo.
func (im *importer) implemented(e SourceEvent) {
	memo := e.answer()
	report := reply.ParseExecutor(memo)
	a := record.Attempt{Agent: e.agent("implementer"), Files: insidePaths(e.Changed)}
	a.Claim(report)
	a.Warnings = nil
	if a.Status == reply.ExecutorUnknown {
		a.Status = reply.ExecutorComplete // the event says so
	}
	a.Verification = strings.TrimSpace(cmp.Or(report.Verification, memo) + "\n\n" + im.proof)
	im.worked(e, a, memo)
}

// workerResponse reads an agent's answer. Which files an implementer changed nobody recorded, so that there is nothing
// to compare its own list with; the whole answer is kept as what it showed.
func (im *importer) workerResponse(e SourceEvent) {
	text := e.answer()
	switch strings.ToLower(e.Phase) {
	case "implement":
		report := reply.ParseExecutor(text)
		im.worked(e, record.Attempt{
			Agent: e.agent("implementer"), Files: []string{}, Claimed: report.Files, Status: report.Status,
			Verification: cmp.Or(report.Verification, text),
		}, text)
	case "review":
		im.reviewed(e, text)
	}
}

// evidence keeps what an implementer shows for changing nothing.
func (im *importer) evidence(e SourceEvent) {
	im.active()
	im.proof = cmp.Or(textOf(e.Evidence), textOf(e.Provided))
	if errors := rows(e.Errors); len(errors) > 0 {
		im.problem["insufficient_evidence"] = strings.Join(errors, "; ")
	}
}

// reviewComplete reads the reviewer's decision and changes as the reviewer itself would have answered.
func (im *importer) reviewComplete(e SourceEvent) {
	var changes []string
	for _, raw := range e.Changes[:min(len(e.Changes), maxSourceList)] {
		if change := textOf(raw); strings.TrimSpace(change) != "" {
			changes = append(changes, prose.Cut(change, maxSourceChange))
		}
	}
	im.reviewed(e, changesText(e.Status, changes))
}

// changesText returns a reviewer's answer in runr's shape.
func changesText(status string, changes []string) string {
	body, _ := json.Marshal(map[string]any{"status": status, "changes": changes}) // which is always JSON
	return string(body)
}

func (im *importer) reviewed(e SourceEvent, text string) {
	im.active()
	im.flushChecks()
	im.round(e.agent("reviewer"), text)
}

// verified keeps the results of commands until their turn is over: runr writes one event for each tier of checks.
func (im *importer) verified(e SourceEvent) {
	im.active()
	for _, r := range e.Results {
		im.addResult(r.Command, r.exit(), r.Output)
	}
	if len(e.Results) > 0 {
		return
	}
	exit := -1
	if e.OK {
		exit = 0
	}
	for _, command := range e.Commands {
		im.addResult(command, exit, "")
	}
}

// verifyFailed says which command failed where the events before it do not.
func (im *importer) verifyFailed(e SourceEvent) {
	im.active()
	failed := strings.TrimSpace(e.FailedCommand)
	for i, c := range im.pending {
		if c.Reason == notRecorded && c.Command == failed {
			im.pending[i].Reason, im.pending[i].ExitCode = "", 1
		}
	}
	if len(im.pending) == 0 {
		im.addResult(failed, 1, "")
	}
	for _, c := range im.pending {
		if !c.OK() {
			im.problem[record.ReasonChecksFailed] = prose.OneLine(c.Command)
		}
	}
	im.flushChecks()
}

// verifyComplete ends a turn. Its own list counts only where the commands were not recorded one by one.
func (im *importer) verifyComplete(e SourceEvent) {
	im.active()
	if len(im.pending) == 0 {
		for _, r := range e.Verification.Run {
			im.addResult(r.Command, r.exit(), "")
		}
	}
	im.flushChecks()
}

// stopping reads an event with which the run ends.
func (im *importer) stopping(e SourceEvent) {
	code := strings.TrimSpace(prose.Cut(e.Reason, 100))
	switch e.Type {
	case record.EventReviewLoopDetected.Name:
		code = record.ReasonReviewLoop
	case sourceMaxTicks:
		code = e.Type
	case "run_complete":
		code = "complete"
	case "run_dry_stop":
		code = cmp.Or(code, "dry_run")
	}
	if code == "" && im.halt != nil {
		code = im.halt.code
	}
	h := im.halting(code, true)
	h.round, h.max = cmp.Or(e.rounds(), h.round), cmp.Or(e.maxRounds(), h.max)
	if asked := e.requests(); len(asked) > 0 {
		h.unmet = asked
	}
	if e.SameFingerprint {
		h.say("the reviewer asked for the same twice")
	}
	h.say("%s", e.Error)
	if e.TicksUsed > 0 && e.MaxTicks > 0 {
		h.say("%d of %d steps used", e.TicksUsed, e.MaxTicks)
	}
	h.sayLimit("nothing happened for %s, %s are allowed", e.Elapsed, e.Timeout)
	h.sayLimit("a call took %s, %s are allowed", e.CallDuration, e.MaxCall)
	if e.Phase != "" {
		h.say("in phase %s", prose.Cut(e.Phase, 40))
	}
}

// violated reads an event that says what a stop will be for.
func (im *importer) violated(e SourceEvent) {
	v := e.violations
	if e.Guard != nil {
		v = *e.Guard
	}
	files := rows(slices.Concat(v.Plan, v.Scope, v.Lockfiles, v.Files, v.Predicted, v.Reasons))
	im.halting(e.Type, false).say("%s", strings.Join(files, ", "))
}

// parseFailed keeps why an answer could not be read, for the stop that may follow.
func (im *importer) parseFailed(e SourceEvent) {
	im.active()
	im.problem[e.Stage+"_parse_failed"] = strings.TrimSpace(prose.Cut(e.Error, 500))
}
