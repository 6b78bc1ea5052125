package runner

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

// facts adds to stop what the run knows about its cause beyond the reason: the setting that ended it, and the failing
// checks.
func facts(r record.Run, stop record.Stop) record.Stop {
	if f := r.Failure(); f != nil && f.Reason == stop.Reason {
		if stop.ResumeAfter.IsZero() {
			stop.ResumeAfter, stop.Reached = f.RetryAt, f.Reached
			if f.RetryAfter > 0 {
				stop.ResumeAfter = r.UpdatedAt.Add(time.Duration(f.RetryAfter)).UTC()
			}
		}
		stop.Setting, stop.Undo = cmp.Or(stop.Setting, f.Setting), f.Undo
	}
	stop.Setting = cmp.Or(stop.Setting, settingOf(r, stop))
	if family := record.ReasonOf(stop.Reason).Family; family == record.FamilyReview || family == record.FamilyChecks {
		for _, c := range r.Failing() {
			stop.FailingChecks = append(stop.FailingChecks, c.Name)
		}
	}
	return stop
}

// settingOf returns the setting that ends runs for the reason of stop, or nil.
func settingOf(r record.Run, stop record.Stop) *runplan.Setting {
	switch stop.Reason {
	case record.ReasonScope:
		if a := r.LastAttempt(); a != nil {
			return r.Plan.ScopeSetting(a.Files)
		}
	case record.ReasonReviewLoop, record.ReasonChecksFailed:
		if len(stop.Repeated) == 0 || stop.Round > stop.MaxRounds {
			return r.Plan.Setting(runplan.SettingRetries, fmt.Sprint(r.Plan.Policy.MaxRetries))
		}
	case record.ReasonBudget:
		return r.Plan.Setting(runplan.SettingBudget, r.Plan.Policy.TimeBudget.String())
	}
	return nil
}

// Limits of a quotation in a stop.
const (
	saidLines = 12
	saidBytes = 1500
)

// said quotes the agent that caused the stop: an implementer that could not do the work, waits for somebody or changed
// nothing, or a reviewer whose answer could not be read.
func (t *execution) said(stop record.Stop) (by, text string) {
	switch a, round := t.run.LastAttempt(), t.run.LastRound(); stop.Reason {
	case record.ReasonBlocked, record.ReasonCheckpoint, record.ReasonNoChange:
		if a != nil && a.Refutes != "" {
			return a.Agent, a.Refutes
		}
		if a != nil && a.Event != "" {
			answer, _ := t.Store.Attachment(t.ctx, a.Event, "executor.md") // if it fails: the agent said nothing
			return a.Agent, beginning(cmp.Or(reply.ParseExecutor(string(answer)).Reason, string(answer)))
		}
	case record.ReasonReviewUnreadable:
		if round != nil {
			return round.Reviewer, beginning(round.Report.Text)
		}
	}
	return "", ""
}

// beginning returns the start of text, as much as a stop quotes.
func beginning(text string) string {
	text = cleaned(text)
	lines := strings.SplitAfterN(text, "\n", saidLines+1)
	short := prose.Cut(strings.Join(lines[:min(len(lines), saidLines)], ""), saidBytes)
	if len(short) < len(text) {
		return strings.TrimRight(short, " \t\n") + " …"
	}
	return short
}

// cleaned removes from an agent's text what only a terminal or a browser would interpret.
func cleaned(text string) string {
	text, _ = markdown.Clean(text, &markdown.Warnings{})
	return strings.TrimSpace(text)
}

func (t *execution) stop(stop record.Stop, kind record.EventType[record.StopPayload]) error {
	var files map[string][]byte
	stop = facts(t.run, stop)
	if stop.Said == "" {
		stop.SaidBy, stop.Said = t.said(stop)
	}
	stop.LastActivity, stop.At = t.run.LastActivity(), t.Store.EventTime()
	if t.Explain != nil {
		stop, files = t.Explain(t.run, stop)
	}
	t.setEvidenceAside()
	if !t.run.Plan.InPlace && !t.gone() && !t.Store.Repo.Stopped() {
		stop.Tree, _ = t.tree.NormalTree(t.ctx) // without it nothing counts as changed later
	}
	if err := workspace.WriteFiles(workspace.FilesDir(t.Store, t.run.ID), files); err != nil {
		t.Progress.Say(err.Error())
	}
	title := stop.Reason
	if stop.Round > 0 {
		title = record.RoundOf(stop.Round, stop.MaxRounds) + ", " + prose.Count(len(stop.Unmet), "request") + " unmet"
	}
	event := kind.New("runner", title, record.StopPayload{Stop: stop, Commit: t.run.Head()})
	event.Attachments = files
	return t.record(event)
}

func (t *execution) giveUp(step Step) error {
	_, requests := t.run.Open()
	stop := record.Stop{
		Reason: step.Reason, Detail: step.Detail, Round: len(refusals(t.run, t.run.Plan.Policy)),
		MaxRounds: t.run.Plan.Policy.MaxRetries,
		Unmet:     requests, Repeated: step.Repeated,
	}
	if step.Reason == record.ReasonReviewLoop {
		return t.stop(stop, record.EventReviewLoopDetected)
	}
	return t.stop(stop, record.EventRunStopped)
}
