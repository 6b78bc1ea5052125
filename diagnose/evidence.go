package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// state is the meaning of the newest evidence about a check.
type state int

const (
	neverRun state = iota
	passed
	failed
	failedBefore // as on the run's base
	stale        // it ran on another tree than the run's last one
	shown        // a person left its output; how it ended is unknown
)

// evidence is the newest result of one check.
type evidence struct {
	state state
	was   string // the result in a few words
}

// proof is the newest evidence about each configured check, by name.
type proof map[string]evidence

// never describes a check that nobody tried to run.
const never = "never run"

// of returns the evidence about check, even if it never ran.
func (p proof) of(check runplan.Check) evidence {
	if e, ran := p[check.Name]; ran {
		return e
	}
	return evidence{was: never}
}

// dated is a result and its position in the run.
type dated struct {
	record.CheckResult
	tree     gitstore.ID
	attempts int // number of attempts before it
	at       int64
	left     *record.Evidence // the output that a person left; nil for a command that was run
}

// failedInReview describes a check that failed in the review that a run addresses.
const failedInReview = "failed in the review"

// results returns all results of a run, oldest first: those of the review that it addresses, of check steps, and of
// commands that people ran. A command of a check has the name of the check.
func results(run record.Run) []dated {
	var all []dated
	for _, name := range run.Plan.FailedChecks {
		all = append(all, dated{CheckResult: record.CheckResult{Name: name, Reason: failedInReview}, tree: run.Plan.Base})
	}
	for _, step := range run.Checks {
		for _, r := range step.Results {
			all = append(all, dated{r, cmp.Or(gitstore.ID(r.Tree), step.Tree), step.Attempt, step.At.UnixMilli(), nil})
		}
	}
	for _, iv := range run.Interventions {
		for _, r := range iv.Commands {
			all = append(all, dated{r, cmp.Or(gitstore.ID(r.Tree), iv.Commit), iv.Attempts, iv.At.UnixMilli(), nil})
		}
		for _, e := range iv.Evidence {
			if e.Counts() {
				result := record.CheckResult{Name: e.Check, Command: e.Command, Said: e.Said}
				all = append(all, dated{result, e.Tree, iv.Attempts, iv.At.UnixMilli(), &e})
			}
		}
	}
	for i, r := range all {
		if r.Name == "" {
			all[i].Name = checkWith(run.Plan.Checks, r.Command).Name
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.attempts, b.attempts), cmp.Compare(a.at, b.at))
	})
	return all
}

// proofOf collects the evidence about run's checks.
func proofOf(run record.Run) proof {
	known := proof{}
	for _, r := range results(run) {
		if r.Name != "" {
			known[r.Name] = judge(run, r)
		}
	}
	return known
}

func judge(run record.Run, r dated) evidence {
	e := evidence{state: failed, was: saidOf(r.CheckResult)}
	switch {
	case r.left != nil:
		e.was = "by hand: " + oneLine(r.left.State())
		if !r.left.Failing {
			e.state = shown
		}
	case r.OK():
		e.state = passed
	case r.NotRun != "":
		e.state = neverRun
		return e
	case r.FailsOnBase:
		e.state = failedBefore
	}
	if r.tree != "" && run.Head() != "" && r.tree != run.Head() {
		e.state = stale
		e.was += ", " + before(run, r.tree)
	}
	if r.tree == "" && r.attempts < lastEnded(run) { // imported evidence has no tree
		e.state = stale
		e.was += ", before the last attempt"
	}
	return e
}

// lastEnded returns the number of the newest attempt that ended, or 0.
func lastEnded(run record.Run) int {
	for _, a := range slices.Backward(run.Attempts) {
		if !a.EndedAt.IsZero() {
			return a.Number
		}
	}
	return 0
}

// saidOf describes a check's result in a few words.
func saidOf(c record.CheckResult) string {
	switch {
	case c.NotRun != "":
		return c.State()
	case c.Said != "":
		return oneLine(c.Said)
	case c.Reason != "":
		return oneLine(c.Reason) // from a log that anybody may have written
	case c.OK():
		return "ok"
	}
	return fmt.Sprintf("exit %d", c.ExitCode)
}

// before describes what changed after the tree on which a check ran.
func before(run record.Run, tree gitstore.ID) string {
	for _, a := range run.Attempts {
		if a.Commit == tree && a.Reverted != nil {
			return fmt.Sprintf("on attempt %d, which was reverted", a.Number)
		}
	}
	for _, iv := range run.Interventions {
		if iv.Commit != "" && iv.Commit == run.Head() {
			return "before the intervention"
		}
	}
	return "before the last attempt"
}

// provided returns the evidence of the last attempt: each check's result, the implementer's account of its
// verification, and files that it claimed but did not change.
func provided(run record.Run, known proof) []string {
	var lines []string
	for _, c := range run.Plan.Checks {
		if e := known.of(c); e.was != never {
			lines = append(lines, oneLine(c.Name)+": "+e.was)
		}
	}
	for _, r := range results(run) {
		if !slices.ContainsFunc(run.Plan.Checks, func(c runplan.Check) bool { return c.Name == r.Name }) {
			lines = append(lines, oneLine(cmp.Or(r.Name, r.Command))+": "+saidOf(r.CheckResult))
		}
	}
	last := run.LastAttempt()
	if last == nil {
		return lines
	}
	if claim := prose.CutColumns(oneLine(last.Verification), claimWidth); claim != "" {
		lines = append(lines, "implementer: "+claim)
	}
	return append(lines, prefixed("reported as changed, but unchanged: ", each.Of(last.Unchanged, oneLine))...)
}

// claimWidth is the maximum width in columns of a quotation from an implementer's report.
const claimWidth = 200
