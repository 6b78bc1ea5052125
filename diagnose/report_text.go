package diagnose

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// outcomeLine describes the state of the run.
func (r Report) outcomeLine() string {
	line := string(r.Outcome)
	switch {
	case r.Outcome == outcomeUnknown:
		return "unknown: the start of this run has not arrived in this clone"
	case r.Outcome == record.RunRunning && !r.Live:
		line += ", but no process on this machine carries it out"
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

// timeLine formats the parts of the run's time.
func (r Report) timeLine() string {
	line := took(r.Total)
	for _, name := range []string{phaseImplement, phaseCheck, phaseReview} {
		line += fmt.Sprintf(", %s %s", name, took(r.Phases[name].Duration))
	}
	return line + fmt.Sprintf(", waiting %s, other %s", took(r.Waiting), took(r.Unattributed))
}

// totalLines returns the counts, each with a label.
func (r Report) totalLines() [][2]string {
	t := r.Totals
	lines := [][2]string{
		{"time", r.timeLine()},
		{"attempts", fmt.Sprintf("%d, %s", t.Attempts, prose.Count(t.Reverts, "revert"))},
		{"rounds", fmt.Sprint(t.Rounds)},
		{"checks", fmt.Sprintf("%d run, %d failed", t.ChecksRun, t.ChecksFailed)},
		{"people", fmt.Sprintf("%s, %s, %s", prose.Count(t.Stops, "stop"), prose.Count(t.Interventions, "intervention"), prose.Count(t.Resumes, "resume"))},
		{"changed", fmt.Sprintf("%s, +%d -%d", prose.Count(t.Files, "file"), t.Added, t.Deleted)},
	}
	if took := r.Spending.String(); took != "" {
		lines = append(lines, [2]string{"agents", took})
	}
	if trouble := r.Reliability.line(); trouble != "" {
		lines = append(lines, [2]string{"trouble", trouble})
	}
	return lines
}

// line lists the problems, or returns "" if there are none.
func (r ReportReliability) line() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{r.AgentFailures, "agent failure"}, {r.Stalls, "stall"}, {r.Interrupted, "interrupted attempt"}, {r.LateResults, "late result"},
		{r.Unreadable, "unreadable event"}, {r.Conflicts, "revert conflict"}, {r.Unclaimed, "unclaimed file"}, {r.Unchanged, "unmet claim"},
	} {
		if p.n > 0 {
			parts = append(parts, prose.Count(p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
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
		safetext.Fprintf(&b, "%s\n", oneLine(fmt.Sprintf("base %s, %s at %s", r.Base.Short(), r.Branch, r.Checkpoint.Short())))
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
