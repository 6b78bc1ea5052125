package loop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"

	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// Reviewer answers a request for review. An agent command and the built-in
// reviewer are two of them.
type Reviewer interface {
	// Review gives a Failure, and no error, when the reviewer itself came to no answer.
	Review(ctx context.Context, job ReviewJob) (ReviewAnswer, error)
	// Limits say what it can be shown.
	Limits() Limits
	// NeedsCheckout reports whether it reads files beside the patch.
	NeedsCheckout() bool
}

// ReviewJob is everything that a reviewer may look at.
type ReviewJob struct {
	Change     Change
	Prompt     ReviewPrompt // its text is what an agent is told
	Dir        string       // checkout of the change, "" when none was asked for
	Checks     []record.CheckResult
	NotChecked []string
	Transcript io.Writer
	OnLine     func(string)
}

// ReviewAnswer is a reviewer's answer. Raw is what it said.
type ReviewAnswer struct {
	Report  reply.Report
	Raw     string
	Failure *record.Failure
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
	Dir        string
	Prompt     string
	Transcript io.Writer
	OnLine     func(string)
}

// ImplementAnswer is what the implementer said, whether it came to an end or not.
type ImplementAnswer struct {
	Text    string
	Edited  []string // files that it said to edit as it worked, relative to Dir
	Failure *record.Failure
}

// Progress is told what goes on, for people.
type Progress interface {
	Step(name, detail string)
	Line(text string) // of an agent's output: may be shown, and passes
	Say(text string)  // what people must know: stays
}

// newNonce is what a reviewer's answer must carry, so that no text in the change
// can pose as one.
func newNonce() (string, error) {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("make nonce: %w", err)
	}
	return hex.EncodeToString(b), nil
}
