package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// detailsShown is how many files or findings of one step a report for people lists.
const detailsShown = 10

// took is a duration for people: three digits say enough.
func took(d record.Duration) string {
	t := time.Duration(d)
	switch {
	case t >= 48*time.Hour:
		return fmt.Sprintf("%dd%dh", int(t.Hours())/24, int(t.Hours())%24)
	case t >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(t.Hours()), int(t.Minutes())%60)
	case t >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(t.Minutes()), int(t.Seconds())%60)
	case t >= time.Second || t < time.Millisecond:
		return fmt.Sprintf("%ds", int(t.Round(time.Second).Seconds()))
	}
	return fmt.Sprintf("%dms", t.Milliseconds())
}

func (a ReportAttempt) title() string {
	title := fmt.Sprintf("attempt %d (%s) by %s", a.Number, a.Mode, a.Agent)
	switch {
	case a.Failure != nil:
		title += ": " + strings.TrimSpace(a.Failure.Reason+" "+a.Failure.Detail)
	case !a.Finished:
		return title + ": begun, not finished"
	default:
		title += ": " + prose.Count(len(a.Files), "file")
		if a.Counted {
			title += fmt.Sprintf(", +%d -%d", a.Added, a.Deleted)
		}
	}
	if a.Commit != "" {
		title += ", " + a.Commit.Short()
	}
	if a.Reverted {
		title += ", reverted later"
	}
	return title
}

func (a ReportAttempt) lines() []string {
	var lines []string
	for _, f := range a.Files[:min(len(a.Files), detailsShown)] {
		lines = append(lines, fileLine(f, a.Counted))
	}
	lines = appendMore(lines, len(a.Files), "file")
	if len(a.Unclaimed) > 0 {
		lines = append(lines, "changed, but not said: "+shortList(a.Unclaimed))
	}
	if len(a.Unchanged) > 0 {
		lines = append(lines, "said, but not changed: "+shortList(a.Unchanged))
	}
	for _, w := range a.Warnings {
		lines = append(lines, "note: "+w)
	}
	return lines
}

// fileLine is one file with its counts.
func fileLine(f gitstore.FileStat, counted bool) string {
	name := f.Path
	if f.OldPath != "" {
		name = f.OldPath + " → " + f.Path
	}
	switch {
	case !counted:
		return name
	case f.Binary:
		return name + "  binary"
	}
	return fmt.Sprintf("%s  +%d -%d", name, f.Added, f.Deleted)
}

func appendMore(lines []string, total int, noun string) []string {
	if more := total - detailsShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %s more", prose.Count(more, noun)))
	}
	return lines
}

func shortList(names []string) string {
	text := strings.Join(names[:min(len(names), detailsShown)], ", ")
	if more := len(names) - detailsShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (c ReportCheck) line() string {
	return fmt.Sprintf("%s: %s (%s)", cmp.Or(c.Name, c.Command), c.State, took(c.Duration))
}

func (r ReportRound) title() string {
	who := fmt.Sprintf("round %d by %s: ", r.Number, r.Reviewer)
	switch {
	case r.Failure != nil:
		return who + strings.TrimSpace(r.Failure.Reason+" "+r.Failure.Detail)
	case r.Census.Nothing():
		return who + "nothing to review"
	}
	return fmt.Sprintf("%s%s, %s", who, r.Verdict, r.Severity)
}

func (r ReportRound) lines() []string {
	var lines []string
	if r.Failure == nil {
		c := r.Census
		seen := fmt.Sprintf("saw %d of %s, %d of %s", c.SentFiles, prose.Count(c.Files, "file"), c.SentLines, prose.Count(c.Lines, "line"))
		if len(c.LeftOut) > 0 {
			seen += fmt.Sprintf(", %d left out: %s", len(c.LeftOut), c.Left())
		}
		lines = append(lines, seen)
	}
	for _, f := range r.Findings[:min(len(r.Findings), detailsShown)] {
		lines = append(lines, findingLine(f))
	}
	lines = appendMore(lines, len(r.Findings), "finding")
	for _, asked := range r.Requests {
		lines = append(lines, "asked: "+asked)
	}
	for _, w := range r.Warnings {
		lines = append(lines, "note: "+w)
	}
	return lines
}

func findingLine(f reply.Finding) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, strings.TrimSpace(f.Place()+"  "+f.Issue)))
}

// outcomeLine is how the run stands.
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

// timeLine divides the run's time.
func (r Report) timeLine() string {
	line := took(r.Total)
	for _, name := range []string{phaseImplement, phaseCheck, phaseReview} {
		line += fmt.Sprintf(", %s %s", name, took(r.Phases[name].Duration))
	}
	return line + fmt.Sprintf(", waiting %s, other %s", took(r.Waiting), took(r.Unattributed))
}

// totalLines are the counts, a label and a value each.
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
	if trouble := r.Reliability.line(); trouble != "" {
		lines = append(lines, [2]string{"trouble", trouble})
	}
	return lines
}

// line lists what went wrong; "" when nothing did.
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

// evidenceLine is one check's newest state.
func (e ReportEvidence) line() string {
	line := e.Was
	if e.Stale {
		line += " (stale: the work has changed since)"
	}
	return line
}

// Text is the report for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Run %s  %s\n", r.RunID, oneLine(r.outcomeLine()))
	if name := r.Entity.Name(); name != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(name))
	}
	if r.Base != "" {
		fmt.Fprintf(&b, "%s\n", oneLine(fmt.Sprintf("base %s, %s at %s", r.Base.Short(), r.Branch, r.Checkpoint.Short())))
	}
	b.WriteString("\nTimeline\n")
	for _, e := range r.Timeline {
		fmt.Fprintf(&b, "%8s  %s%s\n", "+"+took(e.Offset), e.Title, e.tookSuffix())
		for _, line := range e.details {
			fmt.Fprintf(&b, "            %s\n", oneLine(line))
		}
	}
	b.WriteString("\nTotals\n")
	for _, line := range r.totalLines() {
		fmt.Fprintf(&b, "  %-8s  %s\n", line[0], line[1])
	}
	if len(r.Evidence) > 0 {
		b.WriteString("\nEvidence\n")
		for _, e := range r.Evidence {
			fmt.Fprintf(&b, "  %s: %s\n", oneLine(e.Check), oneLine(e.line()))
			if e.Log != "" {
				fmt.Fprintf(&b, "    git show %s\n", e.Log)
			}
		}
	}
	if r.Suggested != "" {
		fmt.Fprintf(&b, "\nNext\n  %s\n", r.Suggested)
	}
	return b.String()
}

// tookSuffix says how long a step took, where it took time.
func (e ReportEntry) tookSuffix() string {
	if e.Duration == 0 {
		return ""
	}
	return " (" + took(e.Duration) + ")"
}
