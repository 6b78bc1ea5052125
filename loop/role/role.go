// Package role says what a run and a review ask of those who do the work: a [Reviewer]
// reads a change and answers, an [Implementer] changes files. Agents and the built-in
// reviewer are some; whoever asks knows them by these interfaces only.
package role

import (
	"context"
	"io"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// Builtin names the reviewer that needs no model, record.Human a person. Neither is an agent.
const Builtin = record.Builtin

// Reserved reports whether name means something other than an agent.
func Reserved(name string) bool { return name == record.Human || name == Builtin }

// Reviewer answers a request for review.
type Reviewer interface {
	// Review gives a Failure, and no error, when the reviewer itself came to no answer.
	Review(ctx context.Context, job ReviewJob) (ReviewAnswer, error)
	// Limits say what it can be shown.
	Limits() Limits
	// NeedsCheckout reports whether it reads files beside the patch.
	NeedsCheckout() bool
}

// Limits bound what a reviewer is shown.
type Limits struct {
	Exclude []string // globs that are left out: see gitstore.Globs
	// ExcludedBy is the file of the repository that asks for Exclude, "" when another
	// source does. A change of that file is shown as if it asked for nothing: it could
	// hide in the same commit whatever it likes.
	ExcludedBy string
	Generated  bool  // generated and vendored files are shown as well
	MaxBytes   int64 // of a part of the patch; 0: no limit
	MaxParts   int   // 0: one
	Binary     bool  // whether the reviewer can judge that a binary file is there
	Opens      bool  // whether the reviewer opens what git shows no lines of: a person
}

// ReviewJob is everything that a reviewer may look at: a change, or the part of it at hand.
type ReviewJob struct {
	Patch      []byte      // unified, as git diff prints it
	Tree       gitstore.ID // commit or tree that the patch leads to
	Files      []string    // shown, in all parts
	Checks     []record.CheckResult
	Dir        string        // checkout of the change, "" when none was asked for
	Prompt     func() string // what an agent is told
	Nonce      string        // that its answer must carry, so that no text in the change can pose as one
	Block      bool          // the answer is a review: an agent that gives none is asked once more for its block
	Transcript io.Writer     // what an agent writes, as it comes; nil: none
	OnLine     func(string)
}

// ReviewAnswer is a reviewer's answer. Raw is what it said.
type ReviewAnswer struct {
	Report  reply.Report
	Raw     string
	Failure *record.Failure
	Usage   spend.Usage  // with that of a call which failed
	Calls   []spend.Call // that were made, where several may be
	Told    *record.Instructions
}

// Implementer does an attempt's work in a directory.
type Implementer interface {
	// Implement gives a Failure, and no error, when the agent itself came to no end.
	Implement(ctx context.Context, job ImplementJob) (ImplementAnswer, error)
	// ReportsEdits says that its answers name the files that it edits: all but those
	// that a command which it ran changed.
	ReportsEdits() bool
}

// ImplementJob is one attempt's work.
type ImplementJob struct {
	Dir    string
	Prompt string
	// Uninstructed keeps the agent from what the checkout says to its tool, as far as it can be.
	Uninstructed bool
	Keep         bool          // the session, so that a later job can go on with it
	Session      spend.Session // of an earlier answer of the same agent, to go on with; zero for a new one
	Transcript   io.Writer
	OnLine       func(string)
}

// ImplementAnswer is what the implementer said, whether it came to an end or not.
type ImplementAnswer struct {
	Text    string
	Told    *record.Instructions
	Denied  string        // what it was not allowed to do, in one line; "" for nothing
	Edited  []string      // files that it said to edit as it worked, relative to Dir
	Session spend.Session // that was kept, zero for none
	Failure *record.Failure
	Usage   spend.Usage  // with that of a call which failed
	Calls   []spend.Call // that were made, where several may be
}
