package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Checks returns the configured checks that may run, and why others may not.
func (c *Config) Checks() (run []runplan.Check, not []string) {
	for _, check := range c.checks {
		if check.fromRepository && !c.trusted() {
			not = append(not, fmt.Sprintf("check %s: .runr.toml is not trusted; type: git runr trust", check.Name))
			continue
		}
		run = append(run, check.Check)
	}
	return run, not
}

// Worktree returns the settings for worktrees. If some are from the repository's file and that is not trusted, it
// returns none, and the reason.
func (c *Config) Worktree() (given runplan.Worktree, not []string) {
	if c.executed["worktree"] != nil && !c.trusted() {
		return given, []string{"[worktree]: .runr.toml is not trusted; type: git runr trust"}
	}
	return c.worktree, nil
}

// Notify returns the command that is notified of reviews, or nil if it requires trust and is not trusted.
func (c *Config) Notify() []string {
	if c.origin("hooks.notify") == FileName && !c.trusted() {
		return nil
	}
	return c.notify
}

// Trust returns the user's decision on the repository's commands as they are now. news lists what is new or changed
// since that decision, one line each.
func (c *Config) Trust() (state TrustState, news []string) {
	state, approved := c.trust.status(c.repo.CommonDir, c.commands())
	return state, trustDiff(approved, c.executables())
}

// Commands returns a line for each setting of the repository's file that names what it executes.
func (c *Config) Commands() (lines []string) {
	for _, line := range trustDiff(nil, c.executables()) {
		lines = append(lines, strings.TrimPrefix(line, "+ "))
	}
	return lines
}

func (c *Config) trusted() bool {
	state, _ := c.Trust()
	return state == Trusted
}

// Approve trusts the repository's commands as they are now and its standard checks, on the code that is checked out.
func (c *Config) Approve(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Standard, consent.Declined = true, false
	if head, err := c.repo.Head(ctx); err == nil {
		consent.Known = slices.DeleteFunc(consent.Known, func(id gitstore.ID) bool { return id == head })
		consent.Known = append([]gitstore.ID{head}, consent.Known[:min(len(consent.Known), maxKnown-1)]...)
	}
	return c.trust.approve(c.repo.CommonDir, c.commands(), consent, now)
}

// commands returns executables, or an empty object without any.
func (c *Config) commands() []byte {
	if commands := c.executables(); commands != nil {
		return commands
	}
	return []byte("{}")
}

// Revoke removes the approval of the repository's commands.
func (c *Config) Revoke() error { return c.trust.revoke(c.repo.CommonDir) }

func (c *Config) Executes() bool { return len(c.executed) > 0 }

// executables returns what the repository's file runs as canonical JSON, table to key to value, or nil if it runs
// nothing. This is what the user approves. Equal commands give equal bytes, however the file is formatted.
func (c *Config) executables() []byte {
	if len(c.executed) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(c.executed) // strings and lists of strings can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// approved returns the commands that were approved last, even if they have changed since.
func (c *Config) approved() []byte {
	if was, err := c.trust.read(c.repo.CommonDir); err == nil {
		return was.Approved
	}
	return []byte("{}")
}

// Decline records that the user refused the standard checks.
func (c *Config) Decline(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Declined = true
	return c.trust.approve(c.repo.CommonDir, c.approved(), consent, now)
}

// NotTrusted returns the error for running something that nobody has approved.
func NotTrusted(what string) error {
	return exit.Problemf(exit.Untrusted, "%s", what).WithHint("git runr trust --show", "git runr trust")
}

// TrustedPlan returns an error if checks of another clone's run are not trusted checks here, or if they may not run
// on that clone's code. For a run of this clone both were checked when it began.
func (c *Config) TrustedPlan(ctx context.Context, run record.Run) error {
	if c.repo.Owns(run.Writer) {
		return nil
	}
	trusted, _ := c.Checks()
	for _, check := range run.Plan.Checks {
		if !slices.ContainsFunc(trusted, func(known runplan.Check) bool { return known.Command == check.Command }) {
			return NotTrusted("check " + check.Name + " of another clone's run is not trusted here")
		}
	}
	tips := []gitstore.ID{run.Plan.Base}
	if head := run.Head(); head != "" {
		tips = append(tips, head)
	}
	if _, not := c.MayRun(ctx, run.Plan.Checks, nil, tips...); len(not) > 0 {
		return NotTrusted("checks not run: " + not[0])
	}
	return nil
}
