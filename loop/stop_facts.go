package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/internal/markdown"
	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// Setting is a value of the configuration and where it comes from.
type Setting struct {
	Name  string `json:"name"` // as git runr help config has it: loop.max_retries
	Value string `json:"value"`
	From  string `json:"from,omitempty"` // default, .runr.toml, the user's file, git config or a flag
}

// SettingDefault is where a value comes from that nobody set.
const SettingDefault = "default"

// Names of settings that can end a run.
const (
	SettingRetries = "loop.max_retries"
	SettingBudget  = "loop.time_budget"
	SettingAllow   = "scope.allow"
	SettingDeny    = "scope.deny"
)

// String is the setting as a person reads it: "loop.max_retries = 2 (default)".
func (s Setting) String() string {
	text := prose.OneLine(s.Name + " = " + s.Value)
	if s.From != "" {
		text += " (" + prose.OneLine(s.From) + ")"
	}
	return text
}

// facts adds to stop what the run knows of its cause beyond the reason: the setting
// that ended it and the checks that fail.
func (r Run) facts(stop Stop) Stop {
	if stop.Setting == nil {
		stop.Setting = r.settingOf(stop)
	}
	if family := ReasonOf(stop.Reason).Family; family == FamilyReview || family == FamilyChecks {
		for _, c := range r.Failing() {
			stop.FailingChecks = append(stop.FailingChecks, c.Name)
		}
	}
	return stop
}

// settingOf is the setting that ended the run; nil where none did.
func (r Run) settingOf(stop Stop) *Setting {
	if f := r.failure(); f != nil && f.Reason == stop.Reason && f.Setting != nil {
		return f.Setting
	}
	switch stop.Reason {
	case ReasonScope:
		if a := r.lastAttempt(); a != nil {
			return r.Plan.scopeSetting(a.Files)
		}
	case ReasonReviewLoop, ReasonChecksFailed:
		if len(stop.Repeated) == 0 || stop.Round > stop.MaxRounds {
			return r.Plan.setting(SettingRetries, fmt.Sprint(r.Plan.Policy.MaxRetries))
		}
	case ReasonBudget:
		return r.Plan.setting(SettingBudget, r.Plan.Policy.TimeBudget.String())
	}
	return nil
}

// setting is the one called name as the plan has it, or else with the value alone.
func (p RunPlan) setting(name, value string) *Setting {
	for _, s := range p.Settings {
		if s.Name == name {
			return &s
		}
	}
	return &Setting{Name: name, Value: value}
}

// scopeSetting is the list of patterns that keeps the first of files that it does from
// being changed.
func (p RunPlan) scopeSetting(files []string) *Setting {
	outside := p.Scope.Outside(files)
	if len(outside) == 0 {
		return nil
	}
	name, globs := SettingAllow, p.Scope.Allow
	if gitstore.CompileGlobs(p.Scope.Deny).Match(outside[0]) {
		name, globs = SettingDeny, p.Scope.Deny
	}
	return p.setting(name, GlobList(globs))
}

// failure is why the agent that the run waited for last gave no answer; nil when it did.
func (r Run) failure() *Failure {
	if a := r.lastAttempt(); a != nil && r.last == AttemptCompleted {
		return a.Failure
	}
	if round := r.lastRound(); round != nil && r.last == RoundCompleted {
		return round.Failure
	}
	return nil
}

// Failing are the newest results that count against the run's work.
func (r Run) Failing() []CheckResult {
	checks := r.LastChecks()
	if a := r.lastAttempt(); checks == nil || a != nil && checks.Attempt != a.Number {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(checks.Results), func(c CheckResult) bool { return !c.Fails() })
}

// Bounds of what a stop repeats of somebody's words.
const (
	saidLines = 12
	saidBytes = 1500
)

// said are the words of whoever the run stopped for, where they are the reason: an
// implementer that could not do the work, waits for somebody or changed nothing, and a
// reviewer whose answer could not be read.
func (t *turn) said(stop Stop) (by, text string) {
	switch a, round := t.run.lastAttempt(), t.run.lastRound(); stop.Reason {
	case ReasonBlocked, ReasonCheckpoint, ReasonNoChange:
		if a != nil && a.Event != "" {
			answer, _ := t.Store.Attachment(t.ctx, a.Event, "executor.md") // none: it said nothing
			return a.Agent, beginning(cmp.Or(reply.ParseExecutor(string(answer)).Reason, string(answer)))
		}
	case ReasonReviewUnreadable:
		if round != nil {
			return round.Reviewer, beginning(round.Report.Text)
		}
	}
	return "", ""
}

// beginning is as much of the start of text as a stop repeats.
func beginning(text string) string {
	text, _ = markdown.Clean(text, &markdown.Warnings{})
	text = strings.TrimSpace(text)
	lines := strings.SplitAfterN(text, "\n", saidLines+1)
	short := prose.Cut(strings.Join(lines[:min(len(lines), saidLines)], ""), saidBytes)
	if len(short) < len(text) {
		return strings.TrimRight(short, " \t\n") + " …"
	}
	return short
}
