package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"git-runr/gitstore"
)

// attempt has an implementer do one turn, and records what it changed: the
// difference of two snapshots, never what it says.
func (t *turn) attempt(step Step) error {
	name := orElse(step.Work.Agent, t.run.Plan.Implementer)
	a := Attempt{Number: step.Number, Step: step.Work.Name, Mode: step.Mode, Agent: name, From: t.run.Head(), Files: []string{}}
	t.Progress.Step(step.Work.Name, fmt.Sprintf("attempt %d (%s) by %s", a.Number, a.Mode, name))
	if step.Redo {
		if err := t.undoUnfinished(); err != nil {
			return err
		}
	}
	before, err := t.snapshot(a.Number, "before")
	if err != nil {
		return err
	}
	a.Before = before.ID
	if err := t.record(draft{Type: AttemptStarted, Source: name, Payload: a, Title: fmt.Sprintf("attempt %d, %s", a.Number, a.Mode)}); err != nil {
		return err
	}
	started := time.Now()
	answer, err := t.implement(name, step, a)
	if err != nil {
		return fmt.Errorf("attempt %d: %w", a.Number, err)
	}
	a.Duration = Duration(time.Since(started))
	return t.finish(a, before, answer)
}

// undoUnfinished puts the working tree back to where an attempt that was never
// finished began.
func (t *turn) undoUnfinished() error {
	a := t.run.lastAttempt()
	if a == nil || a.Before == "" {
		return nil
	}
	before, err := t.Store.Repo.ReadSnapshot(t.ctx, a.Before)
	if err != nil {
		return fmt.Errorf("take up attempt %d: %w", a.Number, err)
	}
	now, err := t.snapshot(a.Number, "interrupted")
	if err != nil {
		return err
	}
	_, err = t.tree.Revert(t.ctx, before, now)
	return err
}

func (t *turn) snapshot(attempt int, name string) (gitstore.Snapshot, error) {
	ref := fmt.Sprintf("refs/runr-local/snapshots/%s/%d-%s", t.run.ID, attempt, name)
	snap, err := t.tree.Snapshot(t.ctx, ref, fmt.Sprintf("run %s attempt %d %s", t.run.ID, attempt, name))
	if err != nil {
		return snap, fmt.Errorf("record the working tree: %w", err)
	}
	return snap, nil
}

func (t *turn) implement(name string, step Step, a Attempt) (ImplementAnswer, error) {
	if a.Mode == ModeGiven {
		return t.takeOver()
	}
	implementer, failure := t.Implementer(name)
	if failure != nil {
		return ImplementAnswer{Failure: failure}, nil
	}
	transcript, err := t.transcript(fmt.Sprintf("attempt-%d.log", a.Number))
	if err != nil {
		return ImplementAnswer{}, err
	}
	defer transcript.Close()
	job := ImplementJob{Dir: t.tree.Dir, Prompt: t.prompt(step).Text(a.Mode), Transcript: transcript, OnLine: t.Progress.Line}
	return implementer.Implement(t.ctx, job)
}

// takeOver brings an executor's finished work into the run's worktree.
func (t *turn) takeOver() (ImplementAnswer, error) {
	given := t.run.Plan.Context
	answer := ImplementAnswer{Text: given.ExecutorResult}
	if t.run.Plan.InPlace {
		return answer, nil // it is there already
	}
	_, err := t.tree.Land(t.ctx, gitstore.LandSpec{Base: t.run.Plan.Base, Result: given.Commit})
	return answer, err
}

// prompt holds all that an implementer must know: feedback that does not reach it
// is the first cause of loops.
func (t *turn) prompt(step Step) ImplementPrompt {
	plan := t.run.Plan
	p := ImplementPrompt{
		Entity: plan.Entity, Task: plan.Task, DoneCriteria: plan.DoneCriteria, References: plan.References,
		Lead: step.Work.Prompt, Attempt: step.Number, Files: t.run.Files(), History: t.history(), Notes: t.run.fromPeople(), Checks: plan.Checks,
		Scope: plan.scopeText(),
	}
	if step.Mode != ModeImplement {
		p.Findings, p.Requests = t.run.Open()
		p.Said = t.run.Said()
		p.Findings = slices.DeleteFunc(slices.Clone(p.Findings), func(f Finding) bool { return f.Severity == Note && step.Mode == ModeReexecute })
		if checks := t.run.LastChecks(); checks != nil {
			for _, c := range checks.Results {
				if c.Fails() {
					p.Failed = append(p.Failed, c)
				}
			}
		}
	}
	return p
}

// history is one line for each earlier attempt.
func (t *turn) history() []string {
	var lines []string
	for _, a := range t.run.Attempts {
		line := fmt.Sprintf("attempt %d (%s): changed %s", a.Number, a.Mode, Count(len(a.Files), "file"))
		for _, round := range t.run.Rounds {
			if round.Attempt == a.Number && round.Failure == nil {
				line += fmt.Sprintf(", reviewed as %s", round.Report.Effective)
			}
		}
		if a.Reverted != nil {
			line += ", reverted"
		}
		lines = append(lines, line)
	}
	return lines
}

// finish records what came of the attempt.
func (t *turn) finish(a Attempt, before gitstore.Snapshot, answer ImplementAnswer) error {
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	after, err := t.snapshot(a.Number, "after")
	if err != nil {
		return err
	}
	a.After, a.Failure = after.ID, answer.Failure
	changes, err := t.Store.Repo.Changed(t.ctx, before.Tree, after.Tree)
	if err != nil {
		return fmt.Errorf("compare snapshots: %w", err)
	}
	for _, c := range changes {
		a.Files = append(a.Files, c.Path)
	}
	a.claim(ParseExecutor(answer.Text))
	if outside := t.run.Plan.Outside(a.Files); len(outside) > 0 && a.Failure == nil {
		a.Failure = &Failure{Reason: ReasonScope, Detail: t.run.Plan.violations(outside)}
	}
	if a.Failure == nil {
		if err := t.commit(&a); err != nil {
			return err
		}
	}
	attachments := map[string][]byte{}
	if answer.Text != "" {
		attachments["executor.md"] = []byte(answer.Text)
	}
	title := fmt.Sprintf("attempt %d changed %s", a.Number, Count(len(a.Files), "file"))
	if a.Failure != nil {
		title = fmt.Sprintf("attempt %d: %s", a.Number, a.Failure.Reason)
	}
	return t.record(draft{Type: AttemptCompleted, Source: a.Agent, Payload: a, Attachments: attachments, Title: title})
}

// claim compares what the implementer says with what it did.
func (a *Attempt) claim(report ExecutorReport) {
	a.Status, a.Verification, a.Claimed, a.Warnings = report.Status, report.Verification, report.Files, report.Warnings
	for _, f := range report.Files {
		if !slices.Contains(a.Files, f) {
			a.Unchanged = append(a.Unchanged, f)
		}
	}
	for _, f := range a.Files {
		if len(report.Files) > 0 && !slices.Contains(report.Files, f) {
			a.Unclaimed = append(a.Unclaimed, f)
		}
	}
}

// commit puts the attempt's work on the run's branch.
func (t *turn) commit(a *Attempt) error {
	if t.run.Plan.InPlace {
		return t.commitAside(a)
	}
	author, err := t.Store.Repo.Identity(t.ctx)
	if err != nil {
		return err
	}
	spec := gitstore.CommitSpec{
		Message: t.message(*a), Author: author, When: t.Store.Now(), Parent: a.From, Ref: "refs/heads/" + t.run.Plan.Branch,
	}
	id, changed, err := t.tree.CommitAll(t.ctx, spec)
	if err != nil {
		return fmt.Errorf("commit attempt %d: %w", a.Number, err)
	}
	if changed {
		a.Commit = id
	}
	commit, err := t.Store.Repo.ReadCommit(t.ctx, id)
	a.Tree = commit.Tree
	return err
}

// commitAside puts the work on the run's branch and leaves the user's HEAD and
// index alone.
func (t *turn) commitAside(a *Attempt) error {
	tree, err := t.tree.NormalTree(t.ctx)
	if err != nil {
		return fmt.Errorf("commit attempt %d: %w", a.Number, err)
	}
	from, err := t.Store.Repo.ReadCommit(t.ctx, a.From)
	a.Tree = tree
	if err != nil || from.Tree == tree {
		return err
	}
	if a.Commit, err = t.Store.keepTree(t.ctx, tree, a.From, t.message(*a)); err != nil {
		return fmt.Errorf("commit attempt %d: %w", a.Number, err)
	}
	return t.moveBranch(a.Commit)
}

// moveBranch sets the run's branch, which nobody has checked out.
func (t *turn) moveBranch(to gitstore.ID) error {
	ref := "refs/heads/" + t.run.Plan.Branch
	old, err := t.Store.Repo.Ref(t.ctx, ref)
	if err != nil {
		return err
	}
	return t.Store.Repo.SwapRef(t.ctx, ref, to, old)
}

func (t *turn) message(a Attempt) string {
	return fmt.Sprintf("%s\n\nAttempt %d (%s) by %s.\n\nRunr-Run: %s\nRunr-Attempt: %d\n",
		oneLine(orElse(t.run.Plan.Entity.Name(), "run "+t.run.ID)), a.Number, a.Mode, oneLine(a.Agent), t.run.ID, a.Number)
}

// revert undoes an attempt: exactly the files that it changed, back to what they
// were before it. Its commit is kept for this clone.
func (t *turn) revert(step Step) error {
	a := t.attemptNumbered(step.Number)
	if a == nil {
		return fmt.Errorf("revert attempt %d: %w", step.Number, gitstore.ErrNotFound)
	}
	t.Progress.Step("revert", fmt.Sprintf("attempt %d, %s", a.Number, Count(len(a.Files), "file")))
	repo := t.Store.Repo
	before, beforeErr := repo.ReadSnapshot(t.ctx, a.Before)
	after, afterErr := repo.ReadSnapshot(t.ctx, a.After)
	if err := errors.Join(beforeErr, afterErr); err != nil {
		return fmt.Errorf("revert attempt %d: %w", a.Number, err)
	}
	done, err := t.tree.Revert(t.ctx, before, after)
	if err != nil {
		return fmt.Errorf("revert attempt %d: %w", a.Number, err)
	}
	if a.Commit != "" && len(done.Conflicts) == 0 {
		if err := repo.Pin(t.ctx, fmt.Sprintf("attempt %d of run %s", a.Number, t.run.ID), a.Commit); err != nil {
			return err
		}
		if err := t.resetBranch(*a); err != nil {
			return fmt.Errorf("revert attempt %d: %w", a.Number, err)
		}
	}
	return t.record(draft{
		Type: AttemptReverted, Source: "runner", Title: fmt.Sprintf("attempt %d, %s", a.Number, Count(len(done.Restored), "file")),
		Payload: Reverted{Attempt: a.Number, Restored: append([]string{}, done.Restored...), Conflicts: done.Conflicts},
	})
}

// resetBranch takes a reverted attempt off the run's branch.
func (t *turn) resetBranch(a Attempt) error {
	if t.run.Plan.InPlace {
		return t.moveBranch(a.From)
	}
	return t.tree.ResetTo(t.ctx, "refs/heads/"+t.run.Plan.Branch, a.From, a.Commit)
}

func (t *turn) attemptNumbered(n int) *Attempt {
	for i := range t.run.Attempts {
		if t.run.Attempts[i].Number == n {
			return &t.run.Attempts[i]
		}
	}
	return nil
}
