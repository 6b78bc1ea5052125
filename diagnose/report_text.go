package diagnose

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// outcomeLine describes the state of the run.
func (r Report) outcomeLine() string {
	line := string(r.Outcome)
	switch {
	case r.StopReason != "" && r.Outcome == record.RunReviewing:
		line = string(record.RunStopped)
	case r.Outcome == outcomeUnknown:
		return "unknown: the start of this run has not arrived in this clone"
	case r.Outcome == record.RunRunning && !r.Live:
		line += ", but no process on this machine runs it"
	case r.Outcome == record.RunCompleted:
		line += ": " + r.Result
	}
	if r.StopReason != "" {
		line += ": " + r.StopReason
	}
	if r.Landed != "" {
		line += ", landed as " + r.Landed.Short()
	}
	return line
}

// line describes one check's newest result.
func (e ReportEvidence) line() string {
	line := e.Was
	if e.Stale {
		line += " (stale: the work has changed since)"
	}
	return line
}

// Text formats the report for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	safetext.Fprintf(&b, "Run %s  %s\n", r.RunID, oneLine(r.outcomeLine()))
	if name := r.Entity.Name(); name != "" {
		safetext.Fprintf(&b, "%s\n", oneLine(name))
	}
	if r.Base != "" {
		safetext.Fprintf(&b, "%s\n",
			oneLine(fmt.Sprintf("base %s, %s at %s", r.Base.Short(), r.Branch, r.Checkpoint.Short())))
	}
	writeText(&b, "", r.parts()...)
	return b.String()
}

// parts returns the lists of the report.
func (r Report) parts() []part {
	timeline, evidence, next := part{title: "Timeline"}, part{title: "Evidence"}, part{title: "Next", form: typed}
	for _, e := range r.Timeline {
		line := fmt.Sprintf("%6s  %s", "+"+took(e.Offset), e.Title)
		if e.Duration > 0 {
			line += " (" + took(e.Duration) + ")"
		}
		timeline.lines = append(timeline.lines, line)
		timeline.lines = append(timeline.lines, prefixed("\t        ", each.Of(e.details, oneLine))...)
	}
	for _, e := range r.Evidence {
		evidence.lines = append(evidence.lines, e.Check+": "+e.line())
		if e.Log != "" {
			evidence.lines = append(evidence.lines, "\tgit show "+e.Log)
		}
	}
	if r.Suggested != "" {
		next.lines = []string{r.Suggested}
	}
	return []part{timeline, {title: "Totals", lines: r.totalLines()}, evidence, next}
}
