package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// InterventionSpec is a person's description of an intervention.
type InterventionSpec struct {
	Reason   string          // one of InterventionReasons; "": as the run's stop has it
	Note     string          // taken literally: nothing in it is expanded
	Lines    *record.Comment // of the run's work, without a text: the note asks the next attempt to change them
	Commands []string        // run by sh -c in the run's working tree, in this order
	Since    gitstore.ID     // parent of the person's first commit; "": the newest intervention, else the run's base
	Evidence bool            // it is about evidence: if none of it counts and nothing was done, nothing is recorded
	Message  string          // for the commit of the person's changes in the run's working tree; "": made from the note
	Proof    bool            // only its commands count: what a killed attempt left stays unclaimed
}

// Intervene records what a person did for a run. It first stops a process on this machine that executes the run.
// Changes in the run's working tree become a commit on its branch. Commands are run there, and their results kept as
// evidence. The retry limits count from zero again.
func (r *Runner) Intervene(ctx context.Context, run record.Run,
	spec InterventionSpec) (record.Run, record.Intervention, error) {
	var iv record.Intervention
	unlock, err := workspace.TakeRun(ctx, r.Store, run)
	if err != nil {
		return run, iv, err
	}
	defer unlock()
	if run, err = r.Store.Run(ctx, run.ID); err != nil { // somebody may have resumed it since it was read
		return run, iv, err
	}
	if refused := run.Allow(record.EventRunIntervened.Name); refused != nil {
		return run, iv, refused
	}
	t := &execution{Runner: r, ctx: ctx, run: run}
	release, err := t.openTree()
	if err != nil {
		return run, iv, err
	}
	defer release()
	iv, err = t.intervene(spec)
	return t.run, iv, err
}

// intervene is Intervene for a run whose working tree is open.
func (t *execution) intervene(spec InterventionSpec) (iv record.Intervention, err error) {
	iv = record.Intervention{Number: len(t.run.Interventions) + 1,
		Reason: cmp.Or(spec.Reason, interventionReason(t.run)), Note: spec.Note, Lines: spec.Lines,
		Attempts: len(t.run.Attempts), Files: []string{}}
	if spec.Lines != nil {
		iv.Note = spec.Lines.Where() + ": " + spec.Note
	}
	if err := t.findCommits(&iv, spec.Since); err != nil {
		return iv, fmt.Errorf("list commits: %w", err)
	}
	if err := t.takeWork(&iv, spec); err != nil {
		return iv, err
	}
	if iv.Commands, err = t.runCommands(iv, spec.Commands); err != nil {
		return iv, err
	}
	if err := t.takeEvidence(&iv); err != nil {
		return iv, err
	}
	if spec.Evidence && iv.Commit == "" && !slices.ContainsFunc(iv.Evidence, record.Evidence.Counts) {
		return iv, nil
	}
	return iv, t.recordIntervention(&iv)
}

// takeFound takes what the working tree of a killed run holds beyond its commits as a person's work, unless an attempt
// follows, which commits it, or a revert, which keeps it. Nobody can tell who left it there, so all of it is named.
func (t *execution) takeFound() error {
	ended := []string{record.EventAttemptCompleted.Name, record.EventChecksCompleted.Name, record.EventRoundCompleted.Name}
	goesOn := []Action{DoChecks, DoReview, DoComplete}
	if t.run.Plan.InPlace || !slices.Contains(ended, t.run.Last) ||
		!slices.Contains(goesOn, Next(t.run, t.run.Plan.Policy).Action) {
		return nil
	}
	now, err := t.tree.NormalTree(t.ctx)
	if err != nil {
		return err
	}
	if head, err := t.Store.Repo.TreeOf(t.ctx, t.run.Head()); err != nil || now == head {
		return err
	}
	iv, err := t.intervene(InterventionSpec{Note: "left in the run's working tree when it was killed", Evidence: true})
	if iv.Commit != "" {
		t.Progress.Say("found in the run's working tree, and taken as your work: " + strings.Join(iv.Theirs(), ", "))
	}
	return err
}

// findCommits lists the commits made in the user's checkout since the run began or a person last intervened.
func (t *execution) findCommits(iv *record.Intervention, since gitstore.ID) error {
	repo := t.Store.Repo
	iv.Commits = []gitstore.ID{}
	head, err := repo.HeadOrEmpty(t.ctx)
	if err != nil {
		return err
	}
	iv.Head, iv.Since = head, t.run.Plan.Base
	if iv.Branch, err = t.Store.Branch(t.ctx); err != nil {
		return err
	}
	if n := len(t.run.Interventions); n > 0 {
		iv.Since = t.run.Interventions[n-1].Head
	}
	if since != "" {
		iv.Since = since
	}
	follows, err := repo.IsAncestor(t.ctx, iv.Since, head)
	switch {
	case err == nil && !follows && since != "":
		return &record.StateError{What: "commit " + since.Short(), Status: "no ancestor of HEAD",
			Cannot: "where the intervention began"}
	case err != nil || !follows: // the checkout has nothing to do with the run
		iv.Since = iv.Head
		return nil
	}
	commits, err := repo.Commits(t.ctx, iv.Since, head, 0)
	if err != nil {
		return err
	}
	iv.Commits = each.Of(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	return t.addFiles(&iv.Files, iv.Since, head)
}

// takeWork commits the person's changes in the run's working tree on the run's branch.
func (t *execution) takeWork(iv *record.Intervention, spec InterventionSpec) error {
	theirs, left, err := t.changedByPeople(spec)
	if err != nil || !theirs {
		return err
	}
	// The commit has the files. The snapshot also has what the person staged and changed again since.
	if _, err := t.snapshot(max(len(t.run.Attempts), 1), "intervention"); err != nil {
		return err
	}
	from := t.run.Head()
	iv.LeftByAttempt = left
	work := gitstore.CommitSpec{Parent: from, Message: t.interventionMessage(*iv, spec.Message)}
	at, tree, err := t.commitOn(work, func() (gitstore.ID, error) { return t.tree.NormalTree(t.ctx) })
	if err != nil || at == from {
		return err
	}
	iv.Commit, iv.Tree, iv.Change = at, tree, t.Store.ChangeID(t.ctx, t.upTo(at, tree))
	return t.addFiles(&iv.Files, from, at)
}

// changedByPeople reports whether the working tree holds more than a failed attempt left there. Nobody knows
// what a killed attempt left, so the person takes responsibility for all changes since before it, unless spec is a
// proof. A commit message also claims the work for the person. untouched are the files that the attempt changed and
// that are as it left them.
func (t *execution) changedByPeople(spec InterventionSpec) (theirs bool, untouched []string, err error) {
	a := t.run.LastAttempt()
	if spec.Message != "" || a == nil || !a.Failed() || t.run.ByPeople(len(t.run.Attempts)) != "" {
		return true, nil, nil
	}
	if a.After == "" && spec.Proof {
		return false, nil, nil
	}
	left, err := t.Store.Repo.ReadSnapshot(t.ctx, cmp.Or(a.After, a.Before))
	if err != nil {
		return false, nil, fmt.Errorf("read what attempt %d left: %w", a.Number, err)
	}
	now, err := t.snapshot(a.Number, "intervention")
	if err != nil {
		return false, nil, err
	}
	changed, err := t.changedOnDisk(left.Tree, now.Tree)
	if a.After != "" {
		untouched = slices.DeleteFunc(slices.Clone(a.Files), among(changed))
	}
	return now.Tree != left.Tree, untouched, err
}

func (t *execution) interventionMessage(iv record.Intervention, message string) string {
	if strings.TrimSpace(message) == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(iv.Note), "\n")
		message = prose.OneLine(cmp.Or(first, "Intervention in run "+t.run.ID))
	}
	message = strings.TrimSpace(message)
	if len(iv.LeftByAttempt) > 0 {
		message += fmt.Sprintf("\n\nAs attempt %d left it: %s", len(t.run.Attempts), strings.Join(iv.LeftByAttempt, ", "))
	}
	return fmt.Sprintf("%s\n\nRunr-Run: %s\nRunr-Intervention: true\nRunr-Reason: %s\n", message, t.run.ID, iv.Reason)
}

// runCommands runs each command and returns its exit code, duration and output.
func (t *execution) runCommands(iv record.Intervention, commands []string) ([]record.CheckResult, error) {
	on := cmp.Or(iv.Commit, t.run.Head())
	results := []record.CheckResult{}
	for _, command := range commands {
		check, _ := each.First(t.run.Plan.Checks, func(c runplan.Check) bool { return c.Command == command })
		check.Command = command
		t.Progress.Step("run", command)
		results = append(results, t.Checker.Judge(t.Checker.Run(t.ctx, check, t.tree.Dir, on), nil, nil))
	}
	return results, t.ctx.Err()
}

func (t *execution) recordIntervention(iv *record.Intervention) error {
	author, err := t.Store.Repo.Identity(t.ctx)
	if err != nil {
		return err
	}
	iv.By = author.String()
	done := record.InterventionPayload{Intervention: *iv, On: cmp.Or(iv.Commit, t.run.Head())}
	done.Commands = record.WithoutOutput(iv.Commands)
	event := record.EventRunIntervened.New("cli", prose.OneLine(iv.Reason+": "+iv.Note), done)
	for i, c := range iv.Commands {
		event = event.Attach(fmt.Sprintf("commands/%d.log", i+1), c.Output)
	}
	for _, e := range iv.Evidence {
		event = event.Attach("evidence/"+record.SafeName(e.File), e.Text)
	}
	return t.record(event)
}

// TakeUp records what people did since run stopped as an intervention: changes in the run's own working tree, and check
// output that they left.
func (r *Runner) TakeUp(ctx context.Context, run record.Run) (record.Run, record.Intervention, error) {
	spec := InterventionSpec{Reason: interventionReason(run), Note: "worked in the run's working tree", Evidence: true}
	found, err := evidenceLeft(run, workspace.FilesDir(r.Store, run.ID))
	if err != nil || len(found) == 0 && !changedSince(ctx, r.Store, run) {
		return run, record.Intervention{}, err
	}
	if len(found) > 0 {
		files := each.Of(found, func(e record.Evidence) string { return e.File })
		spec.Note = "left evidence: " + strings.Join(files, ", ")
	}
	return r.Intervene(ctx, run, spec)
}

// changedSince reports whether the run's own working tree changed since the run stopped. It is false if a failed
// attempt can be retried: the retry keeps what a person did meanwhile.
func changedSince(ctx context.Context, s *store.Store, run record.Run) bool {
	a := run.LastAttempt()
	if run.Stop == nil || run.Stop.Tree == "" || a != nil && a.Failed() && run.Stop.Explained().Retry() {
		return false
	}
	tree, err := s.Repo.OpenWorktree(ctx, workspace.TreeDir(s, run.ID))
	if err != nil {
		return false // gone, or recreated from the run's commit
	}
	now, err := tree.NormalTree(ctx)
	return err == nil && now != run.Stop.Tree
}

// interventionReason returns the reason for an intervention for which the person gave none.
func interventionReason(r record.Run) string {
	if r.Stop == nil {
		return record.InterveneOther
	}
	return cmp.Or(record.ReasonOf(r.Stop.Reason).Intervene, record.InterveneOther)
}

// Prove runs the named checks in the run's working tree before the run is resumed, and records the results as an
// intervention.
func (r *Runner) Prove(ctx context.Context, run record.Run, names []string) (record.Run, record.Intervention, error) {
	spec := InterventionSpec{Reason: interventionReason(run),
		Note: "checked before resuming: " + strings.Join(names, ", "), Proof: true}
	for _, name := range names {
		if c, ok := each.First(run.Plan.Checks, func(c runplan.Check) bool { return c.Name == name }); ok {
			spec.Commands = append(spec.Commands, c.Command)
		}
	}
	return r.Intervene(ctx, run, spec)
}
