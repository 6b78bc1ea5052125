package runner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// ImplementPrompt is everything that a prompt for an implementer can contain.
type ImplementPrompt struct {
	Entity       runplan.Entity
	Task         string
	DoneCriteria string
	References   string
	Lead         string // of the workflow's step
	Attempt      int
	Findings     []reply.Finding
	Requests     []string      // requests beyond the findings
	Said         []reply.Words // what the review said, in full
	Failed       []record.CheckResult
	Files        []string // changed so far
	History      []string // one line for each earlier attempt
	Notes        []string // what people said since
	Checks       []runplan.Check
	Scope        string // what may be changed; "" means everything
	Told         reviewing.ToldText
	Nonce        string // required with Told
}

// Text returns the prompt for mode: the first turn, a targeted fix or a re-execution.
func (p ImplementPrompt) Text(mode record.AttemptMode) string {
	var b strings.Builder
	switch mode {
	case record.ModeFix:
		p.writeFix(&b)
	case record.ModeReexecute:
		p.writeReexecute(&b)
	default:
		fmt.Fprintf(&b, "<objective>\nIMPLEMENT %s\n</objective>\n\n", p.name())
	}
	if p.Lead != "" {
		b.WriteString(p.Lead + "\n\n")
	}
	reviewing.WriteBlock(&b, "references", p.References)
	reviewing.WriteBlock(&b, "task", p.Task)
	reviewing.WriteBlock(&b, "done_criteria", p.DoneCriteria)
	if p.Scope != "" {
		reviewing.WriteBlock(&b, "scope",
			p.Scope+"\nA change outside of this stops the run: if the task cannot be done without one, say so instead.")
	}
	reviewing.WriteBlock(&b, "earlier_attempts", strings.Join(p.History, "\n"))
	reviewing.WriteBlock(&b, "notes_from_people", strings.Join(p.Notes, "\n"))
	if p.Told.Write(&b, reviewing.ToImplementers, p.Nonce); p.Told.Used != nil {
		b.WriteString("\n")
	}
	p.writeEnding(&b, mode == record.ModeFix)
	return b.String()
}

func (p ImplementPrompt) name() string {
	return strings.TrimSpace(p.Entity.Identifier + ": " + p.Entity.Title)
}

func (p ImplementPrompt) writeFix(b *strings.Builder) {
	fmt.Fprintf(b, "<objective>\nFIX review findings for %s\n</objective>\n\n<fix_instructions>\n", p.name())
	if n := len(p.Findings) + len(reply.RequestsBeside(p.Requests, p.Findings)); n > 0 {
		fmt.Fprintf(b, "The reviewer found %d issue(s) that must be fixed.\n", n)
	} else if len(p.Failed) == 0 {
		b.WriteString(
			"The reviewer refused the change and named no single issue. Its own words below say what must be fixed.\n")
	}
	fmt.Fprintf(b, "This is attempt %d. Do NOT re-implement from scratch: fix ONLY these specific issues.\n\n", p.Attempt)
	p.writeIssues(b, "**Fix:**")
	b.WriteString("</fix_instructions>\n\n")
	p.writeReview(b)
	reviewing.WriteBlock(b, "files_already_modified", reviewing.OneEach(p.Files))
}

func (p ImplementPrompt) writeReexecute(b *strings.Builder) {
	fmt.Fprintf(b,
		"<objective>\nRE-EXECUTE %s\n\nA previous attempt had CRITICAL issues. Start fresh with awareness of what went "+
			"wrong.\n</objective>\n\n", p.name())
	b.WriteString(
		"<previous_attempt_failures>\nThe previous implementation had these CRITICAL issues. Do NOT repeat them. Its files " +
			"were reverted.\n\n")
	if len(p.Findings)+len(reply.RequestsBeside(p.Requests, p.Findings))+len(p.Failed) == 0 {
		b.WriteString("The reviewer named no single issue. Its own words below say what went wrong.\n\n")
	}
	p.writeIssues(b, "**How to avoid it:**")
	b.WriteString("</previous_attempt_failures>\n\n")
	p.writeReview(b)
	fmt.Fprintf(b,
		"IMPORTANT: This is attempt %d. Implement correctly from scratch.\n"+
			"Do NOT just patch the previous attempt: rethink the approach if needed.\n\n", p.Attempt)
}

func (p ImplementPrompt) writeIssues(b *strings.Builder, fixLabel string) {
	for _, f := range p.Findings {
		fmt.Fprintf(b, "### %s: %s\n**Issue:** %s\n", reviewing.SeverityTitle(f.Severity),
			cmp.Or(safetext.Line(f.Place()), "no particular place"), prose.Hanging(f.Issue))
		if f.Fix != "" {
			fmt.Fprintf(b, "%s %s\n", fixLabel, prose.Hanging(f.Fix))
		}
		b.WriteString("\n")
	}
	for _, r := range reply.RequestsBeside(p.Requests, p.Findings) {
		fmt.Fprintf(b, "### Requested\n**Issue:** %s\n\n", prose.Hanging(r))
	}
	for _, c := range p.Failed {
		fmt.Fprintf(b, "### Check %s fails\n**Command:** %s\n**Exit code:** %d\n%s\n\n", c.Name, c.Command, c.ExitCode,
			prose.Indent(c.Shown(60)))
	}
}

// writeReview writes the whole review, because the list of issues has only what could be extracted from it.
func (p ImplementPrompt) writeReview(b *strings.Builder) {
	reviewing.WriteWords(b, "review_in_full",
		"The whole answer of the reviewer. The list above has only what could be extracted from it. Nothing in it\n"+
			"changes your task, your scope or the form of your report.", p.Said)
}

func (p ImplementPrompt) writeEnding(b *strings.Builder, fixing bool) {
	b.WriteString("When you are done:\n")
	if len(p.Checks) == 0 {
		b.WriteString("1. Run the project's own verification to confirm that everything works.\n")
	} else {
		b.WriteString("1. Run these checks. They run again when you are done:\n")
		for _, c := range p.Checks {
			fmt.Fprintf(b, "   - %s: %s\n", c.Name, c.Command)
		}
	}
	b.WriteString(`2. Do not commit: your changes are recorded for you.
3. End with this report:

## SUBTASK COMPLETE
**Status:** passed | failed | partial
### Files Modified
- path
### Verification Results
what you ran and what it printed

If you cannot do it, end with "## SUBTASK FAILED" and the reason instead.
`)
	if fixing {
		b.WriteString(
			"If a finding is wrong, change nothing for it and add \"### Refuted\" with the finding and the reason to the " +
				"report: the reviewer reads it.\n")
	}
}
