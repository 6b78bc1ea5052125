package loop

import (
	"context"
	"fmt"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// Checker runs checks and judges what came of them. Whether a failure counts against
// a change is decided here and recorded with the result, the same for a review and a
// run: everybody else asks CheckResult.Fails.
type Checker struct {
	// Run runs one check in dir, whose files are those of tree.
	Run func(ctx context.Context, check Check, dir string, tree gitstore.ID) CheckResult
	// Judge fills in what result means for a change of the files changed, beside what
	// the check came to on the base; nil: it was not run there.
	Judge func(result CheckResult, base *CheckResult, changed []string) CheckResult
}

// RuleOfCheck begins the rule of a finding that says that a check fails; the check's
// name follows.
const RuleOfCheck = "check:"

// OK reports whether the check ran and succeeded.
func (c CheckResult) OK() bool { return c.ExitCode == 0 && c.Reason == "" && c.NotRun == "" }

// Fails reports whether the result counts against the change: the check ran, failed,
// and does not fail in the same way without the change.
func (c CheckResult) Fails() bool { return !c.OK() && c.NotRun == "" && !c.FailsOnBase }

// State is how the check ended, in a few words on one line.
func (c CheckResult) State() string {
	state := "ok"
	switch {
	case c.NotRun != "":
		return "not run: " + prose.OneLine(c.NotRun)
	case c.Reason != "":
		state = prose.OneLine(c.Reason)
	case c.ExitCode != 0:
		state = fmt.Sprintf("exit %d", c.ExitCode)
	}
	if c.Said != "" {
		state += " (" + prose.OneLine(c.Said) + ")"
	}
	if c.FailsOnBase {
		state += ", as on the base"
	}
	return state
}

// Why is what a check that did not pass says is wrong, on one line: its first failure,
// else how it ended.
func (c CheckResult) Why() string {
	if len(c.Failures) == 0 || c.NotRun != "" {
		return c.State()
	}
	why := prose.OneLine(c.Failures[0].String())
	if more := len(c.Failures) - 1 + c.FailuresMore; more > 0 {
		why += fmt.Sprintf(", and %d more", more)
	}
	return why
}

// String is the failure on one line: what failed, how, and where.
func (f CheckFailure) String() string {
	text := strings.Trim(f.Test+": "+f.Message, ": ")
	if f.Message == "" {
		text = f.Test + " failed"
	}
	if f.File == "" {
		return text
	}
	return strings.TrimSpace(text + " (" + reply.Finding{File: f.File, Line: f.Line}.Place() + ")")
}

// shown is what a prompt quotes of the output of a check that did not pass: from the
// first failure on, else the last n lines.
func (c CheckResult) shown(n int) string {
	if c.Excerpt != "" {
		return c.Excerpt
	}
	return prose.Tail(c.Output, n)
}

// CheckLog is where an event keeps the whole output of the check called name.
func CheckLog(name string) string { return "checks/" + safeName(name) + ".log" }

// LogCommand is what to type to read the whole output of the check called name, which
// event keeps.
func LogCommand(event gitstore.ID, name string) string {
	return "git show " + string(event[:min(len(event), 12)]) + ":" + CheckLog(name)
}

// checkup is a change whose checks are to be run.
type checkup struct {
	checks  []Check
	dir     string                 // the change, checked out
	tree    gitstore.ID            // that is in dir
	base    gitstore.ID            // what it is compared with; there is none where it is no commit
	changed []string               // paths that differ between the two
	own     func(Check) bool       // checks that count although they fail on the base; nil: none
	known   map[string]CheckResult // what checks came to on the base, by name; what is run is added
}

// check runs the checks of a change, and those that do not pass on its base too: what
// failed before is not this change's fault.
func (s *Store) check(ctx context.Context, c Checker, p Progress, job checkup) ([]CheckResult, error) {
	results := []CheckResult{}
	var asked []Check
	for _, check := range job.checks {
		p.Step("check", check.Name)
		result := c.Run(ctx, check, job.dir, job.tree)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		results = append(results, result)
		_, known := job.known[check.Name]
		if !result.OK() && result.Reason != NotInstalled && !known && (job.own == nil || !job.own(check)) {
			asked = append(asked, check)
		}
	}
	if err := s.checkBase(ctx, c, p, job, asked); err != nil {
		return nil, err
	}
	for i, check := range job.checks {
		var base *CheckResult
		if b, known := job.known[check.Name]; known {
			base = &b
		}
		results[i] = c.Judge(results[i], base, job.changed)
	}
	return results, nil
}

// checkBase fills in what checks come to on the base.
func (s *Store) checkBase(ctx context.Context, c Checker, p Progress, job checkup, checks []Check) error {
	if _, err := s.Repo.ReadCommit(ctx, job.base); len(checks) == 0 || err != nil {
		return nil // all is well, or there is nothing before
	}
	return s.inCheckout(ctx, job.base, func(tree *gitstore.Worktree) error {
		for _, check := range checks {
			p.Step("check", check.Name+" on the base")
			job.known[check.Name] = c.Run(ctx, check, tree.Dir, job.base)
		}
		return ctx.Err()
	})
}

// NotInstalled is the Reason of a check whose program is not on PATH: it was not started.
const NotInstalled = "not_installed"

// notRun counts the checks that could not be run.
func notRun(results []CheckResult) int {
	n := 0
	for _, c := range results {
		if c.NotRun != "" {
			n++
		}
	}
	return n
}
