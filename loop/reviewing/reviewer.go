package reviewing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Question is a question to a reviewer about a change.
type Question struct {
	Prompt     ReviewPrompt
	Checks     []record.CheckResult // results from before
	Check      checkFunc            // runs more checks in a checkout; nil: there are none
	Transcript io.Writer
	dir        string // checkout of the change, if it was made
}

// checkFunc runs checks in a checkout. It returns a failure if a check tampered with the repository.
type checkFunc func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error)

// Inquiry has a reviewer examine a subject.
type Inquiry struct {
	Store      *store.Store
	Progress   checking.Progress
	Reviewer   role.Reviewer
	Subject    record.Subject
	Exclude    []string
	ExcludedBy string // as role.Limits.ExcludedBy
	All        bool   // as role.Limits.Generated
	// Instructed gives the reviewer the project's instructions for reviewers at the base.
	Instructed bool
	// Question is called once the change is known, if there is something to review.
	Question func(change Change) (Question, error)
}

// Answer reads the change within the reviewer's limits and calls the reviewer, in a checkout if one is needed. It
// returns the answer, the census of the change and the results of the checks. The answer is empty if there is nothing
// to review.
func (q Inquiry) Answer(ctx context.Context) (answer role.ReviewAnswer, census record.Census,
	checks []record.CheckResult, err error) {
	answer, census, checks, err = q.answer(ctx)
	for _, path := range answer.Beyond {
		census.LeaveTooLarge(path)
	}
	return answer, census, checks, err
}

func (q Inquiry) answer(ctx context.Context) (answer role.ReviewAnswer, census record.Census,
	checks []record.CheckResult, err error) {
	limits := q.Reviewer.Limits()
	limits.Exclude, limits.ExcludedBy = slices.Concat(limits.Exclude, q.Exclude), q.ExcludedBy
	limits.Generated = q.All
	change, err := ReadChange(ctx, q.Store, q.Subject, limits)
	if err != nil || change.Census.Nothing() {
		return answer, change.Census, nil, err
	}
	asked, err := q.Question(change)
	if err == nil && q.Instructed {
		asked.Prompt.Told, err = Instructions(ctx, q.Store, q.Subject.Base, reviewerFiles)
	}
	if err != nil {
		return answer, change.Census, nil, err
	}
	if asked.Check == nil && !q.Reviewer.NeedsCheckout() {
		answer, err = reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
		return answer, change.Census, asked.Checks, err
	}
	if err = q.sayEarly(ctx, change, asked); err != nil {
		return answer, change.Census, nil, err
	}
	err = checking.InCheckout(ctx, q.Store, q.Subject.Tree, func(ctx context.Context, tree *gitstore.Worktree) error {
		if asked.Check != nil {
			if asked.Checks, answer.Failure, err = asked.Check(ctx, tree); err != nil || answer.Failure != nil {
				return err
			}
		}
		asked.dir = tree.Dir
		answer, err = q.reviewReadOnly(ctx, tree, change, asked)
		return err
	})
	return answer, change.Census, asked.Checks, err
}

// MaxEarly is the maximum number of findings reported before the checks.
const MaxEarly = 10

// sayEarly reports, before the checks begin, the findings of a reviewer that needs only the patch, worst first: a
// leaked key is known at once. The answer that counts is the one after the checks.
func (q Inquiry) sayEarly(ctx context.Context, change Change, asked Question) error {
	if q.Reviewer.NeedsCheckout() {
		return nil
	}
	answer, err := reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
	for i, f := range answer.Report.Findings {
		if i == MaxEarly {
			q.Progress.Say(fmt.Sprintf("before the checks: %d more", len(answer.Report.Findings)-i))
			break
		}
		q.Progress.Say(fmt.Sprintf("before the checks: %s %s: %s", f.Severity, f.Place(), f.Issue))
	}
	return err
}

// reviewReadOnly calls the reviewer and discards its answer if it changed the files that it was to read.
func (q Inquiry) reviewReadOnly(ctx context.Context, tree *gitstore.Worktree, change Change,
	asked Question) (role.ReviewAnswer, error) {
	if !q.Reviewer.NeedsCheckout() {
		return reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
	}
	read := reading{q.Store, q.Progress, tree, tree.TreeAsMade, "the reviewer", "it changed "}
	if asked.Check != nil { // the checks may have written files
		read.tree = tree.NormalTree
	}
	var answer role.ReviewAnswer
	failure, err := read.only(ctx, func(ctx context.Context) (_ *record.Failure, err error) {
		answer, err = reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
		return answer.Failure, err
	})
	answer.Failure = failure
	return answer, err
}

// filesTampered is the maximum number of changed files that a failure names.
const filesTampered = 50

// reading is the work of an agent in a checkout whose files it must not change.
type reading struct {
	store    *store.Store
	progress checking.Progress
	checkout *gitstore.Worktree
	tree     func(context.Context) (gitstore.ID, error) // returns the checkout's files before the work
	who      string
	changed  string // begins the text about changed files
}

// only returns the failure of work, or one that says what else the agent changed.
func (r reading) only(ctx context.Context,
	work func(context.Context) (*record.Failure, error)) (failure *record.Failure, err error) {
	before, err := r.tree(ctx)
	if err != nil {
		return nil, err
	}
	tampered, err := checking.WatchCheckout(r.store, r.progress, r.checkout, r.who+" worked").During(ctx,
		func(ctx context.Context) (err error) {
			failure, err = work(ctx)
			return err
		})
	if failure = cmp.Or(tampered, failure); failure != nil || err != nil {
		return failure, err
	}
	after, err := r.checkout.NormalTree(ctx)
	if err != nil || after == before {
		return nil, err
	}
	changes, err := r.store.Repo.Changed(ctx, before, after)
	paths := each.Of(changes, func(c gitstore.Change) string { return c.Path })
	return &record.Failure{Reason: record.ReasonTampered, Detail: r.changed + prose.FirstNames(paths, filesTampered)}, err
}
