package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// PlanReview fills in plan to fix the findings of a submitted review, starting at the reviewed commit. If only is not
// empty, the plan has just the findings with those ids.
func PlanReview(plan *runplan.Plan, review record.Review, only ...string) error {
	subject := review.Request.Subject
	if subject.Commit == "" {
		return fmt.Errorf("review %s is of a working tree, not of a commit: %w", review.ID, gitstore.ErrNotFound)
	}
	plan.FromReview, plan.Base = review.ID, subject.Commit
	plan.Entity = runplan.Entity{Type: "review", Identifier: review.ID, Title: subject.Title}
	if len(only) > 0 {
		return planPart(plan, review, only)
	}
	plan.Findings = slices.DeleteFunc(review.Findings(), review.SettledFinding)
	settled := len(review.Findings()) - len(plan.Findings)
	for _, sub := range review.Submissions {
		findings := sub.Findings()
		todo := slices.DeleteFunc(slices.Clone(findings), review.SettledFinding)
		elsewhere := slices.DeleteFunc(slices.Clone(findings), func(f reply.Finding) bool { // settled or in plan
			return slices.ContainsFunc(plan.Findings, func(p reply.Finding) bool { return p.ID == f.ID })
		})
		asked := reply.RequestsBeside(sub.Requests(), elsewhere)
		if len(todo) == 0 && (len(findings) > 0 || sub.Outcome == record.OutcomePassed && len(asked) == 0) {
			continue
		}
		plan.Requests = append(plan.Requests, asked...)
		if said := sub.Words(); said.Text != "" {
			plan.Said = append(plan.Said, said)
		}
		mend(plan, sub.Checks, findings)
	}
	reply.BoundWords(plan.Said)
	if len(plan.Findings)+len(plan.Requests)+len(plan.Said) == 0 {
		return fmt.Errorf("review %s found nothing to fix: %w", review.ID, gitstore.ErrNoChange)
	}
	plan.Task = fmt.Sprintf("Address the review of %s (%s).\n\n%s", subject.Commit.Short(), safetext.Line(subject.Title),
		review.Request.Message)
	if settled > 0 {
		plan.Task += fmt.Sprintf("\n\n%s of the review is settled already and not listed: do not work on that.",
			prose.Count(settled, "finding"))
	}
	plan.DoneCriteria = "Everything that the review asks for is met. Do not undo what the change does for that, and do " +
		"not ask for it to be undone.\n" + reviewing.FormatFindings(plan.Findings)
	return nil
}

// planPart is PlanReview for the findings with the given ids.
func planPart(plan *runplan.Plan, review record.Review, only []string) error {
	plan.Part = true
	for _, id := range only {
		_, j, err := review.FindFinding(id)
		switch {
		case err != nil:
			return err
		case review.SettledFinding(j.Finding):
			return &record.StateError{What: "finding " + id, Status: "settled already", Cannot: "fixed"}
		case !slices.ContainsFunc(plan.Findings, func(f reply.Finding) bool { return f.ID == j.ID }):
			plan.Findings = append(plan.Findings, j.Finding)
		}
	}
	subject := review.Request.Subject
	plan.Task = fmt.Sprintf(
		"Address %s of the review of %s (%s).\n\nOthers deal with the other findings of the review: leave those alone.",
		prose.Count(len(plan.Findings), "finding"), subject.Commit.Short(), safetext.Line(subject.Title))
	plan.DoneCriteria = "What these findings ask for is met. Do not undo what the change does for that, and do not ask " +
		"for it to be undone.\n" + reviewing.FormatFindings(plan.Findings)
	return nil
}

// mend adds a request for each failing check that no finding reports.
func mend(p *runplan.Plan, results []record.CheckResult, findings []reply.Finding) {
	for _, c := range results {
		if !c.Fails() || slices.Contains(p.FailedChecks, c.Name) {
			continue
		}
		p.FailedChecks = append(p.FailedChecks, c.Name)
		if !slices.ContainsFunc(findings, func(f reply.Finding) bool { return f.Rule == record.RuleOfCheck+c.Name }) {
			p.Requests = append(p.Requests, prose.OneLine("check "+c.Name+" fails: "+c.Why()))
		}
	}
}

// asksFor reports whether the task includes making check pass: it then counts although it failed before the run. That
// holds for a check that failed in the review that the run addresses, or whose command the task names.
func asksFor(p runplan.Plan, check runplan.Check) bool {
	const shortest = 4 // "make" and shorter words occur in texts by chance
	return slices.Contains(p.FailedChecks, check.Name) ||
		p.FromReview == "" && len(check.Command) > shortest && strings.Contains(p.Task+"\n"+p.DoneCriteria, check.Command)
}
