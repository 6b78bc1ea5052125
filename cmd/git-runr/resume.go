package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/background"
	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
	"git-runr/loop/safetext"
)

func (p *program) resumeCommand() *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "take up a run that stopped; its counters start afresh", ArgsUsage: "[RUN]",
		Description: "What you changed in the run's own working tree since it stopped is committed as yours, checked and reviewed\nfirst; the implementer is asked only where that fails. An attempt whose agent failed is made again: what it changed is taken back first, but for what was changed\nsince. After a kill in your checkout nobody can say what is whose: then what differs is listed, and\nyou do (exit status 3). In the run's own working tree all stays.",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "after", Usage: "run the check `NAME` first, and resume only if it passes; may be given again"},
			keepFlag(),
			&cli.BoolFlag{Name: "detached", Hidden: true, Usage: "refuse as ever, else go on in the background: what is printed goes to a log"},
		}, limitFlags()...),
		Action: p.action(resume),
	}
}

// keepFlag is for the commands that take a run up.
func keepFlag() cli.Flag {
	return &cli.BoolFlag{Name: "keep", Usage: "begin an attempt that was killed or failed again on the files as they are; nothing of what it left is taken back"}
}

func resume(s *session) error {
	store, conf, run, err := s.chosenRun()
	if err == nil {
		err = s.setLimits(conf)
	}
	if err != nil {
		return err
	}
	return s.resume(store, conf, run, s.StringSlice("after"))
}

// resume takes run up, after the checks that the user named.
func (s *session) resume(store *record.Store, conf *config.Config, run record.Run, after []string) error {
	if err := s.readyToRun(conf, run.Plan); err != nil {
		return err
	}
	if err := conf.TrustedPlan(store.Repo.Writer(), run); err != nil {
		return err
	}
	if err := workHere(s.ctx, store, run); err != nil {
		return err
	}
	if reason := stopReason(run); run.Stop != nil && !reason.Resumable && len(run.News()) == 0 {
		return &record.StateError{What: "run " + run.ID, Status: "stopped for good: " + reason.Title, Cannot: "resumed"}
	}
	if err := awaitsPerson(s.ctx, store, run); err != nil {
		return err
	}
	if s.Bool("detached") {
		actor, err := s.actor(store)
		if err != nil {
			return err
		}
		return background.Command(store.Repo, actor, filepath.Join("web", "resume-"+run.ID+".log"), "resume", run.ID)
	}
	if len(after) > 0 {
		var err error
		if run, err = s.prove(s.ctx, conf, store, run, after); err != nil {
			return err
		}
	}
	run, err := s.takeUp(conf, store, run)
	if err != nil {
		return err
	}
	if missing := run.NotProved(); len(missing) > 0 {
		s.say("not run since the review asked for it: %s\n  git runr resume %s --after %s   runs it first", missing[0].Command, run.ID, missing[0].Name)
	}
	letGo, err := s.holdReview(store, run.Plan.FromReview)
	if err != nil {
		return err
	}
	defer letGo()
	return resumeProblem(run.ID, s.carryOut(conf, store, func(runner *loop.Runner) (record.Run, error) {
		runner.Keep = s.Bool("keep")
		runner.Limits = func(run record.Run) runplan.RunLimits { return run.Plan.LimitsFrom(conf.RunLimits()) }
		return runner.Resume(s.ctx, run)
	}))
}

// resumeProblem says what to type where files of the user's checkout may be the
// attempt's or the user's, and where the user is on the run's branch.
func resumeProblem(run string, err error) error {
	left, elsewhere := new(loop.LeftError), new(gitstore.CheckedOutError)
	if errors.As(err, &elsewhere) {
		refused := exit.Problemf(exit.Conflict, "%w", err)
		if line, ok := safetext.CommandLine("git", "-C", elsewhere.Dir, "switch", "--detach"); ok {
			refused = refused.WithHint(line + "   leaves the branch where it is; then: git runr resume " + run)
		}
		return refused
	}
	if !errors.As(err, &left) {
		return err
	}
	return exit.Problemf(exit.Conflict, "%w", err).WithHint(
		"git runr resume "+left.Run+" --keep   they are yours: leave them, begin the attempt again",
		"git runr intervene "+left.Run+" --reason manual_fix --note \"...\"   they are the run's work: have them checked and reviewed",
		"git runr restore "+left.Before.Short()+" -- PATH...   puts paths back to what they were before the attempt")
}

// takeUp records what the user did for the run since it stopped.
func (s *session) takeUp(conf *config.Config, store *record.Store, run record.Run) (record.Run, error) {
	if run.Stop == nil || s.Bool("keep") {
		return run, nil
	}
	run, iv, err := s.intervened(s.ctx, conf, store, func(runner *loop.Runner) (record.Run, record.Intervention, error) {
		return runner.TakeUp(s.ctx, run)
	})
	if err != nil {
		return run, err
	}
	if iv.Commit != "" {
		s.say("your work in the run's working tree: %s", strings.Join(iv.Files, ", "))
	}
	for _, e := range iv.Evidence {
		s.say("%s: %s", e.File, e.State())
	}
	return run, nil
}

// awaitsPerson refuses a run whose review nobody has answered yet: there is nothing to go
// on from.
func awaitsPerson(ctx context.Context, store *record.Store, run record.Run) error {
	review, waits, err := loop.Waits(ctx, store, run)
	if err != nil || !waits {
		return err
	}
	return exit.Problemf(exit.Stopped, "run %s waits for a person's verdict on review %s", run.ID, review.ID).WithHint(stopReason(run).Steps(run.ID)...)
}

// stopReason is why run stopped; the entry of no code when it did not.
func stopReason(run record.Run) record.Reason {
	if run.Stop == nil {
		return record.Reason{}
	}
	return run.Stop.Explained()
}

// prove runs the named checks in the run's working tree and keeps them as evidence.
func (c *console) prove(ctx context.Context, conf *config.Config, store *record.Store, run record.Run, names []string) (record.Run, error) {
	for _, name := range names {
		if !slices.ContainsFunc(run.Plan.Checks, func(check runplan.Check) bool { return check.Name == name }) {
			return run, exit.Problemf(exit.NotFound, "the run has no check called %q", name).WithHint(checkNames(run)...)
		}
	}
	run, iv, err := c.intervened(ctx, conf, store, func(runner *loop.Runner) (record.Run, record.Intervention, error) {
		return runner.Prove(ctx, run, names)
	})
	if err != nil {
		return run, err
	}
	for _, check := range iv.Commands {
		c.say("check %s: %s", check.Name, check.State())
		if !check.OK() {
			c.say("%s", check.Output)
			return run, exit.Problemf(exit.Stopped, "not resumed: check %s failed", check.Name).WithHint("git runr diagnose " + run.ID)
		}
	}
	return run, nil
}

func checkNames(run record.Run) []string {
	var names []string
	for _, c := range run.Plan.Checks {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return []string{"it has none: git runr help config tells how checks are configured"}
	}
	return []string{"its checks: " + strings.Join(names, ", ")}
}
