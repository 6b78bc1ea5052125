package record

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// CheckResult is the evidence that one check left behind. The fields from NotRun on
// are the judgement of it: see loop.Checker.
type CheckResult struct {
	Name     string            `json:"name"`
	Command  string            `json:"command"`
	ExitCode int               `json:"exit_code"`            // -1 when it did not end by itself
	Reason   string            `json:"reason,omitempty"`     // why it did not end by itself or could not run: timeout, not_found, not_installed, signal:NAME, untrusted_config
	Output   string            `json:"output,omitempty"`     // head and tail of both streams, capped
	Tree     string            `json:"tree,omitempty"`       // the tree it ran on
	Said     string            `json:"said,omitempty"`       // what the output says in a few words: see checklog.Said
	Duration duration.Duration `json:"duration_ms,omitzero"` // wall time
	Again    string            `json:"-"`                    // output of a second run on the same tree that failed too

	NotRun         string         `json:"not_run,omitempty"`          // why it says nothing about the change: "eslint is not installed"
	Flaky          bool           `json:"flaky,omitempty"`            // it failed, and passed when it was run once more on the same tree
	FailsOnBase    bool           `json:"fails_on_base,omitempty"`    // it fails in the same way without the change
	Failures       []CheckFailure `json:"failures,omitempty"`         // that the base does not have, the first few that the output names
	FailuresMore   int            `json:"failures_more,omitempty"`    // how many more there are
	FailuresOnBase int            `json:"failures_on_base,omitempty"` // how many the base has as well
	Excerpt        string         `json:"excerpt,omitempty"`          // lines of the output from the first failure on, capped
}

// CheckFailure is one thing that a check's output says is wrong, on one line.
type CheckFailure struct {
	Test    string `json:"test,omitempty"`
	File    string `json:"file,omitempty"` // relative to the top of the tree; "" when it is not known
	Line    int    `json:"line,omitempty"` // from 1
	Message string `json:"message,omitempty"`
}

// RuleOfCheck begins the rule of a finding that says that a check fails; the check's
// name follows.
const RuleOfCheck = "check:"

// RuleSecret is the rule of keys and passwords, which a later commit takes out of no history.
const RuleSecret = "secret"

// RuleLimit is the rule of the finding that counts those which a report has no room for.
const RuleLimit = "limit"

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
	if c.Flaky {
		state += ", flaky: it failed before on the same tree"
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

// Shown is what a prompt quotes of the output of a check that did not pass: from the
// first failure on, else the last n lines.
func (c CheckResult) Shown(n int) string {
	if c.Excerpt != "" {
		return c.Excerpt
	}
	return prose.Tail(c.Output, n)
}

// CheckLog is where an event keeps the whole output of the check called name.
func CheckLog(name string) string { return "checks/" + SafeName(name) + ".log" }

// LogCommand is what to type to read the whole output of the check called name, which
// event keeps.
func LogCommand(event gitstore.ID, name string) string {
	return "git show " + string(event[:min(len(event), 12)]) + ":" + CheckLog(name)
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

// AttachChecks is the event with the output of checks, which its payload leaves out.
func (d NewEvent) AttachChecks(results []CheckResult) NewEvent {
	for _, c := range results {
		d = d.Attach(CheckLog(c.Name), c.Output)
	}
	return d
}

// OutputInEvent is how much of a check's output its event carries, in bytes.
const OutputInEvent = 4 << 10

// WithoutOutput are results with the last OutputInEvent bytes of their output, as their
// event has them.
func WithoutOutput(results []CheckResult) []CheckResult {
	short := make([]CheckResult, len(results))
	for i, c := range results {
		if len(c.Output) > OutputInEvent {
			c.Output = "…\n" + strings.ToValidUTF8(c.Output[len(c.Output)-OutputInEvent:], "")
		}
		short[i] = c
	}
	return short
}

// SafeName is name as a file name of a tree.
func SafeName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(clean, ".")
}
