package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// afterRead completes a decoded round.
func (r *RoundPayload) afterRead(Event) { r.Looked.read(r.Reviewer, &r.Report, r.Census) }

// CheckRun is one turn of a check step: the results of its checks.
type CheckRun struct {
	Step    string        `json:"step"`
	Attempt int           `json:"attempt"`
	Tree    gitstore.ID   `json:"tree"`
	Results []CheckResult `json:"results"`
	// what the checks saw that no commit has, because the run alters what git ignores
	Ignored []string `json:"ignored,omitempty"`
	// the results do not count, because a check changed things that are not its business
	Failure *Failure    `json:"failure,omitempty"`
	At      time.Time   `json:"at,omitzero"`
	Event   gitstore.ID `json:"event,omitempty"`
}

// Failures returns the results that count against the change.
func (c CheckRun) Failures() []CheckResult {
	return slices.DeleteFunc(slices.Clone(c.Results), func(r CheckResult) bool { return !r.Fails() })
}

// Failing returns the names of the checks that count against the change.
func (c CheckRun) Failing() string {
	names := each.Of(c.Failures(), func(r CheckResult) string { return r.Name })
	return strings.Join(names, ", ")
}

// Title says on one line how each check ended.
func (c CheckRun) Title() string {
	if c.Failure != nil {
		return "checks: " + c.Failure.Reason
	}
	parts := each.Of(c.Results, func(r CheckResult) string { return r.Name + " " + r.State() })
	return cmp.Or(strings.Join(parts, ", "), "no checks")
}

// Failed reports whether any check counts against the change.
func (c CheckRun) Failed() bool { return slices.ContainsFunc(c.Results, CheckResult.Fails) }

// Round is one turn of a reviewer.
type Round struct {
	Number   int               `json:"round"`
	Attempt  int               `json:"attempt"`
	Reviewer string            `json:"reviewer"`
	Looked   Looked            `json:"looked,omitempty"`    // who the reviewer is; filled in when it is decoded
	Review   string            `json:"review_id,omitempty"` // the review that people answered
	Commit   gitstore.ID       `json:"commit"`
	Tree     gitstore.ID       `json:"tree"`
	Report   reply.Report      `json:"report"`
	Census   Census            `json:"census"`
	Unseen   []gitstore.ID     `json:"unseen_commits,omitempty"` // of the run, as in Submission
	Change   string            `json:"change,omitempty"`         // of the run up to then, as in Submission
	Checks   []CheckResult     `json:"checks,omitempty"`
	Failure  *Failure          `json:"failure,omitempty"`
	Told     *Instructions     `json:"instructions,omitempty"`
	At       time.Time         `json:"at,omitzero"`
	Duration duration.Duration `json:"duration_ms,omitzero"`
	spend.Spent
	Event gitstore.ID `json:"event,omitempty"`
}

// ChecksFailed reports whether one of the round's checks failed.
func (r Round) ChecksFailed() bool { return CheckRun{Results: r.Checks}.Failed() }

// Said returns the reviewer's result, followed by the checks that keep the change from passing:
// "PASS; check test failed".
func (r Round) Said() string {
	return saidBeside(lookedBy(r.Reviewer, r.Report, r.Census), r.Report, r.Checks)
}

// saidBeside returns the result of a report, followed by the failing checks.
func saidBeside(looked Looked, report reply.Report, checks []CheckResult) string {
	failing := CheckRun{Results: checks}.Failing()
	if failing != "" && report.Effective == reply.NeedsFix {
		report.Effective = reply.EffectiveVerdict(report.Verdict, report.Findings, false)
	}
	report.Effective = looked.Of(report.Effective)
	if failing == "" {
		return report.Says()
	}
	return fmt.Sprintf("%s; check %s failed", report.Says(), failing)
}

// Words returns the round in its reviewer's own words.
func (r Round) Words() reply.Words {
	return reply.Words{By: fmt.Sprintf("%s, round %d", r.By(r.Reviewer), r.Number),
		Text: cmp.Or(r.Report.Text, r.Report.Summary)}
}

// RoundPayload is a round and its step of the workflow.
type RoundPayload struct {
	Round
	Step string `json:"step"`
}

// EmptyReport returns the report of a reviewer that said nothing. Its lists are empty, not nil.
func EmptyReport() reply.Report {
	return reply.Report{Format: reply.FormatNone, Findings: []reply.Finding{}, Requests: []string{}, Warnings: []string{}}
}

// RefusedBy reports whether the round has a usable answer that keeps the change from passing under the policy.
func (r Round) RefusedBy(p runplan.Policy) bool {
	return r.Failure == nil && !r.Report.Unreadable() && !r.Census.Nothing() && p.Blocks(r.Report, r.ChecksFailed())
}

// RefusedByChecks reports whether only failing checks keep the round from passing: the reviewer objects to
// nothing else.
func (r Round) RefusedByChecks(p runplan.Policy) bool {
	report := r.Report
	report.Findings = slices.DeleteFunc(slices.Clone(report.Findings), func(f reply.Finding) bool {
		return strings.HasPrefix(f.Rule, RuleOfCheck)
	})
	told := len(report.Findings) < len(r.Report.Findings)
	if told && !reply.HasSeverity(report.Findings, reply.Warning) {
		report.Verdict = reply.Pass // the reviewer reported the failing checks as findings
	}
	report.Effective = reply.EffectiveVerdict(report.Verdict, report.Findings, false)
	return r.ChecksFailed() && !p.Blocks(report, false)
}

// SawAll reports whether the reviewer answered and no file was left out.
func (r Round) SawAll() bool { return r.said() && len(r.Census.LeftOut) == 0 }

// said reports whether the round has a usable answer.
func (r Round) said() bool {
	return r.Failure == nil && r.Report.Format != reply.FormatNone && !r.Report.Unreadable()
}

func (r RoundPayload) took(Event) (string, spend.Spent) { return r.Reviewer, r.Spent }
