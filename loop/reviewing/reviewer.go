package reviewing

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Question is what a reviewer is asked about a change.
type Question struct {
	Prompt     ReviewPrompt
	Checks     []record.CheckResult // of before
	Check      checkFunc            // runs more in a checkout; nil: there are none
	Transcript io.Writer
	dir        string // checkout of the change, once there is one
}

// checkFunc runs checks in a checkout. The failure is of one that did something else to the
// repository.
type checkFunc func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error)

// Inquiry has a reviewer look at a subject.
type Inquiry struct {
	Store      *store.Store
	Progress   checking.Progress
	Reviewer   role.Reviewer
	Subject    record.Subject
	Exclude    []string
	ExcludedBy string // as role.Limits.ExcludedBy
	All        bool   // as role.Limits.Generated
	// instructed has the reviewer told what the project says to reviewers, as the base has it.
	Instructed bool
	// question is asked for once the change is known, where there is something to review.
	Question func(change Change) (Question, error)
}

// Answer reads the change within what the reviewer can be shown and asks it, in a checkout
// of its own where one is needed. It gives the answer, the census of the change and the
// checks that were looked at; no answer where there is nothing to review.
func (q Inquiry) Answer(ctx context.Context) (answer role.ReviewAnswer, census record.Census, checks []record.CheckResult, err error) {
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

// MaxEarly is how many findings are said before the checks.
const MaxEarly = 10

// sayEarly says what a reviewer that reads the patch alone finds in it before the checks begin, the
// worst first: a leaked key is known at once. Its answer is what it says after them.
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

// reviewReadOnly asks the reviewer and makes its answer void when it changed the
// files that it was to read.
func (q Inquiry) reviewReadOnly(ctx context.Context, tree *gitstore.Worktree, change Change, asked Question) (role.ReviewAnswer, error) {
	if !q.Reviewer.NeedsCheckout() {
		return reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
	}
	before, err := tree.NormalTree(ctx)
	if err != nil {
		return role.ReviewAnswer{}, err
	}
	var answer role.ReviewAnswer
	tampered, err := checking.WatchCheckout(q.Store, q.Progress, tree, "the reviewer worked").During(ctx, func(ctx context.Context) (err error) {
		answer, err = reviewParts(ctx, q.Reviewer, change, asked, q.Progress)
		return err
	})
	if tampered != nil {
		answer.Failure = tampered
	}
	if err != nil || answer.Failure != nil {
		return answer, err
	}
	after, err := tree.NormalTree(ctx)
	if err == nil && after != before {
		answer.Failure, err = tamperedWith(ctx, q.Store.Repo, before, after, "it changed ")
	}
	return answer, err
}

// filesTampered is how many of the files that a reviewer changed are named.
const filesTampered = 50

// tamperedWith is the failure of a reviewer that made of tree before what after is: what, and the files.
func tamperedWith(ctx context.Context, repo *gitstore.Repo, before, after gitstore.ID, what string) (*record.Failure, error) {
	changes, err := repo.Changed(ctx, before, after)
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return &record.Failure{Reason: record.ReasonTampered, Detail: what + prose.FirstNames(paths, filesTampered)}, err
}
