package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// AttemptMode says how the implementer was asked to work.
type AttemptMode string

const (
	ModeImplement AttemptMode = "implement"
	ModeFix       AttemptMode = "fix"        // fix only the given findings
	ModeReexecute AttemptMode = "re-execute" // start again from scratch, knowing what went wrong
	ModeGiven     AttemptMode = "given"      // no agent was started: an executor handed over finished work
)

// Attempt is one turn of an implementer.
type Attempt struct {
	Number int         `json:"attempt"`
	Step   string      `json:"step"`
	Mode   AttemptMode `json:"mode"`
	Agent  string      `json:"agent"`
	From   gitstore.ID `json:"from"`             // the commit that it started from
	Before gitstore.ID `json:"before,omitempty"` // snapshot of the working tree when it began
	After  gitstore.ID `json:"after,omitempty"`
	Commit gitstore.ID `json:"commit,omitempty"` // its result, on the run's branch
	Tree   gitstore.ID `json:"tree,omitempty"`   // of Commit
	Change string      `json:"change,omitempty"` // what the run changes up to Commit: see gitstore.Repo.ChangeIDs
	Files  []string    `json:"files"`            // paths that it changed, from comparing trees
	// Found are those of Files that changed before the agent started: the setup, an earlier try or a person did that.
	Found   []string `json:"found_changed,omitempty"`
	Claimed []string `json:"claimed,omitempty"`
	Edited  []string `json:"edited,omitempty"` // paths seen in the agent's tool calls
	// changed but not reported; in place, of unknown origin and not in Files
	Unclaimed []string `json:"unclaimed,omitempty"`
	// in place: the user's changes that are gone; Before has them
	Lost []string `json:"lost,omitempty"`
	// in place: ignored files that existed and changed while it worked; Before has them
	Ignored []string `json:"ignored_changed,omitempty"`
	// in place: files of which only the permissions changed while it worked
	Modes []string `json:"modes_changed,omitempty"`
	// what of Ignored, Modes and the staged changes is attributed to the attempt and reverted with it
	Beside []string `json:"beside,omitempty"`
	// in place: files that changed while it worked and are in no snapshot
	NotKept []string `json:"not_kept,omitempty"`
	// AllCounted says that an implementer in the user's checkout did not say which files it changed.
	AllCounted bool      `json:"all_counted,omitempty"`
	Moved      *HeadMove `json:"head_moved,omitempty"` // in place: how HEAD moved while it worked
	Unchanged  []string  `json:"unchanged,omitempty"`  // reported but not changed
	// for an attempt kept after the run stopped as tampered: what changed, and what became known since
	Tampered string `json:"tampered,omitempty"`
	// changes to the repository by an unknown hand, with the commands that undo them
	Meanwhile    []string             `json:"meanwhile,omitempty"`
	NotCarried   []NotCarried         `json:"not_carried,omitempty"` // in submodules and repositories; not in Files
	Told         *Instructions        `json:"instructions,omitempty"`
	Denied       string               `json:"denied,omitempty"` // what the agent was not allowed to do
	Status       reply.ExecutorStatus `json:"executor_status,omitempty"`
	Verification string               `json:"verification,omitempty"`
	Refutes      string               `json:"refutes,omitempty"` // for a fix that changed nothing: the agent's reason
	Session      spend.Session        `json:"session,omitzero"`  // the agent's session, which a fix can continue
	Warnings     []string             `json:"parse_warnings,omitempty"`
	Failure      *Failure             `json:"failure,omitempty"`
	Hook         *CheckResult         `json:"hook,omitempty"` // result of the user's pre-commit hook, if the plan runs it
	StartedAt    time.Time            `json:"started_at,omitzero"`
	EndedAt      time.Time            `json:"ended_at,omitzero"`
	Duration     duration.Duration    `json:"duration_ms,omitzero"`
	Reverted     *Reverted            `json:"reverted,omitempty"`
	spend.Spent
	Event gitstore.ID `json:"event,omitempty"` // the event that records its end and keeps its output
}

// HeadMove is a move of a checkout's HEAD. Refs are full names, "" for a detached HEAD.
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

// Failed reports whether the attempt failed or was killed before it ended.
func (a Attempt) Failed() bool { return a.Failure != nil || a.EndedAt.IsZero() }

// Unseen reports whether the attempt ended without a look at what it changed, because git could not be run
// safely any more.
func (a Attempt) Unseen() bool {
	return a.After == "" && a.Failure != nil && a.Failure.Reason == ReasonTamperedRepo
}

// undone reports whether nothing of the attempt is left. After a revert with conflicts the attempt is still on
// the run's branch.
func (a Attempt) undone() bool { return a.Reverted != nil && len(a.Reverted.Conflicts) == 0 }

// NotCarried lists files that an attempt wrote into a submodule or that git cannot record, or names a repository of its
// own that it made. No commit of the repository can hold them.
type NotCarried struct {
	Submodule string   `json:"submodule"`       // "" for files that git cannot record: it refuses names such as .GIT
	Files     []string `json:"files,omitempty"` // below Submodule; empty: all of a repository that is no submodule
}

func (n NotCarried) String() string {
	where := "in submodule " + n.Submodule
	switch {
	case len(n.Files) == 0:
		return fmt.Sprintf("%s is a repository of its own and no submodule: not committed", n.Submodule)
	case n.Submodule == "":
		where = "git cannot record these"
	}
	return where + ": not committed: " + strings.Join(n.Files, ", ")
}

// Reverted is the result of undoing an attempt, path by path.
type Reverted struct {
	Attempt   int      `json:"attempt"`
	Restored  []string `json:"restored"`
	Conflicts []string `json:"conflicts,omitempty"` // somebody else changed them since: left alone
	// Checkout and Left are the restored and conflicting paths of the user's checkout, for an executor's work
	// that was taken from there.
	Checkout []string `json:"checkout_restored,omitempty"`
	Left     []string `json:"checkout_conflicts,omitempty"`
}

// Claim records what the implementer reports, compared with what it changed.
func (a *Attempt) Claim(report reply.ExecutorReport) {
	a.Status, a.Verification, a.Claimed, a.Warnings = report.Status, report.Verification, report.Files, report.Warnings
	a.Unchanged = each.Where(report.Files, func(f string) bool {
		return !slices.ContainsFunc(a.Files, func(changed string) bool { return runplan.Covers(f, changed) })
	})
	said := slices.Concat(a.Claimed, a.Edited)
	a.Unclaimed = each.Where(a.Files, func(f string) bool {
		return len(said) > 0 && !slices.ContainsFunc(said, func(claim string) bool { return runplan.Covers(claim, f) })
	})
}

// Label names the attempt, its mode and its agent. No agent made finished work that was handed over.
func (a Attempt) Label() string {
	label := fmt.Sprintf("attempt %d (%s)", a.Number, a.Mode)
	if a.Mode != ModeGiven {
		label += " by " + a.By(a.Agent)
	}
	return label
}

func (a Attempt) took(Event) (string, spend.Spent) { return a.Agent, a.Spent }

// Failure says why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason   string    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Reviewer string    `json:"reviewer,omitempty"` // for a review: the reviewer that failed
	Writer   string    `json:"writer,omitempty"`   // for a review: the clone in which it failed; filled in by the fold
	At       time.Time `json:"at,omitzero"`
	// LastActivity is when the agent last wrote something, if known.
	LastActivity time.Time        `json:"last_activity_at,omitzero"`
	Setting      *runplan.Setting `json:"setting,omitempty"` // the limit that ended it
	Reached      spend.Usage      `json:"reached,omitzero"`  // the usage at that point, if Setting limits usage
	// Transient reports that a retry may well succeed, as after a rate limit or a broken connection.
	Transient bool `json:"transient,omitempty"`
	// RetryAfter is how long the provider asked to wait.
	RetryAfter duration.Duration `json:"retry_after_ms,omitzero"`
	Tries      int               `json:"tries,omitempty"`   // for a review: how many times in a row it was tried
	RetryAt    time.Time         `json:"retry_at,omitzero"` // for a review: when it is retried automatically
	Try        string            `json:"try,omitempty"`     // a command that may fix the cause
	// commands that undo what the agent changed outside of its work
	Undo        []string `json:"undo,omitempty"`
	spend.Spent          // for a review: what the failed call cost
}

// Retry says how a failed reviewer is asked again.
type Retry struct {
	What     string   // when it is asked again
	Commands []string // what to type then, in order
}

// Next returns when and how a reviewer that gave no answer is asked again.
func (f Failure) Next() Retry {
	again := []string{"git runr work --retry"}
	switch {
	case f.Reason == ReasonObjects && f.Try != "":
		return Retry{"when it can be read:", []string{f.Try, "git runr work"}}
	case f.Reason == ReasonObjects:
		return Retry{"when it can be read:", []string{"git runr work"}}
	case f.Reason == ReasonSpent && f.Setting != nil:
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once, with a higher limit:",
			f.RetryAt.UTC().Format(time.DateTime+"Z")), append([]string{f.Setting.Raised(f.Reached)}, again...)}
	case !f.RetryAt.IsZero():
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once:",
			f.RetryAt.UTC().Format(time.DateTime+"Z")), again}
	case f.Transient:
		return Retry{fmt.Sprintf("tried %d times; once more:", f.Tries), again}
	case f.Reason == ReasonUntrusted:
		return Retry{"when its command is approved:", append([]string{"git runr trust"}, again...)}
	case f.Reason == ReasonAgentNotFound:
		return Retry{"when it is installed:", again}
	}
	return Retry{"when the cause is gone:", again}
}

// FailedTurn is a reviewer that could not be run in one clone. In another clone it may work, for example if a
// program is missing only here.
type FailedTurn struct {
	Reviewer string    `json:"reviewer"`
	Writer   string    `json:"writer"`
	RetryAt  time.Time `json:"retry_at,omitzero"` // when it is retried automatically; zero: only when a person asks
}

func (f Failure) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (f Failure) took(e Event) (string, spend.Spent) { return e.Source, f.Spent }
