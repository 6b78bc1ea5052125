package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// CheckResult is the evidence that one run of a check left behind. The fields from NotRun on are
// judgements about it: see checking.Checker.
type CheckResult struct {
	Name     string `json:"name"`
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"` // -1 if it did not exit by itself
	// why it did not exit by itself or could not run: timeout, not_found, not_installed, signal:NAME, untrusted_config
	Reason   string            `json:"reason,omitempty"`
	Output   string            `json:"output,omitempty"`     // beginning and end of both streams, truncated
	Tree     string            `json:"tree,omitempty"`       // the tree it ran on
	Said     string            `json:"said,omitempty"`       // summary of the output: see checklog.Said
	Duration duration.Duration `json:"duration_ms,omitzero"` // wall time
	Again    string            `json:"-"`                    // output of a second run on the same tree that failed too

	// why it says nothing about the change: "eslint is not installed"
	NotRun      string `json:"not_run,omitempty"`
	Flaky       bool   `json:"flaky,omitempty"`         // it failed, then passed on the same tree
	FailsOnBase bool   `json:"fails_on_base,omitempty"` // it fails the same way without the change
	// failures that the base does not have, the first few in the output
	Failures       []CheckFailure `json:"failures,omitempty"`
	FailuresMore   int            `json:"failures_more,omitempty"`    // how many more such failures there are
	FailuresOnBase int            `json:"failures_on_base,omitempty"` // how many failures the base has as well
	Excerpt        string         `json:"excerpt,omitempty"`          // the output from the first failure on, truncated
}

// CheckFailure is one problem that a check's output reports, on one line.
type CheckFailure struct {
	Test    string `json:"test,omitempty"`
	File    string `json:"file,omitempty"` // relative to the top of the tree; "" if unknown
	Line    int    `json:"line,omitempty"` // from 1
	Message string `json:"message,omitempty"`
}

// RuleOfCheck is the prefix of the rule of a finding about a failing check; the check's name follows.
const RuleOfCheck = "check:"

// RuleSecret is the rule of findings of keys and passwords. A later commit does not remove them from history.
const RuleSecret = "secret"

// RuleLimit is the rule of the finding that counts the findings omitted from a full report.
const RuleLimit = "limit"

// OK reports whether the check ran and succeeded.
func (c CheckResult) OK() bool { return c.ExitCode == 0 && c.Reason == "" && c.NotRun == "" }

// Fails reports whether the result counts against the change: the check ran, failed,
// and does not fail the same way without the change.
func (c CheckResult) Fails() bool { return !c.OK() && c.NotRun == "" && !c.FailsOnBase }

// State describes how the check ended, on one line.
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

// Why says on one line what is wrong, for a check that did not pass: its first failure, else how it ended.
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

// String describes the failure on one line: what failed, how, and where.
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

// Shown returns the part of the output that a prompt quotes: the text from the first failure on, else the last n lines.
func (c CheckResult) Shown(n int) string {
	if c.Excerpt != "" {
		return c.Excerpt
	}
	return prose.Tail(c.Output, n)
}

// CheckLog returns the path at which an event keeps the full output of the check called name.
func CheckLog(name string) string { return "checks/" + SafeName(name) + ".log" }

// LogCommand returns the command that prints the check's full output from event, or "" if there is none or it was
// redacted.
func (c CheckResult) LogCommand(event gitstore.ID) string {
	if event == "" || c.Output == "" || strings.Contains(c.Output, Redacted) {
		return ""
	}
	return "git show " + string(event[:min(len(event), 12)]) + ":" + CheckLog(c.Name)
}

// NotInstalled is the Reason of a check that was not started because its program is not on PATH.
const NotInstalled = "not_installed"

// AttachChecks returns the event with the output of checks attached; its payload has only the end of it.
func (d NewEvent) AttachChecks(results []CheckResult) NewEvent {
	for _, c := range results {
		d = d.Attach(CheckLog(c.Name), c.Output)
	}
	return d
}

// OutputInEvent is how many bytes of a check's output its event's payload holds.
const OutputInEvent = 4 << 10

// WithoutOutput returns copies of results with only the last OutputInEvent bytes of their output, as events store them.
func WithoutOutput(results []CheckResult) []CheckResult {
	return each.Of(results, func(c CheckResult) CheckResult {
		if len(c.Output) > OutputInEvent {
			c.Output = "…\n" + strings.ToValidUTF8(c.Output[len(c.Output)-OutputInEvent:], "")
		}
		return c
	})
}

// SafeName returns name as a file name for a tree: other than letters, digits, "-", "_" and "." become "_".
func SafeName(name string) string {
	return strings.TrimLeft(unsafeInName().ReplaceAllString(name, "_"), ".")
}

var unsafeInName = lazyre.Compile(`[^-_.0-9a-zA-Z]`)

// Census counts what a reviewer saw of a change, and lists what it did not see and why. Without it nobody
// could tell what a verdict covers.
type Census struct {
	Files      int       `json:"files"`      // in the change, within the paths asked for
	Lines      int       `json:"lines"`      // lines added and deleted in those files
	SentFiles  int       `json:"sent_files"` // shown to the reviewer
	SentLines  int       `json:"sent_lines"`
	SentBinary int       `json:"sent_binary,omitempty"` // binary files described to a reviewer that can judge them
	Binary     []string  `json:"sent_binary_files,omitempty"`
	Parts      int       `json:"parts,omitempty"`     // the number of parts it was shown in, if more than one
	Cut        []string  `json:"cut_files,omitempty"` // files larger than a part, shown in pieces
	LeftOut    []LeftOut `json:"left_out,omitempty"`
	Unmatched  []string  `json:"unmatched_globs,omitempty"` // exclusion patterns that match no file of the tree
	// exclusion patterns that do not apply: see role.Limits.ExcludedBy
	Overruled  []string `json:"overruled_globs,omitempty"`
	Checks     int      `json:"checks,omitempty"` // checks configured to run
	ChecksLeft int      `json:"checks_not_run,omitempty"`
}

// NotRun returns how many checks were not run in words, or "" if all were.
func (c Census) NotRun() string {
	if c.ChecksLeft == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s not run", c.ChecksLeft, prose.Count(c.Checks, "check"))
}

// CountChecks records how many checks there are and how many gave no result: results that say "not run", and
// others that were not tried.
func (c *Census) CountChecks(results []CheckResult, others int) {
	unrun := each.Count(results, func(r CheckResult) bool { return r.NotRun != "" })
	c.Checks, c.ChecksLeft = len(results)+others, unrun+others
}

// LeftOut is a file that the reviewer did not see, or saw only in part.
type LeftOut struct {
	Path string `json:"path"`
	// excluded, generated, vendored, binary, text_taken_for_binary, in_submodule or too_large
	Why   string `json:"why"`
	Lines int    `json:"lines,omitempty"` // lines of it that were not seen; 0: all
	Bytes int64  `json:"bytes,omitempty"` // size, for a binary file
	Was   int64  `json:"was_bytes,omitempty"`
}

// The values of LeftOut.Why.
const (
	LeftExcluded  = "excluded"
	LeftGenerated = "generated"
	LeftVendored  = "vendored"
	LeftBinary    = "binary"
	// contains NUL bytes or is UTF-16: git shows no lines of it, but an interpreter reads them
	LeftText      = "text_taken_for_binary"
	LeftSubmodule = "in_submodule" // Path is the submodule's, with a trailing slash; its files are not recorded here
	LeftTooLarge  = "too_large"
)

// LeaveTooLarge records a file as too large, in place of any other reason. The file still counts as sent, because its
// name, mode and size were shown.
func (c *Census) LeaveTooLarge(path string) {
	c.LeftOut = slices.DeleteFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path })
	c.LeftOut = append(c.LeftOut, LeftOut{Path: path, Why: LeftTooLarge})
}

// String describes what was left out and why, for people. The path is not escaped.
func (l LeftOut) String() string {
	why := strings.ReplaceAll(l.Why, "_", " ")
	if l.Lines > 0 {
		why = fmt.Sprintf("%s of it, %s", prose.Count(l.Lines, "line"), why)
	}
	if l.Bytes > 0 {
		why += fmt.Sprintf(", %d bytes", l.Bytes)
	}
	if l.Was > 0 {
		why += fmt.Sprintf(", was %d bytes", l.Was)
	}
	return fmt.Sprintf("%s (%s)", l.Path, why)
}

// Nothing reports whether the reviewer learned of no file of the change, which is never a pass. Files without
// lines to show, such as binary or renamed ones, are described by name, mode and size.
func (c Census) Nothing() bool { return c.SentFiles+c.SentLines == 0 && c.Left(LeftBinary) == "" }

// Partial reports whether readable parts of the change could not be shown to anybody. Such a review never passes
// the whole change.
func (c Census) Partial() bool { return c.Unread() != "" }

// Unread names the files that make the census partial.
func (c Census) Unread() string { return c.Left(LeftTooLarge, LeftText) }

// NotText returns the files whose contents the reviewer did not see because they are not text.
func (c Census) NotText() []string {
	left := each.Where(c.LeftOut, func(l LeftOut) bool { return l.Why == LeftBinary })
	return append(each.Of(left, func(l LeftOut) string { return l.Path }), c.Binary...)
}

// NothingSaid says of a reviewer who was shown nothing whether there was anything: "nothing to review".
func (c Census) NothingSaid() string {
	if len(c.LeftOut) == 0 {
		return "nothing to review"
	}
	return "nothing was shown" + c.Omissions()
}

// Omissions names, going on from how much was shown, what was left out and what is not text.
func (c Census) Omissions() (text string) {
	if len(c.LeftOut) > 0 {
		text = fmt.Sprintf(", %d left out: %s", len(c.LeftOut), c.Left())
	}
	if len(c.Binary) > 0 {
		text += fmt.Sprintf(", %d not text: %s", len(c.Binary), prose.Names(c.Binary))
	}
	return text
}

// Left names the files left out for one of the reasons whys, or for any reason if whys is empty.
func (c Census) Left(whys ...string) string {
	var left []string
	for _, l := range c.LeftOut {
		if len(whys) == 0 || slices.Contains(whys, l.Why) {
			left = append(left, l.String())
		}
	}
	return prose.Names(left)
}

// Unseen reports whether something was left out that nobody asked to leave out. A submodule's files do not count:
// they belong to another repository's change.
func (c Census) Unseen() bool {
	asked := []string{LeftExcluded, LeftGenerated, LeftVendored, LeftSubmodule}
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return !slices.Contains(asked, l.Why) })
}

// Hides reports whether the file at path is not shown at all.
func (c Census) Hides(path string) bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path && l.Lines == 0 })
}

// Instructions names the file with a project's instructions to a reviewer, as it is at the base of the change.
type Instructions struct {
	Path  string      `json:"path"`
	Blob  gitstore.ID `json:"blob"`
	Base  gitstore.ID `json:"base"`
	Bytes int         `json:"bytes"`
	Told  int         `json:"told_bytes,omitempty"` // how many of the first bytes were used, if not all
}

// String describes the instructions for people.
func (i Instructions) String() string {
	cut := ""
	if i.Told > 0 {
		cut = fmt.Sprintf(", the first %d of its %d bytes", i.Told, i.Bytes)
	}
	return fmt.Sprintf("%s of %s (blob %s%s)", i.Path, i.Base.Short(), i.Blob.Short(), cut)
}
