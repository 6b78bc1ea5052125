package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// AttemptMode is how an implementer was asked.
type AttemptMode string

const (
	ModeImplement AttemptMode = "implement"
	ModeFix       AttemptMode = "fix"        // only the findings named
	ModeReexecute AttemptMode = "re-execute" // from scratch, knowing what went wrong
	ModeGiven     AttemptMode = "given"      // an executor's finished work, handed over
)

// Attempt is one turn of an implementer.
type Attempt struct {
	Number       int                  `json:"attempt"`
	Step         string               `json:"step"`
	Mode         AttemptMode          `json:"mode"`
	Agent        string               `json:"agent"`
	From         gitstore.ID          `json:"from"`             // commit that it started from
	Before       gitstore.ID          `json:"before,omitempty"` // snapshot of the working tree
	After        gitstore.ID          `json:"after,omitempty"`
	Commit       gitstore.ID          `json:"commit,omitempty"` // what came of it, on the run's branch
	Tree         gitstore.ID          `json:"tree,omitempty"`   // of Commit
	Files        []string             `json:"files"`            // changed, from trees
	Claimed      []string             `json:"claimed,omitempty"`
	Edited       []string             `json:"edited,omitempty"`          // seen in its tool calls
	Unclaimed    []string             `json:"unclaimed,omitempty"`       // changed, but not said; in place they are nobody's that we know, and not among Files
	Lost         []string             `json:"lost,omitempty"`            // in place: the user's changes that are gone; Before has them
	Ignored      []string             `json:"ignored_changed,omitempty"` // in place: ignored files that were there, and changed while it worked; Before has them
	Modes        []string             `json:"modes_changed,omitempty"`   // in place: whose permissions alone changed while it worked
	Beside       []string             `json:"beside,omitempty"`          // Ignored, Modes and what was staged, as far as that is taken for its doing and is taken back with it
	NotKept      []string             `json:"not_kept,omitempty"`        // in place: what changed while it worked and no snapshot has
	Moved        *HeadMove            `json:"head_moved,omitempty"`      // in place: HEAD while it worked
	Unchanged    []string             `json:"unchanged,omitempty"`       // said, but not changed
	Tampered     string               `json:"tampered,omitempty"`        // of one kept after the run stopped as tampered: what changed, and what is known of it since
	Meanwhile    []string             `json:"meanwhile,omitempty"`       // moved by nobody knows whom, with the lines that put it back
	NotCarried   []NotCarried         `json:"not_carried,omitempty"`     // written into submodules, and not among Files
	Told         *Instructions        `json:"instructions,omitempty"`
	Denied       string               `json:"denied,omitempty"` // what it was not allowed to do
	Status       reply.ExecutorStatus `json:"executor_status,omitempty"`
	Verification string               `json:"verification,omitempty"`
	Refutes      string               `json:"refutes,omitempty"` // of a fix that changed nothing: why, in its words
	Session      spend.Session        `json:"session,omitzero"`  // of its agent, that a fix can go on with
	Warnings     []string             `json:"parse_warnings,omitempty"`
	Failure      *Failure             `json:"failure,omitempty"`
	Hook         *CheckResult         `json:"hook,omitempty"` // what the user's pre-commit hook said, where the plan asks for it
	StartedAt    time.Time            `json:"started_at,omitzero"`
	EndedAt      time.Time            `json:"ended_at,omitzero"`
	Duration     duration.Duration    `json:"duration_ms,omitzero"`
	Reverted     *Reverted            `json:"reverted,omitempty"`
	spend.Spent
	Event gitstore.ID `json:"event,omitempty"` // that records its end and keeps what it left behind
}

// HeadMove is where HEAD of a checkout went; refs are full names, "" where it was detached.
type HeadMove struct {
	From    gitstore.ID `json:"from"` // "" before the first commit
	FromRef string      `json:"from_ref,omitempty"`
	To      gitstore.ID `json:"to"`
	ToRef   string      `json:"to_ref,omitempty"`
}

func (m HeadMove) String() string {
	at := func(ref string, id gitstore.ID) string {
		name := cmp.Or(strings.TrimPrefix(ref, "refs/heads/"), "a detached HEAD")
		return fmt.Sprintf("%s (%s)", name, cmp.Or(id.Short(), "without a commit"))
	}
	return fmt.Sprintf("HEAD of your checkout went from %s to %s", at(m.FromRef, m.From), at(m.ToRef, m.To))
}

// Failed reports whether the attempt came to no end: it failed, or was killed.
func (a Attempt) Failed() bool { return a.Failure != nil || a.EndedAt.IsZero() }

// Unseen reports whether the attempt ended where git was not to be run any more, so that
// nobody has looked at what it changed.
func (a Attempt) Unseen() bool {
	return a.After == "" && a.Failure != nil && a.Failure.Reason == ReasonTamperedRepo
}

// undone reports whether nothing is left of the attempt: one that was reverted with
// conflicts still stands on the run's branch.
func (a Attempt) undone() bool { return a.Reverted != nil && len(a.Reverted.Conflicts) == 0 }

// NotCarried names files that an attempt wrote into a submodule: no commit of the repository can hold them.
type NotCarried struct {
	Submodule string   `json:"submodule"`
	Files     []string `json:"files"` // below Submodule
}

func (n NotCarried) String() string {
	return fmt.Sprintf("in submodule %s: not carried: %s", n.Submodule, strings.Join(n.Files, ", "))
}

// Reverted is what undoing an attempt did, path by path.
type Reverted struct {
	Attempt   int      `json:"attempt"`
	Restored  []string `json:"restored"`
	Conflicts []string `json:"conflicts,omitempty"` // changed since by somebody else: left alone
	// Checkout and Left are the same for the user's checkout, where an executor's work
	// was taken from it.
	Checkout []string `json:"checkout_restored,omitempty"`
	Left     []string `json:"checkout_conflicts,omitempty"`
}

// Claim compares what the implementer says with what it did.
func (a *Attempt) Claim(report reply.ExecutorReport) {
	a.Status, a.Verification, a.Claimed, a.Warnings = report.Status, report.Verification, report.Files, report.Warnings
	for _, f := range report.Files {
		if !slices.ContainsFunc(a.Files, func(changed string) bool { return runplan.Covers(f, changed) }) {
			a.Unchanged = append(a.Unchanged, f)
		}
	}
	said := slices.Concat(a.Claimed, a.Edited)
	for _, f := range a.Files {
		if len(said) > 0 && !slices.ContainsFunc(said, func(claim string) bool { return runplan.Covers(claim, f) }) {
			a.Unclaimed = append(a.Unclaimed, f)
		}
	}
}

func (a Attempt) took(Event) (string, spend.Spent) { return a.Agent, a.Spent }
