package loop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Progress is told what goes on, for people.
type Progress interface {
	Step(name, detail string)
	Line(text string) // of an agent's output: may be shown, and passes
	Say(text string)  // what people must know: stays
}

// question is what a reviewer is asked about a change.
type question struct {
	prompt     ReviewPrompt
	checks     []record.CheckResult // of before
	check      checking             // runs more in a checkout; nil: there are none
	transcript io.Writer
	dir        string // checkout of the change, once there is one
}

// checking runs checks in a checkout. The failure is of one that did something else to the
// repository.
type checking func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error)

// inquiry has a reviewer look at a subject.
type inquiry struct {
	store    *store.Store
	progress Progress
	reviewer role.Reviewer
	subject  record.Subject
	exclude  []string
	excluder string // as role.Limits.ExcludedBy
	all      bool   // as role.Limits.Generated
	// instructed has the reviewer told what the project says to reviewers, as the base has it.
	instructed bool
	// question is asked for once the change is known, where there is something to review.
	question func(change Change) (question, error)
}

// answer reads the change within what the reviewer can be shown and asks it, in a checkout
// of its own where one is needed. It gives the answer, the census of the change and the
// checks that were looked at; no answer where there is nothing to review.
func (q inquiry) answer(ctx context.Context) (answer role.ReviewAnswer, census record.Census, checks []record.CheckResult, err error) {
	limits := q.reviewer.Limits()
	limits.Exclude, limits.ExcludedBy = slices.Concat(limits.Exclude, q.exclude), q.excluder
	limits.Generated = q.all
	change, err := ReadChange(ctx, q.store, q.subject, limits)
	if err != nil || change.Census.Nothing() {
		return answer, change.Census, nil, err
	}
	asked, err := q.question(change)
	if err == nil && q.instructed {
		asked.prompt.Told, err = instructions(ctx, q.store, q.subject.Base, reviewerFiles)
	}
	if err != nil {
		return answer, change.Census, nil, err
	}
	if asked.check == nil && !q.reviewer.NeedsCheckout() {
		answer, err = reviewParts(ctx, q.reviewer, change, asked, q.progress)
		return answer, change.Census, asked.checks, err
	}
	if err = q.sayEarly(ctx, change, asked); err != nil {
		return answer, change.Census, nil, err
	}
	err = inCheckout(ctx, q.store, q.subject.Tree, func(ctx context.Context, tree *gitstore.Worktree) error {
		if asked.check != nil {
			if asked.checks, answer.Failure, err = asked.check(ctx, tree); err != nil || answer.Failure != nil {
				return err
			}
		}
		asked.dir = tree.Dir
		answer, err = q.reviewReadOnly(ctx, tree, change, asked)
		return err
	})
	return answer, change.Census, asked.checks, err
}

// maxEarly is how many findings are said before the checks.
const maxEarly = 10

// sayEarly says what a reviewer that reads the patch alone finds in it before the checks begin, the
// worst first: a leaked key is known at once. Its answer is what it says after them.
func (q inquiry) sayEarly(ctx context.Context, change Change, asked question) error {
	if q.reviewer.NeedsCheckout() {
		return nil
	}
	answer, err := reviewParts(ctx, q.reviewer, change, asked, q.progress)
	for i, f := range answer.Report.Findings {
		if i == maxEarly {
			q.progress.Say(fmt.Sprintf("before the checks: %d more", len(answer.Report.Findings)-i))
			break
		}
		q.progress.Say(fmt.Sprintf("before the checks: %s %s: %s", f.Severity, f.Place(), f.Issue))
	}
	return err
}

// reviewReadOnly asks the reviewer and makes its answer void when it changed the
// files that it was to read.
func (q inquiry) reviewReadOnly(ctx context.Context, tree *gitstore.Worktree, change Change, asked question) (role.ReviewAnswer, error) {
	if !q.reviewer.NeedsCheckout() {
		return reviewParts(ctx, q.reviewer, change, asked, q.progress)
	}
	before, err := tree.NormalTree(ctx)
	if err != nil {
		return role.ReviewAnswer{}, err
	}
	var answer role.ReviewAnswer
	tampered, err := watchCheckout(q.store, q.progress, tree, "the reviewer worked").during(ctx, func(ctx context.Context) (err error) {
		answer, err = reviewParts(ctx, q.reviewer, change, asked, q.progress)
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
		answer.Failure, err = tamperedWith(ctx, q.store.Repo, before, after, "it changed ")
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

// watchCheckout is how a checkout is watched while something goes on in it.
func watchCheckout(s *store.Store, p Progress, tree *gitstore.Worktree, while string) watch {
	return watch{store: s, progress: p, tree: tree, while: while, alone: true}
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
