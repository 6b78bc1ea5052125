package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
)

// Text formats the metrics for a terminal.
func (m Metrics) Text() string {
	if m.Empty() {
		return fmt.Sprintf("No runs or reviews %s.\n", m.period())
	}
	var b strings.Builder
	section := func(name string, lines ...string) {
		safetext.Fprintf(&b, "\n%s\n", name)
		for _, line := range lines {
			safetext.Fprintf(&b, "  %s\n", line)
		}
	}
	safetext.Fprintf(&b, "Runs and reviews begun %s\n", m.period())
	section("Runs", m.Runs.lines()...)
	section("Stops", tallyLines(m.Stops)...)
	section("Time", m.stepLines()...)
	section("Findings", m.Findings.lines()...)
	section("Interventions", tallyLines(m.Interventions)...)
	section("Reviews", m.Reviews.lines()...)
	if len(m.Agents) > 0 {
		section("Agents", agentLines(m.Agents)...)
	}
	return b.String()
}

// agentLines returns the calls of each agent and their usage as reported.
func agentLines(spending spend.Spending) []string {
	var lines []string
	for _, agent := range spending.Agents() {
		u := spending[agent]
		line := fmt.Sprintf("%s: %s", oneLine(agent), prose.Count(u.Calls, "call"))
		if took := u.String(); took != "" {
			line += ", " + took
		}
		lines = append(lines, line)
	}
	return lines
}

// period formats the period in the time zone of the request; its end is exclusive.
func (m Metrics) period() string {
	return "from " + moment(m.Since) + " to " + moment(m.Until)
}

// moment formats a time, without the time of day at midnight.
func moment(t time.Time) string {
	if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04")
}

func (m RunMetrics) lines() []string {
	if m.Total == 0 {
		return []string{"none"}
	}
	lines := []string{fmt.Sprintf("%d: %s", m.Total, m.states())}
	if m.SuccessRate != nil {
		lines = append(lines, fmt.Sprintf("success rate    %s%% of %d that ended", decimal(*m.SuccessRate), m.Ended))
	}
	if m.Rounds.Count > 0 {
		lines = append(lines,
			fmt.Sprintf("first review    passed %d of %d", m.FirstReview, m.Rounds.Count),
			fmt.Sprintf("rounds to pass  %s", m.Rounds))
	}
	return append(lines, fmt.Sprintf("attempts a run  %s", m.Attempts))
}

func (m RunMetrics) states() string {
	return countsText([]counted{
		{m.Completed, "completed"}, {m.Landed, "of them landed"}, {m.Reviewing, "reviewing"}, {m.Stopped, "stopped"},
		{m.Skipped, "skipped"}, {m.Aborted, "aborted"}, {m.Running, "running"},
	})
}

type counted struct {
	n    int
	what string
}

// countsText lists the counts that are not zero.
func countsText(counts []counted) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// String formats the spread on a line.
func (s Spread) String() string {
	return fmt.Sprintf("p50 %d, p90 %d, max %d, mean %s", s.P50, s.P90, s.Max, strconv.FormatFloat(s.Mean, 'f', -1, 64))
}

// String formats the spread on a line.
func (s TimeSpread) String() string {
	return fmt.Sprintf("p50 %s, p90 %s, total %s (%s)", took(s.P50), took(s.P90), took(s.Total), prose.Count(s.Count, "turn"))
}

func (m Metrics) stepLines() []string {
	var lines []string
	for _, kind := range []string{phaseImplement, phaseCheck, phaseReview} {
		line := fmt.Sprintf("%-9s  none", kind)
		if s := m.Steps[kind]; s.Count > 0 {
			line = fmt.Sprintf("%-9s  %s", kind, s)
		}
		lines = append(lines, line)
	}
	return lines
}

func (m FindingMetrics) lines() []string {
	if m.Total == 0 {
		return []string{"none"}
	}
	lines := []string{fmt.Sprintf("%d: %s", m.Total, m.SeverityCounts)}
	for _, top := range []struct {
		what string
		list []Tally
	}{{"rules", m.Rules}, {"files", m.Files}} {
		if len(top.list) > 0 {
			lines = append(lines, top.what+"  "+tallyText(top.list))
		}
	}
	return lines
}

// tallyLines returns one line for each name, with the counts in a column.
func tallyLines(list []Tally) []string {
	if len(list) == 0 {
		return []string{"none"}
	}
	lines := make([]string, len(list))
	for i, t := range list {
		lines[i] = fmt.Sprintf("%4d  %s", t.Count, t.Name)
	}
	return lines
}

func tallyText(list []Tally) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = fmt.Sprintf("%s %d", t.Name, t.Count)
	}
	return strings.Join(parts, ", ")
}

func (m ReviewMetrics) lines() []string {
	if m.Requested == 0 {
		return []string{"none"}
	}
	lines := []string{
		fmt.Sprintf("%d requested: %s", m.Requested, countsText([]counted{
			{m.Submitted, "submitted"}, {m.Resolved, "of them resolved"}, {m.Open, "open"}, {m.Cancelled, "cancelled"}, {m.Failed, "whose reviewer failed"},
		})),
	}
	if m.Submitted > 0 {
		lines = append(lines,
			"outcomes         "+countsText([]counted{{m.Passed, "passed"}, {m.NotPassed, "did not pass"}, {m.Nothing, "saw nothing"}}),
			"time to submit   "+m.ToSubmit.words())
	}
	if m.Resolved > 0 {
		lines = append(lines, "time to resolve  "+m.ToResolve.words())
	}
	return lines
}

// words formats the spread without its sum, which is meaningless for waiting times.
func (s TimeSpread) words() string {
	return fmt.Sprintf("p50 %s, p90 %s, max %s", took(s.P50), took(s.P90), took(s.Max))
}
