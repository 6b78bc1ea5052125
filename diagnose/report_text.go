package diagnose

import (
	"fmt"
	"strings"

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
	b.WriteString("\nTimeline\n")
	for _, e := range r.Timeline {
		safetext.Fprintf(&b, "%8s  %s%s\n", "+"+took(e.Offset), e.Title, e.tookSuffix())
		for _, line := range e.details {
			safetext.Fprintf(&b, "            %s\n", oneLine(line))
		}
	}
	b.WriteString("\nTotals\n")
	for _, line := range r.totalLines() {
		safetext.Fprintf(&b, "  %-8s  %s\n", line[0], line[1])
	}
	if len(r.Evidence) > 0 {
		b.WriteString("\nEvidence\n")
		for _, e := range r.Evidence {
			safetext.Fprintf(&b, "  %s: %s\n", oneLine(e.Check), oneLine(e.line()))
			if e.Log != "" {
				safetext.Fprintf(&b, "    git show %s\n", e.Log)
			}
		}
	}
	if r.Suggested != "" {
		safetext.Fprintf(&b, "\nNext\n  %s\n", r.Suggested)
	}
	return b.String()
}
