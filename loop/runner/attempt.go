package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/workspace"
)

// attempt runs one turn of the implementer and records what it changed: the difference of two snapshots, never what the
// agent says.
func (t *execution) attempt(step Step) error {
	name := cmp.Or(step.Work.Agent, t.run.Plan.Implementer)
	a := record.Attempt{Number: step.Number, Step: step.Work.Name, Mode: step.Mode, Agent: name, From: t.run.Head(),
		Files: []string{}}
	step.Kept = step.Kept && !t.asMade // else there is nothing to keep
	if step.Kept {
		t.Progress.Step(step.Work.Name, fmt.Sprintf("attempt %d, kept from before the stop", a.Number))
		a.Tampered = t.run.LastAttempt().Failure.Detail
		if standing, err := t.Store.Repo.Alterations(t.ctx); err == nil && len(standing) == 0 {
			a.Tampered += "; put back or accepted since"
		}
	} else {
		t.Progress.Step(step.Work.Name, a.Label())
	}
	if step.Redo && !step.Kept {
		if err := t.takeUp(); err != nil {
			return err
		}
	}
	before, err := t.stateBefore(a, step.Kept)
	if err != nil {
		return err
	}
	a.Before = before.ID
	if err := t.record(record.EventAttemptStarted.New(name, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode),
		a)); err != nil {
		return err
	}
	started := time.Now()
	t.meanwhile = nil
	if len(t.changed) > 0 {
		t.meanwhile = []string{"changed before this attempt, since the last one ended: " + strings.Join(t.changed, ", ")}
		t.changed = nil
	}
	answer, err := t.implement(name, step, a, &before)
	if err != nil && t.ctx.Err() == nil {
		return fmt.Errorf("attempt %d: %w", a.Number, err)
	}
	if err == nil && answer.Failure == nil {
		if a.Hook, answer.Failure, err = t.runCommitHook(); err != nil && t.ctx.Err() == nil {
			return fmt.Errorf("attempt %d: %w", a.Number, err)
		}
	}
	a.Before, a.Duration = before.ID, duration.Duration(time.Since(started))
	return t.finish(a, before, answer)
}

// stateBefore returns the working tree as it was before the attempt, or before its first try if that one is kept.
func (t *execution) stateBefore(a record.Attempt, kept bool) (gitstore.Snapshot, error) {
	if kept {
		return t.Store.Repo.ReadSnapshot(t.ctx, t.run.LastAttempt().Before)
	}
	if given := t.run.Plan.Context; t.run.Plan.InPlace && a.Mode == record.ModeGiven {
		return t.Store.Repo.ReadSnapshot(t.ctx, given.Before)
	}
	var options []gitstore.SnapshotOption
	if t.run.Plan.InPlace {
		options = append(options, gitstore.KeepIgnored())
	}
	asMade := t.asMade && !t.prepares()
	if t.asMade = false; asMade {
		options = append(options, gitstore.AsMade())
	}
	before, err := t.snapshot(a.Number, "before", options...)
	if asMade {
		t.made = before
	}
	if err == nil && t.run.Plan.InPlace {
		t.sayGaps(before.NotKept())
	}
	return before, err
}

// implement runs the implementer. takeOver replaces before, because work done elsewhere was done before the attempt.
func (t *execution) implement(name string, step Step, a record.Attempt,
	before *gitstore.Snapshot) (role.ImplementAnswer, error) {
	if step.Kept {
		return role.ImplementAnswer{}, nil
	}
	if a.Mode == record.ModeGiven {
		return t.takeOver(a, before)
	}
	transcript, err := t.transcript(fmt.Sprintf("attempt-%d.log", a.Number))
	if err != nil {
		return role.ImplementAnswer{}, err
	}
	defer transcript.Close()
	prompt := t.prompt(step)
	if !t.run.Plan.Uninstructed {
		prompt.Nonce = checking.NewNonce()
		prompt.Told, err = reviewing.Instructions(t.ctx, t.Store, t.run.Plan.Base, reviewing.ImplementerFiles)
		if err != nil {
			return role.ImplementAnswer{}, err
		}
	}
	if err := t.keepPrompt(a.Number, prompt.Text(a.Mode)); err != nil {
		return role.ImplementAnswer{}, err
	}
	job := role.ImplementJob{
		Dir: t.tree.Dir, Prompt: prompt.Text(a.Mode), Uninstructed: t.run.Plan.Uninstructed, Keep: t.run.Plan.KeepSessions,
		Session: t.session(a), Transcript: transcript, OnLine: t.Progress.Line,
	}
	answer, err := t.relayed(name, job, func() (bool, error) { return t.afresh(a, *before) })
	answer.Told = prompt.Told.Used
	return answer, err
}

// relayed gives job to the implementer called name, or to its substitutes if it cannot answer.
func (t *execution) relayed(name string, job role.ImplementJob,
	again func() (bool, error)) (answer role.ImplementAnswer, err error) {
	c := t.calls(name)
	c.Again = again
	failure, err := c.Ask(t.ctx, func(name string) (spend.Usage, *record.Failure, error) {
		implementer, failure := t.Implementer(name)
		if failure != nil {
			return spend.Usage{}, failure, nil
		}
		if t.run.Plan.InPlace && !implementer.ReportsEdits() && t.warned != name {
			t.warned = name
			t.Progress.Say(name +
				" does not report which files it edits: unless it lists them at the end, everything that changes here while it " +
				"works counts as its work")
		}
		if c.Made != nil { // the session belongs to the first implementer
			job.Session = spend.Session{}
		}
		answer = role.ImplementAnswer{}
		tampered, err := t.watch("implementer "+name+" worked").During(t.ctx, func(ctx context.Context) (err error) {
			answer, err = implementer.Implement(ctx, job)
			return err
		})
		if answer.Failure = cmp.Or(tampered, answer.Failure); err == nil && answer.Failure == nil && t.gone() {
			answer.Failure = checking.RemovedTree(name)
		}
		return answer.Usage, answer.Failure, err
	})
	answer.Calls, answer.Failure = c.Made, failure
	return answer, err
}

// afresh restores the working tree after a failed call, so that the next call starts from before. It returns false if
// that is not possible: in the user's checkout nobody knows who made a change.
func (t *execution) afresh(a record.Attempt, before gitstore.Snapshot) (bool, error) {
	if t.gone() {
		return false, nil
	}
	now, err := t.snapshot(a.Number, "found", gitstore.Since(before))
	if err != nil {
		return false, err
	}
	paths, err := t.changedOnDisk(before.Tree, now.Tree)
	if err != nil || len(paths) == 0 {
		return err == nil, err
	}
	if t.run.Plan.InPlace {
		t.Progress.Say("no other agent is asked, because these files changed: " + strings.Join(paths, ", "))
		return false, nil
	}
	done, err := t.takeBack(t.tree, a, before.ID, now.ID, "retry", "which gave no answer")
	return err == nil && len(done.Conflicts) == 0, err
}

// watch returns the Watch over the run's working tree while something runs.
func (t *execution) watch(while string) checking.Watch {
	own := []string{t.run.Plan.BranchRef()}
	if branch, err := t.tree.Repo().Branch(t.ctx); err == nil && branch != "" {
		own = append(own, branch)
	}
	return checking.Watch{Store: t.Store, Progress: t.Progress, Tree: t.tree, Own: own, While: while,
		Meanwhile: &t.meanwhile}
}

// session returns the session that a fix continues: that of the newest attempt, if the same agent made it and it was
// neither failed nor reverted. Otherwise the agent would remember files that have changed since.
func (t *execution) session(a record.Attempt) spend.Session {
	earlier := each.Where(t.run.Attempts, func(e record.Attempt) bool { return e.Number < a.Number })
	if !t.run.Plan.KeepSessions || a.Mode != record.ModeFix || len(earlier) == 0 {
		return spend.Session{}
	}
	if last := earlier[len(earlier)-1]; last.Agent == a.Agent && !last.Failed() && last.Reverted == nil {
		return last.Session
	}
	return spend.Session{}
}

// takeOver brings an executor's finished work into the run's worktree.
func (t *execution) takeOver(a record.Attempt, before *gitstore.Snapshot) (role.ImplementAnswer, error) {
	given := t.run.Plan.Context
	answer := role.ImplementAnswer{Text: given.ExecutorResult}
	if t.run.Plan.InPlace {
		return answer, nil // the work is in the checkout already
	}
	ref, err := workspace.FreeRef(t.ctx, t.Store, t.run.ID, fmt.Sprintf("%d-without", a.Number))
	if err != nil {
		return answer, err
	}
	subject := fmt.Sprintf("run %s, attempt %d: without the executor's work", t.run.ID, a.Number)
	without, left, err := t.tree.Bring(t.ctx, t.run.Plan.BranchRef(), t.run.Plan.Base, given.Commit, ref, subject)
	if err == nil {
		*before = without
	}
	if len(left) > 0 {
		t.Progress.Say("left as they are in the run's working tree: " + strings.Join(left, ", "))
	}
	return answer, err
}

// prompt returns all that an implementer must know: feedback that does not reach it is the first cause of loops.
func (t *execution) prompt(step Step) ImplementPrompt {
	plan := t.run.Plan
	p := ImplementPrompt{
		Entity: plan.Entity, Task: plan.Task, DoneCriteria: plan.DoneCriteria, References: plan.References,
		Lead: step.Work.Prompt, Attempt: step.Number, Files: t.run.Files(), History: t.history(step.Number),
		Notes: t.run.FromPeople(), Checks: plan.Checks,
		Scope: plan.ScopeText(),
	}
	if step.Mode != record.ModeImplement {
		p.Findings, p.Requests = t.run.Open()
		p.Said = t.run.Said()
		p.Findings = slices.DeleteFunc(slices.Clone(p.Findings), func(f reply.Finding) bool {
			return f.Severity == reply.Note && step.Mode == record.ModeReexecute
		})
		if checks := t.run.LastChecks(); checks != nil {
			p.Failed = checks.Failures()
		}
	}
	return p
}

// history returns one line for each earlier attempt.
func (t *execution) history(number int) []string {
	var lines []string
	for _, a := range t.run.Attempts {
		if a.Number == number {
			continue
		}
		line := fmt.Sprintf("attempt %d (%s): changed %s", a.Number, a.Mode, prose.Count(len(a.Files), "file"))
		for _, round := range t.run.Rounds {
			if round.Attempt == a.Number && round.Failure == nil {
				line += fmt.Sprintf(", reviewed as %s", round.Said())
			}
		}
		if a.Reverted != nil {
			line += ", reverted"
		}
		lines = append(lines, line)
	}
	return lines
}

// finish records the result of the attempt, however it ended.
func (t *execution) finish(a record.Attempt, before gitstore.Snapshot, answer role.ImplementAnswer) error {
	if t.ctx.Err() != nil && (answer.Failure == nil || answer.Failure.Reason != record.ReasonTamperedRepo) {
		answer.Failure = &record.Failure{Reason: record.ReasonInterrupted}
	}
	defer func(ctx context.Context) { t.ctx = ctx }(t.ctx)
	t.ctx = context.WithoutCancel(t.ctx) // this is the only chance to record it
	a.Told, a.Failure, a.Spent, a.Meanwhile = answer.Told, answer.Failure, spend.NewSpent(a.Agent, answer.Calls),
		t.meanwhile
	if !t.gone() && !t.Store.Repo.Stopped() {
		seen := a
		err := t.takeStock(&seen, before, answer)
		switch {
		case err == nil:
			a = seen
		case a.Failure == nil || a.Failure.Reason != record.ReasonTamperedRepo:
			return err
		default: // git cannot read what was tampered with; a resumed run looks again
			t.Progress.Say("what changed was not examined: " + err.Error())
		}
	}
	title := fmt.Sprintf("attempt %d changed %s", a.Number, prose.Count(len(a.Files), "file"))
	if by := a.By(a.Agent); by != a.Agent {
		title += ", by " + by
	}
	if a.Failure != nil {
		title = fmt.Sprintf("attempt %d: %s", a.Number, a.Failure.Reason)
	}
	return t.record(record.EventAttemptCompleted.New(a.Agent, title, a).Attach("executor.md", answer.Text))
}

// takeStock finds out what the attempt changed, and commits it if the attempt succeeded.
func (t *execution) takeStock(a *record.Attempt, before gitstore.Snapshot, answer role.ImplementAnswer) error {
	if t.tree.Own {
		if err := t.tree.MendHead(t.run.Plan.BranchRef()); err != nil {
			return err
		}
	}
	after, err := t.stateAfter(*a, before)
	if err != nil {
		return err
	}
	a.After = after.ID
	if a.Files, err = t.changedOnDisk(before.Tree, after.Tree); err != nil {
		return fmt.Errorf("compare snapshots: %w", err)
	}
	if err := t.leaveRepositories(a, before, after); err != nil {
		return fmt.Errorf("look for repositories: %w", err)
	}
	var work gitstore.CommitSpec
	if before.Tree == t.made.Tree && len(after.Gaps) == 0 {
		work.Clean, work.Paths = &t.made, slices.Clone(a.Files)
	}
	a.Edited, a.Denied, a.Session = answer.Edited, answer.Denied, answer.Session
	report := reply.ParseExecutor(withoutDir(answer.Text, t.tree.Dir))
	if a.Claim(report); len(a.Files) == 0 && a.Mode == record.ModeFix && a.Status != reply.ExecutorFailed &&
		a.Status != reply.ExecutorCheckpoint {
		a.Refutes = prose.CutMiddle(cleaned(report.Reason), reply.MaxText)
	}
	if t.run.Plan.InPlace && a.Mode != record.ModeGiven {
		if err := t.beside(a, before, after); err != nil {
			return err
		}
		t.leaveUnclaimed(a)
		if err := t.lostWork(a, before, after); err != nil {
			return fmt.Errorf("look for the user's work: %w", err)
		}
	}
	if outside := t.run.Plan.Outside(a.Files); len(outside) > 0 && a.Failure == nil {
		a.Failure = &record.Failure{Reason: record.ReasonScope, Detail: t.run.Plan.Violations(outside)}
	}
	if a.Failure == nil {
		if !t.run.Plan.InPlace {
			if err := t.clearLocks(); err != nil {
				return err
			}
		}
		if err := t.commit(a, work); err != nil {
			return err
		}
	}
	return t.leaveInSubmodules(a, after)
}

// leaveRepositories moves repositories of their own that the attempt made, and that are no submodules, from its files
// to NotCarried: a commit would name one of their commits, which nobody has. It adds the files that git cannot record.
func (t *execution) leaveRepositories(a *record.Attempt, before, after gitstore.Snapshot) error {
	since := t.run.Plan.Base
	if t.run.Plan.InPlace { // where the user may have had some before
		since = before.Tree
	}
	embedded, err := t.Store.Repo.Embedded(t.ctx, since, after.Tree)
	var refused []string
	for _, gap := range after.Gaps {
		if dir, ok := strings.CutSuffix(gap, "/"); slices.Contains(before.Gaps, gap) {
			continue
		} else if ok {
			embedded = append(embedded, dir)
		} else {
			refused = append(refused, gap)
		}
	}
	a.Files = slices.DeleteFunc(slices.Clone(a.Files), func(file string) bool { return slices.Contains(embedded, file) })
	for _, dir := range embedded {
		a.NotCarried = append(a.NotCarried, record.NotCarried{Submodule: dir})
	}
	if len(refused) > 0 {
		a.NotCarried = append(a.NotCarried, record.NotCarried{Files: refused})
	}
	return err
}

// leaveInSubmodules moves files inside a submodule from the attempt's files to NotCarried: the run's commit cannot hold
// them. A snapshot lacks a submodule whose directory has no repository of its own, or contains the files there.
func (t *execution) leaveInSubmodules(a *record.Attempt, after gitstore.Snapshot) error {
	changes, err := t.Store.Repo.Changed(t.ctx, cmp.Or(a.Commit, a.From), after.Tree)
	for _, c := range changes {
		if c.OldMode != gitstore.ModeCommit || c.NewMode != "" {
			continue
		}
		left := record.NotCarried{Submodule: c.Path}
		a.Files = slices.DeleteFunc(slices.Clone(a.Files), func(file string) bool {
			name, inside := strings.CutPrefix(file, c.Path+"/")
			if inside {
				left.Files = append(left.Files, name)
			}
			return inside
		})
		if len(left.Files) > 0 {
			a.NotCarried = append(a.NotCarried, left)
		}
	}
	return err
}

// stateAfter returns the working tree as the attempt leaves it.
func (t *execution) stateAfter(a record.Attempt, before gitstore.Snapshot) (gitstore.Snapshot, error) {
	if given := t.run.Plan.Context; t.run.Plan.InPlace && a.Mode == record.ModeGiven {
		return t.Store.Repo.ReadSnapshot(t.ctx, given.Snapshot)
	}
	return t.snapshot(a.Number, "after", gitstore.Since(before))
}

// leaveUnclaimed limits an attempt in the user's checkout to the files that its implementer claims. Any other change
// may be made by a person at work in the same checkout, and is left alone. If an implementer cannot report its edits
// and claims nothing, every change counts as its own.
func (t *execution) leaveUnclaimed(a *record.Attempt) {
	implementer, _ := t.Implementer(append(a.Answered(a.Agent), a.Agent)[0])
	tells := implementer != nil && implementer.ReportsEdits()
	if tells && len(a.Claimed)+len(a.Edited) == 0 {
		a.Unclaimed = a.Files
	}
	a.AllCounted = !tells && len(a.Claimed)+len(a.Edited) == 0 && len(a.Files) > 0
	a.Files = slices.DeleteFunc(slices.Clone(a.Files), among(a.Unclaimed))
	if said := slices.Concat(a.Claimed, a.Edited); tells || len(said) > 0 {
		a.Beside = slices.DeleteFunc(a.Beside, func(path string) bool { return !coveredBy(said, path) })
	}
	if len(a.Unclaimed) > 0 {
		t.Progress.Say(fmt.Sprintf("left alone, because %s does not report changing them: %s", a.By(a.Agent),
			strings.Join(a.Unclaimed, ", ")))
	}
}

// commit commits the attempt's work on the run's branch. It completes work, the specification of the commit.
func (t *execution) commit(a *record.Attempt, work gitstore.CommitSpec) error {
	work.Parent, work.Message = a.From, t.message(*a)
	at, tree, err := t.commitOn(work, func() (gitstore.ID, error) {
		if a.Mode == record.ModeGiven {
			return t.tree.TreeWith(t.ctx, a.From, t.run.Plan.Context.Commit, among(a.Files))
		}
		now, err := t.tree.NormalTree(t.ctx)
		if err != nil {
			return "", err
		}
		return t.tree.TreeWith(t.ctx, a.From, now, among(a.Files))
	})
	if err != nil {
		return fmt.Errorf("commit attempt %d: %w", a.Number, err)
	}
	if a.Tree = tree; at == a.From {
		return nil
	}
	a.Commit = at
	a.Change = t.Store.ChangeID(t.ctx, t.upTo(at, tree))
	if t.run.Plan.InPlace {
		return nil
	}
	// The commit also contains what the setup did, what an earlier try of the attempt left, and what a person did in the
	// run's working tree.
	made := slices.Clone(a.Files)
	err = t.addFiles(&a.Files, a.From, a.Commit)
	a.Found = slices.DeleteFunc(slices.Clone(a.Files), among(made))
	return err
}

// upTo returns all that the run changes up to a commit on its branch.
func (t *execution) upTo(commit, tree gitstore.ID) change.Subject {
	return change.Subject{Kind: change.Range, Base: t.run.Plan.Base, Commit: commit, Tree: tree}
}

// commitOn commits the run's working tree on its branch, on top of spec.Parent, and returns the commit and its tree. It
// returns spec.Parent if nothing changed. For a run in the user's checkout, inPlace returns the tree to commit; HEAD
// and index stay as they are.
func (t *execution) commitOn(
	spec gitstore.CommitSpec, inPlace func() (gitstore.ID, error),
) (at, tree gitstore.ID, err error) {
	branch, from := t.run.Plan.BranchRef(), spec.Parent
	if !t.run.Plan.InPlace {
		spec.When, spec.Ref = t.Store.Now(), branch
		if spec.Author, err = t.Store.Repo.Identity(t.ctx); err != nil {
			return "", "", err
		}
		if err := t.sayPlaced(from); err != nil {
			return "", "", err
		}
		spec.Joins = t.joins
		if at, _, err = t.tree.CommitAll(t.ctx, spec); err != nil {
			return "", "", err
		}
		made, err := t.Store.Repo.ReadCommit(t.ctx, at)
		return at, made.Tree, err
	}
	if tree, err = inPlace(); err != nil {
		return "", "", err
	}
	before, err := t.Store.Repo.ReadCommit(t.ctx, from)
	if err != nil || before.Tree == tree {
		return from, tree, err
	}
	if at, err = t.Store.KeepTree(t.ctx, tree, from, spec.Message); err != nil {
		return "", "", err
	}
	return at, tree, t.Store.Repo.MoveBranch(t.ctx, branch, at, from)
}

// addFiles adds the paths that differ between two trees or commits to files, each once.
func (t *execution) addFiles(files *[]string, from, to gitstore.ID) error {
	changes, err := t.Store.Repo.Changed(t.ctx, from, to)
	known := each.Set(*files)
	for _, c := range changes {
		if !known[c.Path] {
			*files = append(*files, c.Path)
		}
	}
	return err
}

// changedOnDisk lists the paths whose files differ between two trees or commits.
func (t *execution) changedOnDisk(from, to gitstore.ID) ([]string, error) {
	changes, err := t.Store.Repo.ChangedOnDisk(t.ctx, from, to)
	return each.Of(changes, func(c gitstore.Change) string { return c.Path }), err
}

func (t *execution) message(a record.Attempt) string {
	label := "A" + a.Label()[1:] // it begins a sentence
	return fmt.Sprintf("%s\n\n%s.\n\nRunr-Run: %s\nRunr-Attempt: %d\n", prose.OneLine(t.run.Name()),
		prose.OneLine(label), t.run.ID, a.Number)
}
