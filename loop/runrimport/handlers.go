package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/loop"
	"git-runr/loop/duration"
	"git-runr/loop/internal/markdown"
	"git-runr/loop/internal/strictjson"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// importHandlers turn the other system's events into native ones.
var importHandlers = map[string]func(*importer, SourceEvent){
	"phase_start":                       (*importer).phase,
	"worker_response":                   (*importer).workerResponse,
	"implement_complete":                (*importer).implemented,
	"no_changes_evidence_ok":            (*importer).evidence,
	"no_changes_evidence_failed":        (*importer).evidence,
	"verification":                      (*importer).verified,
	"verify_failed_retry":               (*importer).verifyFailed,
	"verify_failed_max_retries":         (*importer).verifyFailed,
	"verify_complete":                   (*importer).verifyComplete,
	"review_complete":                   (*importer).reviewComplete,
	"resume":                            (*importer).tookUp,
	"run_resumed":                       (*importer).tookUp,
	"auto_resume_started":               (*importer).tookUp,
	"parse_failed":                      (*importer).parseFailed,
	"guard_violation":                   (*importer).violated,
	"ownership_violation":               (*importer).violated,
	"plan_scope_violation":              (*importer).violated,
	"parallel_file_collision":           (*importer).violated,
	"max_ticks_reached":                 (*importer).stopping,
	"run_dry_stop":                      (*importer).stopping,
	"run_complete":                      (*importer).stopping,
	record.EventReviewLoopDetected.Name: (*importer).stopping,
	record.EventRunStopped.Name:         (*importer).stopping,
}

// quietTypes are runr's other events, which say nothing that a native run keeps.
var quietTypes = prose.WordSet(`fresh_target preflight fast_path_skip worker_fallback late_worker_result_ignored ignored_changes checkpoint_complete
	checkpoint_sidecar_write_failed worker_stats auto_resume_scheduled auto_resume_result auto_resume_skipped auto_resume_exhausted
	auto_resume_loop_detected resume_checkpoint_selected milestone_index_corrected auto_stash_created worktree_recreated
	worktree_branch_mismatch node_modules_symlinked submit_validation_failed submit_conflict run_submitted front_door_shown continue_attempted
	continue_auto_fix_step continue_failed continue_success milestone_complete`)

func knownSource(eventType string) bool {
	return planTypes.Has(eventType) || quietTypes.Has(eventType) || importHandlers[eventType] != nil
}

// importRun is what becomes of source after run, which has only begun: all
// events but the first, and the run as they leave it.
func importRun(run record.Run, source SourceRun, found foundWork, now time.Time, explain loop.Explainer) ([]record.NewEvent, record.Run, error) {
	im := &importer{run: run, source: source, found: found, explain: explain, now: now, commits: map[int]string{}, problem: map[string]string{}}
	im.matchCheckpoints()
	im.at = source.at(0, now)
	im.activity = im.at
	im.stops = source.count(record.EventRunStopped.Name, record.EventReviewLoopDetected.Name, "max_ticks_reached")
	for i, e := range source.Events {
		handle := importHandlers[e.Type]
		im.at = source.at(i, now)
		if handle != nil {
			handle(im, e)
		}
		if im.halt == nil {
			im.activity = im.at
		}
	}
	im.finish()
	return im.events, im.run, im.bad
}

func (im *importer) tookUp(SourceEvent) { im.active() }

func (im *importer) phase(e SourceEvent) {
	im.active()
	switch phase := strings.ToUpper(e.fields.text("phase")); phase {
	case "VERIFY":
	case "IMPLEMENT":
		im.flushChecks()
		im.begin(im.mode(), "implementer")
	case "REVIEW":
		im.flushChecks()
		im.reviewAt = im.at
	default:
		im.flushChecks()
	}
}

// worked records the end of an attempt, which began with the event before when
// nothing says when it did.
func (im *importer) worked(e SourceEvent, a record.Attempt, text string) {
	im.active()
	im.flushChecks()
	if !im.open {
		end := im.at
		im.at = cmp.Or(im.activity, end)
		im.begin(im.mode(), a.Agent)
		im.at = end
	}
	begun := *im.run.LastAttempt()
	a.Number, a.Step, a.Mode, a.From = begun.Number, begun.Step, begun.Mode, begun.From
	a.Duration = duration.Duration(max(0, im.at.Sub(begun.StartedAt)))
	if id := im.found.commits[im.commits[e.Line]]; id != "" {
		a.Commit, a.Tree = id, im.found.trees[id]
	}
	title := fmt.Sprintf("attempt %d changed %s", a.Number, prose.Count(len(a.Files), "file"))
	if e.fields["changed_files"] == nil {
		title = fmt.Sprintf("attempt %d by %s", a.Number, a.Agent)
	}
	if a.Failure != nil {
		title = fmt.Sprintf("attempt %d: %s", a.Number, a.Failure.Reason)
	}
	im.add(record.EventAttemptCompleted.New(importSource, title, a).Attach("executor.md", text))
	im.open, im.proof = false, ""
}

// implemented reads implement_complete: the other system's own list of changed
// files, and the implementer's memo.
func (im *importer) implemented(e SourceEvent) {
	memo := e.fields.prose("handoff_memo", "response", "content")
	report := reply.ParseExecutor(memo)
	a := record.Attempt{Agent: e.agent("implementer"), Files: e.fields.paths("changed_files")}
	a.Claim(report)
	a.Warnings = nil
	if a.Status == reply.ExecutorUnknown {
		a.Status = reply.ExecutorComplete // so says the event
	}
	a.Verification = strings.TrimSpace(cmp.Or(report.Verification, memo) + "\n\n" + im.proof)
	im.worked(e, a, memo)
}

// workerResponse reads the event of a worker: an agent's answer, and in which phase.
func (im *importer) workerResponse(e SourceEvent) {
	text := e.fields.prose("response", "content", "output", "text")
	switch strings.ToLower(e.fields.text("phase")) {
	case "implement":
		im.implementerSaid(e, text)
	case "review":
		im.reviewed(e, text)
	}
}

// implementerSaid keeps the whole answer as what the implementer showed. Which
// files it changed nobody recorded, so there is nothing to compare its list with.
func (im *importer) implementerSaid(e SourceEvent, text string) {
	said := implementerAnswer(text)
	report := reply.ParseExecutor(said)
	a := record.Attempt{
		Agent: e.agent("implementer"), Files: []string{}, Claimed: report.Files, Status: report.Status,
		Verification: cmp.Or(report.Verification, said),
	}
	im.worked(e, a, text)
}

// implementerAnswer is text, or what a JSON answer in it says: the memo, the
// commands that the implementer says it ran, and what it saw.
func implementerAnswer(text string) string {
	clean, _ := markdown.Clean(text, &markdown.Warnings{})
	for _, span := range slices.Backward(markdown.JSON(markdown.Read(clean))) {
		var answer sourceFields
		if !span.Valid || strictjson.Decode([]byte(span.Data), &answer) != nil || answer["handoff_memo"] == nil && answer["commands_run"] == nil {
			continue
		}
		parts := []string{answer.prose("handoff_memo")}
		for _, list := range []struct{ key, title string }{{"commands_run", "Commands run:"}, {"observations", "Observations:"}} {
			if lines := answer.lines(list.key); len(lines) > 0 {
				parts = append(parts, list.title+"\n- "+strings.Join(lines, "\n- "))
			}
		}
		return strings.TrimSpace(strings.Join(parts, "\n\n"))
	}
	return text
}

// evidence is what an implementer shows for changing nothing.
func (im *importer) evidence(e SourceEvent) {
	im.active()
	im.proof = e.fields.prose("evidence", "evidence_provided")
	if errors := e.fields.lines("errors"); len(errors) > 0 {
		im.problem["insufficient_evidence"] = strings.Join(errors, "; ")
	}
}

// reviewComplete reads the reviewer's decision and changes as the reviewer itself
// would have answered.
func (im *importer) reviewComplete(e SourceEvent) {
	changes := []json.RawMessage{}
	raws := e.fields.raws("changes")
	if e.fields.text("changes") != "" {
		raws = []json.RawMessage{e.fields["changes"]}
	}
	for _, raw := range raws {
		if change := readableChange(raw); change != nil {
			changes = append(changes, change)
		}
	}
	im.reviewed(e, changesText(e.fields.text("status"), changes))
}

// readableChange is raw, or raw as a text where the parser of reviews would refuse
// it: one odd change must not hide the others.
func readableChange(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if _, err := reply.ReadChange(raw, &markdown.Warnings{}); err == nil && len(raw) <= maxSourceChange {
		return raw
	}
	text, err := json.Marshal(prose.Cut(sourceFields{"": raw}.prose(""), maxSourceChange))
	if err != nil { // unreachable: a string
		return nil
	}
	return text
}

// maxSourceChange is how much of one change is kept, in bytes.
const maxSourceChange = 16 << 10

// reviewed records a round.
func (im *importer) reviewed(e SourceEvent, text string) {
	im.active()
	im.flushChecks()
	im.round(e.agent("reviewer"), text)
}

// verified keeps the evidence of verification commands until their turn is over:
// the other system writes one event a tier.
func (im *importer) verified(e SourceEvent) {
	im.active()
	results := e.fields.objects("command_results")
	for _, r := range results {
		im.evidenceOf(r.text("command"), r.exit("exit_code", "exitCode"), r.prose("output"))
	}
	if len(results) > 0 {
		return
	}
	exit := -1
	if ok, _ := e.fields.truth("ok"); ok {
		exit = 0
	}
	for _, command := range e.fields.lines("commands") {
		im.evidenceOf(command, exit, "")
	}
}

// verifyFailed tells which command failed where the event before it did not say.
func (im *importer) verifyFailed(e SourceEvent) {
	im.active()
	failed := strings.TrimSpace(e.fields.text("failed_command"))
	for i, c := range im.pending {
		if c.Reason == "not_recorded" && c.Command == failed {
			im.pending[i].Reason, im.pending[i].ExitCode = "", 1
		}
	}
	if len(im.pending) == 0 && failed != "" {
		im.evidenceOf(failed, 1, "")
	}
	for _, c := range im.pending {
		if !c.OK() {
			im.problem[record.ReasonChecksFailed] = prose.OneLine(c.Command)
		}
	}
	im.flushChecks()
}

// verifyComplete ends a turn. Its own list matters where the commands were not
// recorded one by one.
func (im *importer) verifyComplete(e SourceEvent) {
	im.active()
	if len(im.pending) == 0 {
		for _, c := range e.fields.object("verification_evidence").objects("commands_run") {
			im.evidenceOf(c.text("command"), c.exit("exit_code"), "")
		}
	}
	im.flushChecks()
}

// stopping reads an event by which the run ends.
func (im *importer) stopping(e SourceEvent) {
	f := e.fields
	code := strings.TrimSpace(prose.Cut(f.text("reason", "stop_reason"), 100))
	switch e.Type {
	case record.EventReviewLoopDetected.Name:
		code = record.ReasonReviewLoop
	case "max_ticks_reached":
		code = e.Type
	case "run_complete":
		code = "complete"
	case "run_dry_stop":
		code = cmp.Or(code, "dry_run")
	}
	if code == "" && im.halt != nil {
		code = im.halt.code
	}
	im.stops--
	h := im.halting(code, true)
	h.round = cmp.Or(int(min(max(f.number("review_rounds"), f.number("round")), 1<<20)), h.round)
	h.max = cmp.Or(f.maxRounds(), h.max)
	if asked := f.requests(); len(asked) > 0 {
		h.unmet = asked
	}
	if same, _ := f.truth("same_fingerprint"); same {
		h.say("the reviewer asked for the same twice")
	}
	h.say("%s", f.text("error"))
	h.sayLimits(f)
}

// sayLimits says which limit was passed, where the event has one.
func (h *halt) sayLimits(f sourceFields) {
	if used, most := f.number("ticks_used"), f.number("max_ticks"); used > 0 && most > 0 {
		h.say("%d of %d steps used", used, most)
	}
	if quiet, most := f.duration("elapsed_ms"), f.duration("timeout_ms"); quiet > 0 && most > 0 {
		h.say("nothing happened for %s, %s are allowed", quiet.Round(time.Second), most.Round(time.Second))
	}
	if took, most := f.duration("worker_call_duration_ms"), f.duration("max_worker_call_ms"); took > 0 && most > 0 {
		h.say("a call took %s, %s are allowed", took.Round(time.Second), most.Round(time.Second))
	}
	if phase := f.text("phase"); phase != "" && len(phase) < 40 {
		h.say("in phase %s", phase)
	}
}

// violated reads an event that says what a stop will be for. What the implementer
// did outside its scope ends its attempt, as it does natively.
func (im *importer) violated(e SourceEvent) {
	f := e.fields
	if guard := f.object("guard"); guard != nil {
		f = guard
	}
	var files []string
	for _, key := range []string{"violations", "scope_violations", "lockfile_violations", "violating_files", "predicted_files"} {
		files = append(files, f.lines(key)...)
	}
	h := im.halting(e.Type, false)
	h.say("%s", strings.Join(append(files, f.lines("reasons")...), ", "))
	if nativeReason(e.Type) != record.ReasonScope || !im.open {
		return
	}
	halt := im.halt
	im.halt = nil
	changed := append(f.paths("scope_violations"), f.paths("lockfile_violations")...)
	changed = append(changed, f.paths("violating_files")...)
	failure := &record.Failure{Reason: record.ReasonScope, Detail: strings.Join(changed, ", ")}
	im.worked(e, record.Attempt{Agent: e.agent("implementer"), Files: changed, Failure: failure}, "")
	im.halt = halt
}

// parseFailed keeps why an answer could not be read, for the stop that may follow.
func (im *importer) parseFailed(e SourceEvent) {
	im.active()
	stage := e.fields.text("stage")
	im.problem[stage+"_parse_failed"] = strings.TrimSpace(prose.Cut(e.fields.text("error"), 500))
}

// finish records how the run ended. One that just ends was interrupted.
func (im *importer) finish() {
	if im.halt == nil {
		im.halt = &halt{code: record.ReasonInterrupted, at: im.at, stated: true, detail: []string{"the timeline ends without a stop"}}
	}
	im.at = im.halt.at
	im.flushChecks()
	if im.halt.completed() {
		im.complete()
		return
	}
	im.lastRound()
	im.beginNext()
	im.stop()
}
