// Package render prints runs, reviews and events for people, and builds the documents that --json prints of them.
package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
)

// Findings prints the findings of a reviewer in a tree, each with its code and suggested fix.
func Findings(w io.Writer, findings []reply.Finding, tree gitstore.ID) {
	for _, f := range findings {
		fmt.Fprintln(w)
		writeFinding(w, "  ", f)
		screen.Code(w, tree, f.File, f.Line)
		screen.When(w, f.Fix != "", "            fix: %s\n", f.Fix)
	}
}

// writeFinding prints a finding in one line.
func writeFinding(w io.Writer, indent string, f reply.Finding) {
	place, issue := screen.Place{File: f.File, Line: f.Line, Shown: f.Place()}, strings.TrimSpace(f.Issue)
	if place.Shown != "" && issue != "" {
		issue = "  " + issue
	}
	safetext.Fprintf(w, "%s%-8s  %s%s\n", indent, f.Severity, place, issue)
}

func censusLine(c record.Census) string {
	line := fmt.Sprintf("%d of %s, %d of %s", c.SentFiles, prose.Count(c.Files, "file"), c.SentLines,
		prose.Count(c.Lines, "line"))
	if c.Parts > 0 {
		line += ", in " + prose.Count(c.Parts, "part")
	}
	if len(c.Cut) > 0 {
		line += ", " + prose.Names(c.Cut) + " in pieces"
	}
	line += c.Omissions()
	if left := c.NotRun(); left != "" {
		line += "; " + left
	}
	if len(c.Unmatched) > 0 {
		line += "; no file matches exclude " + strings.Join(c.Unmatched, ", ")
	}
	if len(c.Overruled) > 0 {
		line += "; not left out, because the change edits the exclusion: " + strings.Join(c.Overruled, ", ")
	}
	return line
}

// Runs prints one line for each run, with its status now, as from workspace.Status.
func Runs(w io.Writer, runs []record.RunSummary, style ListStyle) {
	rows := make([][]screen.Cell, len(runs))
	short := shortIDs(style, runs, func(r record.RunSummary) string { return r.ID })
	for i, r := range runs {
		state := RunState(r)
		if style.narrow() {
			state.Text, _, _ = strings.Cut(state.Text, " ")
		}
		id, title := screen.Name.Of(cmp.Or(short[r.ID], r.ID)), screen.Plain.Of(r.Entity.Name())
		switch {
		case style.Columns == 0:
			rows[i] = screen.Cells(id, state, screen.Plain.Of(fmt.Sprintf("attempts %d, rounds %d", r.Attempts, r.Rounds)),
				title)
		case style.narrow():
			rows[i] = screen.Cells(id, state, title)
		default:
			rows[i] = screen.Cells(id, state, screen.Plain.Of(prose.Count(r.Rounds, "round")),
				screen.Faint.Of(duration.Age(style.Now.Sub(r.UpdatedAt))), title)
		}
	}
	screen.Table(w, style.Columns, rows)
}

// RunState returns the state of a run in a word or two.
func RunState(r record.RunSummary) screen.Text {
	state, why := RunWords(r)
	text := state
	switch {
	case why != "" && state == stopped:
		text += ": " + why
	case why != "":
		text += " (" + why + ")"
	}
	switch {
	case r.Accepted != nil:
		return screen.Warning.Of(text)
	case r.Landed:
		return screen.Good.Of(text)
	}
	return screen.MeaningOf(r.Status).Of(text)
}

const stopped = string(record.RunStopped)

// RunWords returns the state of a run in one word, and why it is in that state or who accepted it, or "".
func RunWords(r record.RunSummary) (state, why string) {
	state, why = string(r.Status), r.Reason
	if why != "" && r.Status == record.RunReviewing { // what it waits for stopped it
		state = stopped
	}
	if r.Landed {
		state, why = "landed", ""
	}
	if r.Accepted != nil {
		why = "accepted " + r.Accepted.String()
	}
	return state, why
}

// Run prints a run for people, with its status now. tree is its own working tree, in which commands for it run; "" if
// it has none.
func Run(w io.Writer, run record.Run, tree string) {
	safetext.Fprintf(w, "Run %s  %s\n", screen.Name.Of(run.ID), RunState(run.Summary()))
	safetext.Fprintf(w, "%s\n", screen.Strong.Of(run.Plan.Entity.Name()))
	safetext.Fprintf(w, "workflow %s; implementer %s, reviewer %s\n", run.Plan.Policy,
		cmp.Or(run.Plan.Implementer, "none"), run.Plan.Reviewer)
	by := "started by %s on %s\n"
	if run.Plan.Imported != "" {
		by = "imported by %s, begun on %s\n"
	}
	screen.When(w, run.StartedBy != "", by, run.Starter(), screen.Time(run.CreatedAt))
	base, at := run.Plan.Base.Short(), ", branch "+run.Plan.Branch+" at "+run.Commit.Short()
	switch {
	case run.Landed != nil: // landing deletes the branch
		at = ", result " + run.Commit.Short()
	case run.WorkAway():
		base, at = cmp.Or(run.Plan.ImportedBase.Short(), "unknown"), "; none of its work is in this repository"
	}
	safetext.Fprintf(w, "base %s%s\n", base, at)
	screen.When(w, run.Audience != "", "%s\n", Audience(run.Audience))
	screen.When(w, tree != "", "worktree: %s\n", tree)
	writeFollowing(w, run, 0)
	for _, a := range run.Attempts {
		writeAttempt(w, a)
		writeFollowing(w, run, a.Number)
	}
	screen.When(w, run.Spending.String() != "", "\nthe agents took %s\n", run.Spending.String())
	if run.Landed != nil {
		safetext.Fprintf(w, "\n%s\n", run.Landed.Words())
	}
}

// writeFollowing prints the checks, the reviews and what people did after that many attempts, in order of time.
func writeFollowing(w io.Writer, run record.Run, attempts int) {
	type step struct {
		at    time.Time
		write func()
	}
	var steps []step
	for _, c := range run.Checks {
		if c.Attempt == attempts {
			steps = append(steps, step{c.At, func() {
				if c.Failure != nil {
					safetext.Fprintf(w, "  checks: %s %s\n", c.Failure.Reason, c.Failure.Detail)
				}
				for _, result := range c.Results {
					writeCheck(w, "  ", result, c.Event)
				}
				screen.When(w, len(c.Ignored) > 0, "  the change alters what git ignores; the checks ran beside ignored files, "+
					"which no commit has: %s\n", prose.FirstNames(c.Ignored, lostShown))
			}})
		}
	}
	for i, round := range run.Rounds {
		if round.Attempt == attempts {
			steps = append(steps, step{round.At, func() { writeRound(w, round, i == len(run.Rounds)-1) }})
		}
	}
	for _, iv := range run.Interventions {
		if iv.Attempts == attempts {
			steps = append(steps, step{iv.At, func() {
				safetext.Fprintf(w, "\nintervention %d (%s) by %s: %s\n", iv.Number, iv.Reason, iv.By, prose.OneLine(iv.Note))
			}})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	for _, s := range steps {
		s.write()
	}
}

// lostShown is the maximum number of files named. The command beside them restores all.
const lostShown = 10

func writeAttempt(w io.Writer, a record.Attempt) {
	changed := prose.Count(len(a.Files), "file")
	switch {
	case a.EndedAt.IsZero():
		changed = "begun, not finished"
	case a.Unseen():
		changed = "its files were not examined"
	}
	safetext.Fprintf(w, "\n%s: %s", a.Label(), changed)
	screen.When(w, a.Commit != "", ", %s", a.Commit.Short())
	screen.When(w, a.Reverted != nil, ", reverted")
	safetext.Fprintf(w, "%s\n", tookSuffix(a.Spent))
	writePassedOver(w, "  ", a.Spent)
	screen.When(w, a.Told != nil, "  instructions of the project: %s\n", a.Told)
	if a.Failure != nil {
		safetext.Fprintf(w, "  failed: %s %s\n", a.Failure.Reason, a.Failure.Detail)
	}
	screen.When(w, a.Tampered != "", "  before the stop, %s\n", a.Tampered)
	screen.Each(w, "  meanwhile: %s\n", a.Meanwhile)
	screen.When(w, a.AllCounted,
		"  the agent did not say what it changes: everything that changed here meanwhile counts\n")
	screen.When(w, len(a.Unchanged) > 0, "  reported as changed, but unchanged: %s\n", strings.Join(a.Unchanged, ", "))
	screen.When(w, len(a.Found) > 0, "  changed before the agent started, and committed with it: %s\n",
		prose.FirstNames(a.Found, lostShown))
	screen.When(w, len(a.Unclaimed) > 0, "  changed, but not reported: %s\n", strings.Join(a.Unclaimed, ", "))
	screen.Each(w, "  %s\n", a.NotCarried)
	screen.When(w, len(a.Lost) > 0, "  your own work that is gone: %s; to get it back: git runr undo --to %s --into DIR\n",
		prose.FirstNames(a.Lost, lostShown), a.Before.Short())
	screen.When(w, len(a.Ignored) > 0,
		"  ignored files that changed meanwhile: %s; to get them back: git runr undo --to %s --into DIR\n",
		prose.FirstNames(a.Ignored, lostShown), a.Before.Short())
	screen.When(w, len(a.Modes) > 0, "  permissions that changed meanwhile: %s\n", prose.FirstNames(a.Modes, lostShown))
	screen.When(w, len(a.NotKept) > 0, "  changed meanwhile, and not kept: %s\n", prose.FirstNames(a.NotKept, lostShown))
	screen.When(w, a.Moved != nil, "  %s\n", a.Moved)
	if r := a.Reverted; r != nil && len(r.Conflicts)+len(r.Left) > 0 {
		safetext.Fprintf(w, "  not reverted, changed since: %s\n",
			strings.Join(append(slices.Clone(r.Conflicts), r.Left...), ", "))
	}
}

// tookSuffix returns the usage of calls after a semicolon, or "" if no tool reported it.
func tookSuffix(spent spend.Spent) string {
	if took := spent.Usage.String(); took != "" {
		return "; " + took
	}
	return ""
}

// writePassedOver prints the agents that were asked first and did not answer, and why.
func writePassedOver(w io.Writer, indent string, spent spend.Spent) {
	for _, line := range spent.PassedOver() {
		safetext.Fprintf(w, "%s%s\n", indent, line)
	}
}

// failuresShown is the maximum number of failures shown for one check.
const failuresShown = 3

// writeCheck prints how a check ended. For a failure it adds what is wrong and where the whole output is stored: in
// event.
func writeCheck(w io.Writer, indent string, c record.CheckResult, event gitstore.ID) {
	state := screen.Good.Of(c.State())
	if c.Fails() {
		state.Meaning = screen.Critical
	}
	safetext.Fprintf(w, "%scheck %s: %s\n", indent, c.Name, state)
	if !c.Fails() {
		return
	}
	for _, f := range c.Failures[:min(len(c.Failures), failuresShown)] {
		safetext.Fprintf(w, "%s  %s\n", indent, f.String())
	}
	More(w, indent+"  ", len(c.Failures)+c.FailuresMore-failuresShown)
	log := c.LogCommand(event)
	screen.When(w, log != "", "%s  whole output: %s\n", indent, log)
}

// writeRound prints a round; for the last one with the code of its findings.
func writeRound(w io.Writer, round record.Round, last bool) {
	if round.Failure != nil {
		safetext.Fprintf(w, "  round %d by %s: %s %s%s\n", round.Number, round.Reviewer, round.Failure.Reason,
			round.Failure.Detail, tookSuffix(round.Spent))
		writePassedOver(w, "    ", round.Spent)
		return
	}
	said := record.Says(round.By(round.Reviewer), round.Said(), len(round.Report.Findings))
	safetext.Fprintf(w, "  round %d %s, %s (%s)%s\n", round.Number, said,
		prose.Count(len(round.Report.Findings), "finding"), censusLine(round.Census), tookSuffix(round.Spent))
	writePassedOver(w, "    ", round.Spent)
	for _, f := range round.Report.Findings {
		writeFinding(w, "    ", f)
		if last {
			screen.Code(w, round.Tree, f.File, f.Line)
		}
	}
	for _, asked := range round.Report.Requests {
		screen.When(w, len(round.Report.Findings) == 0, "    asked     %s\n", asked)
	}
}

// Intervention prints what a person did for a run, and what to type next.
func Intervention(w io.Writer, run record.Run, iv record.Intervention) {
	safetext.Fprintf(w, "Intervention %d in %s (%s)\n", iv.Number, run.ID, iv.Reason)
	if iv.Lines != nil {
		safetext.Fprintf(w, "  on %s\n", iv.Lines.Where())
	}
	screen.When(w, iv.Commit != "", "  what changed since is %s on %s\n", iv.Commit.Short(), run.Plan.Branch)
	screen.When(w, len(iv.Commits) > 0, "  %s since %s\n", prose.Count(len(iv.Commits), "commit"), iv.Since.Short())
	screen.Each(w, "  changed  %s\n", iv.Theirs())
	screen.Each(w, "  as the attempt left it  %s\n", iv.LeftByAttempt)
	for _, c := range iv.Commands {
		screen.When(w, !c.OK() && c.Output != "", "%s\n", safetext.Block(c.Output))
		safetext.Fprintf(w, "  %s: %s\n", c.Command, c.State())
	}
	for _, e := range iv.Evidence {
		safetext.Fprintf(w, "  %s: %s\n", e.File, e.State())
	}
	safetext.Fprintf(w, "\nNext:\n  git runr resume %s\n", run.ID)
}

// EventDocument is an event in --json output. Seq is its place in the folded order.
type EventDocument struct {
	Seq int `json:"seq"`
	record.Event
	ID    string `json:"id"`
	Actor string `json:"actor"`
	Title string `json:"title"`
}

// EventDocuments returns the documents of events in the folded order. before is the number of earlier events.
func EventDocuments(events []record.Event, before int) []EventDocument {
	docs := make([]EventDocument, len(events))
	for i, e := range events {
		docs[i] = EventDocument{Seq: before + i + 1, Event: e, ID: string(e.ID), Actor: e.Actor, Title: e.Title}
	}
	return docs
}

// Undo prints the command that takes a command back, unless undo is "".
func Undo(w io.Writer, undo string) {
	screen.When(w, undo != "", "Take it back:\n  %s\n", undo)
}

// pathsShown is the maximum number of paths printed. JSON has all of them.
const pathsShown = 20

// Paths prints paths, one per line after what.
func Paths(w io.Writer, what string, paths []string) {
	for _, path := range paths[:min(len(paths), pathsShown)] {
		safetext.Fprintf(w, "  %s  %s\n", what, safetext.Name(path))
	}
	More(w, "  ", len(paths)-pathsShown)
}

// More prints how many entries of a list are not shown, if any.
func More(w io.Writer, indent string, n int) {
	screen.When(w, n > 0, "%s… and %d more\n", indent, n)
}

// Completed prints the result of a completed run, and how to get its work if it has not landed.
func Completed(w io.Writer, run record.Run) {
	result := record.ResultWords(run.Result)
	if run.Result == record.ResultBelow {
		result = "Completed " + result + ", and nobody has answered what the reviewer asked for"
	}
	if result == record.ResultUnreviewed {
		result = "unreviewed: nobody has looked at the result"
	}
	findings, _ := run.Open()
	if run.Result == record.ResultWithIssues {
		result = "Accepted " + run.Summary().Accepted.String()
		if round := run.LastRound(); round != nil && round.Report.Effective == reply.CriticalFail {
			result += fmt.Sprintf("; audit and the gate refuse it, because %s called it CRITICAL", round.By(round.Reviewer))
		}
	}
	if result == record.ResultChecked {
		what, by := "--worktree", record.Builtin
		if round := run.LastRound(); round != nil {
			by = round.By(round.Reviewer)
		}
		if !run.Plan.InPlace || run.HeadMoved() != nil { // the work may be committed
			what = span(run)
		}
		result = record.Says(by, string(reply.Checked), len(findings))
		safetext.Fprintf(w,
			"\n%s\nAsk a person to read it, or an agent by its name:\n  git runr review --reviewer human %s\n", result, what)
		result = "Or take it as it is"
	}
	switch {
	case run.Plan.InPlace && run.HeadMoved() != nil:
		safetext.Fprintf(w, "\n%s. %s: the work, or a part of it, may be committed there. Look at it: git diff %s\n", result,
			run.HeadMoved(), span(run))
	case run.Plan.InPlace:
		safetext.Fprintf(w, "\n%s. The work is in your checkout: look at it and commit it.\n", result)
	case run.Landed == nil:
		safetext.Fprintf(w, "\n%s. Bring it to your branch:\n  git runr land %s\n", result, run.ID)
	}
}

// Criteria prints the state of each done criterion of a completed run's task.
func Criteria(w io.Writer, criteria []diagnose.Criterion) {
	screen.When(w, len(criteria) > 0, "\nDone criteria:\n")
	screen.Each(w, "  %s\n", criteria)
}

// span is the range of what the run's attempts changed, whoever moved HEAD meanwhile.
func span(run record.Run) string { return run.Plan.Base.Short() + ".." + run.Head().Short() }
