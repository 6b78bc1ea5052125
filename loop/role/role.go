// Package role defines what a run and a review require of those who do the work: a
// [Reviewer] reads a change and answers, an [Implementer] changes files. Agents and the
// built-in reviewer implement these interfaces; the loop knows only the interfaces.
package role

import (
	"context"
	"io"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// Builtin names the reviewer that needs no model; record.Human names a person. Neither is an agent.
const Builtin = record.Builtin

// Reserved reports whether name means something other than an agent.
func Reserved(name string) bool { return name == record.Human || name == Builtin }

// Reviewer answers a request for review.
type Reviewer interface {
	// Review returns a Failure, and no error, when the reviewer itself reached no answer.
	Review(ctx context.Context, job ReviewJob) (ReviewAnswer, error)
	// Limits bound what the reviewer can be shown.
	Limits() Limits
	// NeedsCheckout reports whether it reads files besides the patch.
	NeedsCheckout() bool
}

// Limits bound what a reviewer is shown.
type Limits struct {
	Exclude []string // globs of files to leave out; see gitstore.Globs
	// ExcludedBy is the file of the repository that sets Exclude, "" if another source does.
	// A change of that file is shown without its exclusions: otherwise it could hide
	// anything in the same commit.
	ExcludedBy string
	Generated  bool  // show generated and vendored files too
	MaxBytes   int64 // size limit of one part of the patch; 0: no limit
	MaxParts   int   // 0: one
	Binary     bool  // the reviewer can judge that a binary file is present
	Opens      bool  // the reviewer, a person, opens files whose lines git does not show
}

// ReviewJob is everything that a reviewer may look at: a change, or one part of it.
type ReviewJob struct {
	Patch []byte      // unified, as git diff prints it
	Rest  []byte      // patch of the generated and vendored files, which are not shown but may hold a secret
	Tree  gitstore.ID // commit or tree that the patch leads to
	Files []string    // files shown, in all parts
	// what the change is of; zero in all parts but the first, and if only files are examined
	Subject    record.Subject
	Checks     []record.CheckResult
	Dir        string        // checkout of the change, "" if none was requested
	Prompt     func() string // returns the prompt for an agent
	Nonce      string        // must be in the answer, so that no text in the change can pose as one
	Block      bool          // the answer is a review: an agent whose answer lacks the block is asked for it once more
	Transcript io.Writer     // receives what an agent writes, as it arrives; nil: none
	OnLine     func(string)
}

// ReviewAnswer is a reviewer's answer. Raw is its text.
type ReviewAnswer struct {
	Report  reply.Report
	Raw     string
	Failure *record.Failure
	Usage   spend.Usage  // includes the usage of a failed call
	Calls   []spend.Call // the calls made, if there may be several
	Told    *record.Instructions
	Beyond  []string // files too large to be searched for secrets
}

// Implementer does an attempt's work in a directory.
type Implementer interface {
	// Implement returns a Failure, and no error, when the agent did not finish.
	Implement(ctx context.Context, job ImplementJob) (ImplementAnswer, error)
	// ReportsEdits reports whether its answers name the files that it edits. Files that its
	// shell commands changed are never included.
	ReportsEdits() bool
}

// ImplementJob is one attempt's work.
type ImplementJob struct {
	Dir    string
	Prompt string
	// Uninstructed keeps the agent from the checkout's instructions to its tool, as far as possible.
	Uninstructed bool
	Keep         bool          // store the session, so that a later job can continue it
	Session      spend.Session // session of an earlier answer of the same agent, to continue; zero for a new one
	Transcript   io.Writer
	OnLine       func(string)
}

// ImplementAnswer is the implementer's answer, whether it finished or not.
type ImplementAnswer struct {
	Text    string
	Told    *record.Instructions
	Denied  string        // what was not allowed, in one line; "" for nothing
	Edited  []string      // files that it reported to edit, relative to Dir
	Session spend.Session // the stored session, zero if none
	Failure *record.Failure
	Usage   spend.Usage  // includes the usage of a failed call
	Calls   []spend.Call // the calls made, if there may be several
}
