package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// prepare runs the setup of the run's worktree before an agent works there, if it has not run or its inputs changed. If
// setup fails, the run stops, unless there is an attempt already: then the checks report what is wrong.
func (t *execution) prepare() error {
	if t.run.Plan.InPlace || t.Checker.Run == nil {
		return nil
	}
	w := t.watch("setup ran")
	fresh := !t.tree.IsFurnished()
	setup, err := t.Checker.Settle(t.ctx, w)
	if err == nil && fresh {
		err = t.postCheckout()
	}
	if err != nil || setup == nil {
		return err
	}
	t.Progress.Step(checking.SetupName, setup.Command)
	result, tampered, err := t.Checker.Watched(t.ctx, w, *setup, t.run.Head())
	switch {
	case err != nil:
		return err
	case tampered != nil:
		return t.stopTampered(*tampered)
	case result.OK():
		t.Progress.Say(fmt.Sprintf("setup took %s", time.Duration(result.Duration).Round(time.Millisecond)))
		return nil
	}
	if len(t.run.Attempts) > 0 {
		t.sayOutput(result)
		return nil
	}
	return t.stop(record.Stop{
		Reason: record.ReasonSetup, Detail: setup.Command + ": " + result.State(), SaidBy: checking.SetupName,
		Said: lastLines(result.Output),
	}, record.EventRunStopped)
}

// prepares reports whether prepare may write to the run's worktree.
func (t *execution) prepares() bool {
	conf := t.Checker.Worktree
	return conf.Setup != "" || conf.PostCheckout || len(conf.Copy)+len(conf.Link) > 0
}

// stopTampered stops the run because something changed the repository while it ran.
func (t *execution) stopTampered(f record.Failure) error {
	return t.stop(record.Stop{Reason: f.Reason, Detail: f.Detail, Undo: f.Undo}, record.EventRunStopped)
}

func (t *execution) sayOutput(result record.CheckResult) {
	t.Progress.Say(result.Name + ": " + result.State())
	for line := range strings.SplitSeq(lastLines(result.Output), "\n") {
		t.Progress.Say("  " + line)
	}
}

func lastLines(text string) string {
	return prose.CutMiddle(prose.Tail(strings.TrimSpace(text), saidLines), saidBytes)
}

// postCheckout runs the user's post-checkout hook in the run's new worktree, as git worktree add does, if the
// configuration asks for it. As with git, a failing hook changes nothing.
func (t *execution) postCheckout() error {
	dir, err := t.Store.Repo.HooksDir(t.ctx)
	if err != nil || !t.Checker.Worktree.PostCheckout || !t.Store.Repo.HasHook(t.ctx, dir, "post-checkout") {
		return err
	}
	if t.Store.Repo.AlteredBelow(t.ctx, dir.Path) {
		t.Progress.Say(
			"post-checkout was not run: a hook changed while an agent worked, and nobody has accepted it: git runr guard")
		return nil
	}
	head := string(t.run.Head())
	line, err := hookLine(dir, "post-checkout", "--", strings.Repeat("0", len(head)), head, "1")
	if err != nil {
		return err
	}
	t.Progress.Step("hook", "post-checkout")
	result, tampered, err := t.Checker.Guarded(t.ctx, t.watch("the post-checkout hook ran"),
		runplan.Check{Name: "post-checkout", Command: line}, t.run.Head())
	if err == nil && tampered != nil {
		err = t.stopTampered(*tampered)
	} else if err == nil && !result.OK() {
		t.sayOutput(result)
	}
	return err
}

// sayPlaced reports that the agent committed files which [worktree] put there: no commit of the run may hold them.
func (t *execution) sayPlaced(from gitstore.ID) error {
	head, err := t.tree.Repo().Head(t.ctx)
	if err != nil {
		return err
	}
	found, err := t.tree.CommittedPlaced(t.ctx, from, head)
	if found {
		t.Progress.Say("the agent committed files that [worktree] put there: its commits are joined into one without them")
	}
	return err
}

// joins reports whether the agent's own commits are joined into one, because one of them adds what the attempt's whole
// change does not show, or too much to compare: nobody would review it, and landing the run would bring it into the
// history.
func (t *execution) joins(ctx context.Context, base, tip gitstore.ID) (bool, error) {
	whole := change.Subject{Kind: change.Range, Base: base, Commit: tip, Tree: tip}
	hides := len(t.Store.Unseen(ctx, whole, nil)) > 0
	if hides {
		t.Progress.Say("the agent's commits add what the whole change does not show, or more than is compared: " +
			"they are joined into one")
	}
	return hides, nil
}
