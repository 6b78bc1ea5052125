package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

func resolvedNote(e Event, p ActorPayload) (gitstore.ID, string) {
	return p.Commit, fmt.Sprintf("review %s resolved by %s%s", e.Review, prose.OneLine(p.Actor), afterColon(p.Note))
}

func reopenedNote(e Event, p ActorPayload) (gitstore.ID, string) {
	return p.Commit, fmt.Sprintf("review %s reopened by %s", e.Review, prose.OneLine(p.Actor))
}

func afterColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + prose.OneLine(text)
}

func afterComma(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

func submissionNote(e Event, sub Submission) (gitstore.ID, string) {
	if sub.Commit == "" {
		return "", ""
	}
	if sub.Outcome == OutcomeNothing {
		return sub.Commit, fmt.Sprintf("review %s by %s: nothing to review", e.Review, prose.OneLine(sub.Reviewer))
	}
	by := prose.OneLine(sub.By(sub.Reviewer))
	head := "review " + e.Review + " " + Says(by, sub.Said(), len(sub.Report.Findings)) + afterComma(sub.Census.NotRun())
	if sub.Decision != "" {
		if ByAnother(sub.Reviewer, e.Actor) {
			by += " (recorded by " + prose.OneLine(e.Actor) + ")"
		}
		head = fmt.Sprintf("review %s by %s: %s%s", e.Review, by, sub.Decision.Words(), afterColon(sub.Report.Summary))
		sub.Report.Requests = nil
	}
	return sub.Commit, head + unmetNote(sub.Findings(), sub.Report.Requests)
}

func roundNote(e Event, round RoundPayload) (gitstore.ID, string) {
	if round.Failure != nil {
		return "", ""
	}
	by := prose.OneLine(round.By(round.Reviewer))
	head := fmt.Sprintf("run %s round %d %s%s", e.Run, round.Number,
		Says(by, prose.OneLine(round.Said()), len(round.Report.Findings)), afterComma(round.Census.NotRun()))
	return round.Commit, head + unmetNote(round.Report.Findings, round.Report.Requests)
}

// findingsInNote is the maximum number of findings or requests that a note's line lists.
const findingsInNote = 5

// unmetNote lists the findings, or the requests if there are none.
func unmetNote(findings []reply.Finding, requests []string) string {
	if len(findings) == 0 {
		return listNote(requests)
	}
	return listNote(each.Of(findings, func(f reply.Finding) string {
		return fmt.Sprintf("%s %s %s", f.Severity, f.Place(), f.Issue)
	}))
}

// listNote returns the first few items as a list in parentheses.
func listNote(items []string) string {
	if len(items) == 0 {
		return ""
	}
	parts := each.Of(items[:min(len(items), findingsInNote)], prose.OneLine)
	text := " (" + strings.Join(parts, "; ")
	if more := len(items) - findingsInNote; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + ")"
}

// stopNote writes the whole diagnosis, so that people who have only the notes know what is unmet and what to
// type. What they type or search for is not shortened.
func stopNote(e Event, p StopPayload) (gitstore.ID, string) {
	head := "STOPPED: " + prose.OneLine(p.Reason)
	if p.Round > 0 {
		head += " (" + RoundOf(p.Round, p.MaxRounds) + ")"
	}
	lines := []string{head + afterColon(p.Detail)}
	typed := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+safetext.Line(text))
		}
	}
	if p.Setting != nil {
		lines = append(lines, "ended by "+p.Setting.String())
	}
	if !p.ResumeAfter.IsZero() {
		lines = append(lines, "resume after "+p.ResumeAfter.UTC().Format(time.DateTime+"Z"))
	}
	if p.Said != "" {
		lines = append(lines, prose.OneLine(cmp.Or(p.SaidBy, "the agent")+" said: "+p.Said))
	}
	typed("failing checks", strings.Join(p.FailingChecks, ", "))
	for i, r := range p.Unmet {
		lines = append(lines, fmt.Sprintf("unmet %d: %s", i+1, prose.OneLine(r)))
	}
	typed("unmet checks", strings.Join(p.UnmetChecks, ", "))
	for _, c := range p.Commands {
		typed("command", c)
	}
	typed("intervene", p.Intervention)
	for i, step := range p.NextSteps {
		typed(fmt.Sprintf("next %d", i+1), step)
	}
	prefix := "run " + e.Run + " "
	return p.Commit, prefix + strings.Join(lines, "\n"+prefix)
}

func completedNote(e Event, p CompletedPayload) (gitstore.ID, string) {
	text := fmt.Sprintf("run %s completed: %s", e.Run, p.Result)
	if p.By == "" && len(p.Open) == 0 {
		return p.Commit, text
	}
	text += ", accepted"
	if p.By != "" {
		text += " by " + prose.OneLine(p.By)
	}
	return p.Commit, text + unmetNote(p.Open, p.Requests)
}

// interventionNote writes the note on the run's commit.
func interventionNote(e Event, p InterventionPayload) (gitstore.ID, string) {
	text := fmt.Sprintf("run %s intervention (%s): %s", e.Run, prose.OneLine(p.Reason), prose.OneLine(p.Note))
	for _, c := range p.Commands {
		text += fmt.Sprintf("\nrun %s ran: %s: %s", e.Run, prose.OneLine(c.Command), c.State())
	}
	for _, left := range p.Evidence {
		text += fmt.Sprintf("\nrun %s was given output of %s: %s", e.Run, prose.OneLine(left.Check), left.State())
	}
	return p.On, text
}

// landedText says where a run landed, and as which commit it was reviewed.
func landedText(e Event, landed Landed, reviewed gitstore.ID) string {
	text := "run " + e.Run + " landed on " + cmp.Or(landed.Branch, "a detached HEAD")
	if reviewed != "" {
		text += ", reviewed as " + reviewed.Short()
	}
	if landed.Stale {
		text += ", which is another change: others had changed the same files"
	}
	return text
}

func landedNote(e Event, landed Landed) (gitstore.ID, string) {
	return landed.Commit, landedText(e, landed, landed.reviewedAs(landed.Commit))
}

func unlandedNote(e Event, landed Landed) (gitstore.ID, string) {
	return landed.Commit, fmt.Sprintf("run %s taken back from %s", e.Run, cmp.Or(landed.Branch, "a detached HEAD"))
}
