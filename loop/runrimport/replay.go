package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/checklog"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// importSource is the source of imported events.
const importSource = "import"

// notRecorded is the reason of a result without an exit status.
const notRecorded = "not_recorded"

// importer makes the events of one run. It folds as it goes, so that each event is made in the state that it will be
// read in. It has no effects: the same timeline gives the same events, by which an import that was killed goes on.
type importer struct {
	run     record.Run
	source  SourceRun
	found   foundWork
	explain loop.Explainer
	events  []record.NewEvent
	bad     error

	commits   map[int]string       // id of the checkpoint with an attempt's work, by line of the attempt's event
	at        time.Time            // of the event that is being read
	activity  time.Time            // of the newest event before a stop
	open      bool                 // an attempt was begun and has not ended
	reviewAt  time.Time            // when the reviewer was asked
	pending   []record.CheckResult // of commands since the last check step
	checkedAt time.Time            // when the newest of them ran
	proof     string               // what the implementer showed for having changed nothing
	problem   map[string]string    // what went wrong, by runr's code of the stop that may follow
	halt      *halt
}

// importRun returns what becomes of source after run, which has only begun: all events but the first, and the run as
// they leave it.
func importRun(
	run record.Run, source SourceRun, found foundWork, now time.Time, explain loop.Explainer,
) ([]record.NewEvent, record.Run, error) {
	im := &importer{
		run: run, source: source, found: found, explain: explain,
		commits: source.checkpoints(), problem: map[string]string{}, at: source.at(0, now), activity: source.at(0, now),
	}
	for i, e := range source.Events {
		im.at = source.at(i, now)
		if handle := handlers[e.Type]; handle != nil {
			handle(im, e)
		}
		if im.halt == nil {
			im.activity = im.at
		}
	}
	im.finish()
	return im.events, im.run, im.bad
}

// checkpoints returns the recorded ids of the commits with the work of attempts, by line of the attempt's event.
func (r SourceRun) checkpoints() map[int]string {
	commits := map[int]string{}
	line := 0
	for _, e := range r.Events {
		switch {
		case e.Type == sourceImplement, e.Type == "worker_response" && e.Phase == "implement":
			line = e.Line
		case e.Type == sourceCheckpoint && line > 0:
			commits[line] = e.Commit
			line = 0
		}
	}
	return commits
}

// add records one event.
func (im *importer) add(event record.NewEvent) {
	body, err := json.Marshal(event.Payload)
	if err == nil {
		err = im.run.Apply(record.Event{Type: event.Type, Run: im.run.ID, Timestamp: im.at, Payload: body})
	}
	if err != nil && im.bad == nil { // unreachable: payloads are made here
		im.bad = fmt.Errorf("import %s: %w", event.Type, err)
	}
	event.At = im.at
	im.events = append(im.events, event)
}

// step returns the name of the workflow's step of a kind: for an agent's the one before the review. A workflow without
// such a step gets the usual name.
func (im *importer) step(kind runplan.StepKind) string {
	policy := im.run.Plan.Policy
	find := func(kind runplan.StepKind) int {
		return slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Kind == kind })
	}
	at, usual := find(kind), string(kind)
	if kind == runplan.StepAgent {
		at, usual = policy.FixStep(cmp.Or(max(find(runplan.StepReview), 0), len(policy.Workflow))), "implement"
	}
	if at < 0 {
		return usual
	}
	return policy.Workflow[at].Name
}

// mode returns how the implementer must have been asked: to fix what was refused or failed since its last turn.
func (im *importer) mode() record.AttemptMode {
	last, round, checks := im.run.LastAttempt(), im.run.LastRound(), im.run.LastChecks()
	switch {
	case last == nil:
		return record.ModeImplement
	case im.open:
		return last.Mode
	case round != nil && round.Attempt == last.Number && !round.Report.Effective.Passed():
		return record.ModeFix
	case checks != nil && checks.Attempt == last.Number && checks.Failed():
		return record.ModeFix
	}
	return record.ModeImplement
}

// begin records that an attempt began. An attempt that never ended is begun again under its number.
func (im *importer) begin(mode record.AttemptMode, agent string) {
	number := len(im.run.Attempts) + 1
	if im.open {
		number--
	}
	im.open = true
	a := record.Attempt{
		Number: number, Step: im.step(runplan.StepAgent), Mode: mode, Agent: agent, From: im.run.Head(), Files: []string{},
	}
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode), a))
}

// worked records the end of an attempt, which began with the event before when nothing says when it did.
func (im *importer) worked(e SourceEvent, a record.Attempt, text string) {
	im.active()
	im.flushChecks()
	if !im.open {
		end := im.at
		im.at = im.activity
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
	if e.Changed == nil {
		title = fmt.Sprintf("attempt %d by %s", a.Number, a.Agent)
	}
	im.add(record.EventAttemptCompleted.New(importSource, title, a).Attach("executor.md", text))
	im.open, im.proof = false, ""
}

// addResult adds a command's result. An earlier result of the same command in the same turn no longer counts.
func (im *importer) addResult(command string, exit int, output string) {
	command = prose.Cut(strings.TrimSpace(command), 4<<10)
	if command == "" || len(im.pending) >= maxSourceList {
		return
	}
	if over := len(output) - maxSourceText; over > 0 {
		output = "…\n" + strings.ToValidUTF8(output[over:], "")
	}
	im.pending = slices.DeleteFunc(im.pending, func(c record.CheckResult) bool { return c.Command == command })
	result := record.CheckResult{
		Name: im.checkName(command), Command: command, ExitCode: exit, Output: output,
		Said: checklog.Said(command, output, exit),
	}
	if exit < 0 {
		result.Reason = notRecorded
	}
	im.pending, im.checkedAt = append(im.pending, result), im.at
}

// runnerWords come before the word that says what a command does.
var runnerWords = prose.WordSet(`npm npx pnpm yarn bun bunx run exec go cargo make python python3 poetry uv bundle sh bash
	node env mvn gradle gradlew just task deno dotnet mix composer`)

// checkName returns the name of the configured check with that command, else the word that says what the command does:
// typecheck for "npm run typecheck". It is numbered where a check or another command has that name.
func (im *importer) checkName(command string) string {
	taken := map[string]bool{}
	for _, c := range im.run.Plan.Checks {
		if strings.TrimSpace(c.Command) == command {
			return c.Name
		}
		taken[c.Name] = true
	}
	for _, c := range im.pending {
		taken[c.Name] = true
	}
	word := "command"
	for _, field := range strings.Fields(command) {
		name := strings.Trim(prose.Cut(strings.ToLower(record.SafeName(path.Base(field))), 40), "_-.")
		if name == "" || field[0] == '-' || strings.Contains(field, "=") {
			continue
		}
		if word = name; !runnerWords.Has(word) {
			break
		}
	}
	name := word
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", word, i)
	}
	return name
}

// flushChecks records the results of commands as one check step.
func (im *importer) flushChecks() {
	if len(im.pending) == 0 {
		return
	}
	run := record.CheckRun{Step: im.step(runplan.StepCheck)}
	if a := im.run.LastAttempt(); a != nil {
		run.Attempt, run.Tree = a.Number, a.Commit
	}
	for i := range im.pending {
		im.pending[i].Tree = string(run.Tree)
	}
	run.Results = record.WithoutOutput(im.pending)
	now := im.at
	im.at = im.checkedAt
	im.add(record.EventChecksCompleted.New(importSource, run.Title(), run).AttachChecks(im.pending))
	im.at, im.pending = now, nil
}

// round records what a reviewer answered. How many lines it saw was not recorded: its census says one a file, so that
// it is not taken for a review of nothing.
func (im *importer) round(reviewer, text string) {
	round := record.RoundPayload{Step: im.step(runplan.StepReview), Round: record.Round{
		Number: len(im.run.Rounds) + 1, Reviewer: reviewer, Report: reply.ParseReview(text, ""),
	}}
	files := 1
	if a := im.run.LastAttempt(); a != nil {
		round.Attempt, round.Commit, round.Tree = a.Number, a.Commit, a.Tree
		files = max(1, len(a.Files))
		if checks := im.run.LastChecks(); checks != nil && checks.Attempt == a.Number {
			round.Checks = checks.Results
		}
	}
	round.Census = record.Census{Files: files, SentFiles: files, Lines: files, SentLines: files}
	report := &round.Report
	report.Effective = reply.EffectiveVerdict(report.Verdict, report.Findings, round.ChecksFailed())
	if !im.reviewAt.IsZero() {
		round.Duration = duration.Duration(max(0, im.at.Sub(im.reviewAt)))
	}
	im.reviewAt = time.Time{}
	title := fmt.Sprintf("round %d %s by %s, %s", round.Number, report.Effective, reviewer,
		prose.Count(len(report.Findings), "finding"))
	im.add(record.EventRoundCompleted.New(importSource, title, round).Attach("review.md", text))
}

// head returns the commit that notes about the run's end go to, or "" when nothing tells where the run stood.
func (im *importer) head() gitstore.ID {
	if head := im.run.Head(); head != im.run.Plan.Base || im.found.base == head {
		return head
	}
	return ""
}
