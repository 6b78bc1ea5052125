package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/safetext"
)

func writeFindings(w io.Writer, findings []reply.Finding) {
	for _, f := range findings {
		safetext.Fprintf(w, "\n  %-8s  %s\n", f.Severity, strings.TrimSpace(f.Place()+"  "+f.Issue))
		if f.Fix != "" {
			safetext.Fprintf(w, "            fix: %s\n", f.Fix)
		}
	}
}

func censusLine(c record.Census) string {
	line := fmt.Sprintf("%d of %d files, %d of %d lines", c.SentFiles, c.Files, c.SentLines, c.Lines)
	if len(c.LeftOut) > 0 {
		line += fmt.Sprintf(", %d left out: %s", len(c.LeftOut), c.Left())
	}
	if left := c.NotRun(); left != "" {
		line += "; " + left
	}
	if len(c.Unmatched) > 0 {
		line += "; no file matches exclude " + strings.Join(c.Unmatched, ", ")
	}
	if len(c.Overruled) > 0 {
		line += "; not left out, as the change itself changes what is: " + strings.Join(c.Overruled, ", ")
	}
	return line
}

// writeRuns shows one line a run.
func writeRuns(w io.Writer, runs []record.RunSummary, live func(string) bool) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		safetext.Fprintf(table, "%s\t%s\tattempts %d, rounds %d\t%s\n", r.ID, runState(r, live), r.Attempts, r.Rounds, r.Entity.Name())
	}
	table.Flush()
}

func runState(r record.RunSummary, live func(string) bool) string {
	switch {
	case r.Landed:
		return "landed"
	case r.Status == record.RunRunning && !live(r.ID):
		return "died" // its process is gone: git runr resume takes it up
	case r.Reason != "":
		return fmt.Sprintf("%s (%s)", r.Status, r.Reason)
	}
	return string(r.Status)
}

// writeRun shows a run to a person. tree is the working tree that it has of its own,
// where commands for it are run; "" where it has none.
func writeRun(w io.Writer, run record.Run, live bool, tree string) {
	safetext.Fprintf(w, "Run %s  %s\n", run.ID, runState(run.Summary(), func(string) bool { return live }))
	safetext.Fprintf(w, "%s\n", run.Plan.Entity.Name())
	safetext.Fprintf(w, "workflow %s; implementer %s, reviewer %s\n", run.Plan.Policy, cmp.Or(run.Plan.Implementer, "none"), run.Plan.Reviewer)
	safetext.Fprintf(w, "base %s, branch %s at %s\n", run.Plan.Base.Short(), run.Plan.Branch, run.Commit.Short())
	if tree != "" {
		safetext.Fprintf(w, "worktree: %s\n", tree)
	}
	for _, a := range run.Attempts {
		writeAttempt(w, a)
		for _, c := range run.Checks {
			if c.Attempt == a.Number {
				for _, result := range c.Results {
					writeCheck(w, "  ", result, c.Event)
				}
			}
		}
		for _, round := range run.Rounds {
			if round.Attempt == a.Number {
				writeRound(w, round)
			}
		}
	}
	if took := run.Spending.String(); took != "" {
		safetext.Fprintf(w, "\nthe agents took %s\n", took)
	}
	if run.Landed != nil {
		safetext.Fprintf(w, "\nlanded as %s on %s\n", run.Landed.Commit.Short(), cmp.Or(run.Landed.Branch, "a detached HEAD"))
	}
}

func writeAttempt(w io.Writer, a record.Attempt) {
	safetext.Fprintf(w, "\nattempt %d (%s) by %s: %s", a.Number, a.Mode, a.By(a.Agent), prose.Count(len(a.Files), "file"))
	if a.Commit != "" {
		safetext.Fprintf(w, ", %s", a.Commit.Short())
	}
	if a.Reverted != nil {
		safetext.Fprintf(w, ", reverted")
	}
	safetext.Fprintf(w, "%s\n", tookSuffix(a.Spent))
	writePassedOver(w, "  ", a.Spent)
	if a.Failure != nil {
		safetext.Fprintf(w, "  failed: %s %s\n", a.Failure.Reason, a.Failure.Detail)
	}
	if len(a.Unchanged) > 0 {
		safetext.Fprintf(w, "  said to be changed but is not: %s\n", strings.Join(a.Unchanged, ", "))
	}
	if len(a.Unclaimed) > 0 {
		safetext.Fprintf(w, "  changed but not said: %s\n", strings.Join(a.Unclaimed, ", "))
	}
	if r := a.Reverted; r != nil && len(r.Conflicts)+len(r.Left) > 0 {
		safetext.Fprintf(w, "  not taken back, changed since: %s\n", strings.Join(append(slices.Clone(r.Conflicts), r.Left...), ", "))
	}
}

// tookSuffix is what calls took, behind a semicolon; "" where no tool told it.
func tookSuffix(spent record.Spent) string {
	if took := spent.Usage.String(); took != "" {
		return "; " + took
	}
	return ""
}

// writePassedOver says why those gave no answer who were asked before somebody did.
func writePassedOver(w io.Writer, indent string, spent record.Spent) {
	for _, line := range spent.PassedOver() {
		safetext.Fprintf(w, "%s%s\n", indent, line)
	}
}

// failuresShown is how many failures of one check are shown.
const failuresShown = 3

// writeCheck shows how a check ended and, where it counts against the change, what it
// says is wrong and where its whole output is: event keeps it.
func writeCheck(w io.Writer, indent string, c record.CheckResult, event gitstore.ID) {
	safetext.Fprintf(w, "%scheck %s: %s\n", indent, c.Name, c.State())
	if !c.Fails() {
		return
	}
	for _, f := range c.Failures[:min(len(c.Failures), failuresShown)] {
		safetext.Fprintf(w, "%s  %s\n", indent, f.String())
	}
	if more := len(c.Failures) + c.FailuresMore - failuresShown; more > 0 {
		safetext.Fprintf(w, "%s  … and %d more\n", indent, more)
	}
	if c.Output != "" && event != "" {
		safetext.Fprintf(w, "%s  whole output: %s\n", indent, record.LogCommand(event, c.Name))
	}
}

func writeRound(w io.Writer, round record.Round) {
	if round.Failure != nil {
		safetext.Fprintf(w, "  round %d by %s: %s %s%s\n", round.Number, round.Reviewer, round.Failure.Reason, round.Failure.Detail, tookSuffix(round.Spent))
		writePassedOver(w, "    ", round.Spent)
		return
	}
	safetext.Fprintf(w, "  round %d by %s: %s, %s (%s)%s\n", round.Number, round.By(round.Reviewer), round.Report.Effective, prose.Count(len(round.Report.Findings), "finding"), censusLine(round.Census), tookSuffix(round.Spent))
	writePassedOver(w, "    ", round.Spent)
	for _, f := range round.Report.Findings {
		safetext.Fprintf(w, "    %-8s  %s\n", f.Severity, strings.TrimSpace(f.Place()+"  "+f.Issue))
	}
	for _, asked := range round.Report.Requests {
		if len(round.Report.Findings) == 0 {
			safetext.Fprintf(w, "    asked     %s\n", asked)
		}
	}
}

// eventJSON is an event as --json shows it. Seq is its place in the folded order.
type eventJSON struct {
	Seq int `json:"seq"`
	record.Event
	ID    string `json:"id"`
	Actor string `json:"actor"`
	Title string `json:"title"`
}

func eventDocuments(events []record.Event) []eventJSON {
	docs := make([]eventJSON, len(events))
	for i, e := range events {
		docs[i] = eventJSON{Seq: i + 1, Event: e, ID: string(e.ID), Actor: e.Actor, Title: e.Title}
	}
	return docs
}

func writeEvent(w io.Writer, e record.Event) error {
	about := e.Run
	if about == "" {
		about = e.Review
	}
	_, err := safetext.Fprintf(w, "%s  %s  %s\n", e.Timestamp.UTC().Format(time.DateTime), about, e.Title)
	return err
}

// shortTime is a time for people, in UTC.
func shortTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

// writeUndo says what to type to take a command back; "" is nothing.
func writeUndo(w io.Writer, undo string) {
	if undo != "" {
		safetext.Fprintf(w, "  %s   takes it back\n", undo)
	}
}

// pathsShown is how many paths a command names; all of them are in its JSON.
const pathsShown = 20

// writePaths names paths, a line each.
func writePaths(w io.Writer, what string, paths []string) {
	for _, path := range paths[:min(len(paths), pathsShown)] {
		safetext.Fprintf(w, "  %s  %s\n", what, path)
	}
	if more := len(paths) - pathsShown; more > 0 {
		safetext.Fprintf(w, "  … and %d more\n", more)
	}
}
