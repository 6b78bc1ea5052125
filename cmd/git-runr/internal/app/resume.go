package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) resumeCommand() *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "resume a run that stopped, or decide on it", ArgsUsage: "[RUN]",
		Description: `The run's retry limits count from zero again. What you changed in the run's working tree since the
stop is committed as yours, then checked and reviewed; the implementer is called only if that fails. An attempt whose
agent failed is repeated: its changes are reverted first, except in files that changed since. After a kill in your
checkout nobody can tell whose changes are whose: resume lists the differences, and you decide (exit status 3). In the
run's own working tree everything stays and goes into the run, which names it.

For a run that gave up, --commit accepts the result with its open findings, --skip leaves the task undone and --stop
leaves the run to a person; all three end with exit status 0 when that is done. --safe resumes only runs that were
interrupted, timed out or died, whose configuration is trusted by now, or in which you intervened; for others it prints
what they need (exit status 4).`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "commit", Usage: "accept the result as it is"},
			&cli.BoolFlag{Name: "skip", Usage: "leave the task undone"},
			&cli.BoolFlag{Name: "stop", Usage: "leave it to a person; one that is at work on this machine is stopped"},
			&cli.BoolFlag{Name: "safe", Usage: "only where nothing is for a person to decide"},
			&cli.StringSliceFlag{Name: "after",
				Usage: "run the check `NAME` first, and resume only if it passes; may be given again"},
			&cli.BoolFlag{Name: "keep", Usage: "repeat an attempt that was killed or failed, on the files as they are"},
			&cli.BoolFlag{Name: "detached", Hidden: true,
				Usage: "refuse as ever, else go on in the background: what is printed goes to a log"},
			&cli.BoolFlag{Name: "decide", Hidden: true, Usage: "a decision has to be given"},
		}, limitFlags()...),
		Action: p.onRun(func(s *session) bool { return !s.Bool("stop") }, resume),
	}
}

func resume(s *session, store *store.Store, conf *config.Config, run record.Run) (err error) {
	var choices []runplan.Choice
	for _, choice := range []runplan.Choice{runplan.ChoiceCommit, runplan.ChoiceSkip, runplan.ChoiceStop} {
		if s.Bool(string(choice)) {
			choices = append(choices, choice)
		}
	}
	if len(choices) > 1 || s.Bool("decide") && (len(choices) == 0 || s.NArg() == 0) {
		return exit.Problemf(exit.Usage, "name a run and one decision").WithHint("git runr resume RUN --commit",
			"git runr resume RUN --skip", "git runr resume RUN --stop")
	}
	if err := s.setFlags(conf, "loop", "max-cost", "max-tokens", "wait-for-quota"); err != nil {
		return err
	}
	if len(choices) == 1 {
		run, left, err := runner.AnswerRun(s.ctx, store, run, choices[0])
		if err != nil {
			return err
		}
		for _, line := range left.Lines(restoreLine(run.ID, left.Snapshot)) {
			s.say("%s", line)
		}
		s.project(s.ctx, store)
		return s.showEnd(store, run) // what the user decided is done, however the run stopped
	}
	if s.Bool("safe") {
		if run, err = s.takeUp(conf, store, run); err != nil {
			return err
		}
		if why := needsPerson(store, run); why != nil {
			return why
		}
	}
	return s.resume(store, conf, run, s.StringSlice("after"))
}

// resume continues run, after the checks that the user named have passed.
func (s *session) resume(store *store.Store, conf *config.Config, run record.Run, after []string) error {
	if run.Stop != nil && run.Stop.ForGood {
		return exit.Problemf(exit.State, "run %s was imported without an implementer and cannot be resumed", run.ID).
			WithHint("git runr import --again FILE   imports it once more, with the implementer that is configured now")
	}
	if err := s.readyToRun(conf, run.Plan); err != nil {
		return err
	}
	if err := conf.TrustedPlan(s.ctx, run); err != nil {
		return err
	}
	if err := workHere(s.ctx, store, run); err != nil {
		return err
	}
	if reason := stopReason(run); run.Stop != nil && !reason.Resumable && len(run.News()) == 0 {
		return &record.StateError{What: "run " + run.ID, Status: "stopped for good: " + reason.Title, Cannot: "resumed"}
	}
	review, waits, err := runner.Waits(s.ctx, store, run)
	if err != nil {
		return err
	}
	if waits {
		return exit.Problemf(exit.Stopped, "run %s waits for a person's verdict on review %s", run.ID, review.ID).
			WithHint(stopReason(run).Steps(run.ID)...)
	}
	if s.Bool("detached") {
		actor, err := s.actor(store)
		if err != nil {
			return err
		}
		return background.Command(store.Repo, actor, filepath.Join("web", "resume-"+run.ID+".log"), "resume", run.ID)
	}
	if len(after) > 0 {
		if run, err = s.prove(s.ctx, conf, store, run, after); err != nil {
			return err
		}
	}
	if run, err = s.takeUp(conf, store, run); err != nil {
		return err
	}
	if missing := run.NotProved(); len(missing) > 0 {
		s.say("not run since the review asked for it: %s\nto run it first:\n  git runr resume %s --after %s",
			missing[0].Command, run.ID, missing[0].Name)
	}
	letGo, err := s.holdReview(store, run.Plan.FromReview)
	if err != nil {
		return err
	}
	defer letGo()
	return resumeProblem(run.ID, s.carryOut(conf, store, func(runner *runner.Runner) (record.Run, error) {
		runner.Keep = s.Bool("keep")
		runner.Limits = func(run record.Run) runplan.RunLimits { return run.Plan.LimitsFrom(conf.RunLimits()) }
		return runner.Resume(s.ctx, run)
	}))
}

// resumeProblem adds to err what to type if files of the checkout may belong to the attempt or to the user, or if the
// run's branch is checked out.
func resumeProblem(run string, err error) error {
	left, elsewhere := new(runner.LeftError), new(gitstore.CheckedOutError)
	if errors.As(err, &elsewhere) {
		refused := exit.Problemf(exit.Conflict, "%w", err)
		if line, ok := safetext.CommandLine("git", "-C", elsewhere.Dir, "switch", "--detach"); ok {
			refused = refused.WithHint(line+"   leaves the branch where it is", "git runr resume "+run+"   after that")
		}
		return refused
	}
	if !errors.As(err, &left) {
		return err
	}
	return exit.Problemf(exit.Conflict, "%w", err).WithHint(
		"git runr resume "+left.Run+" --keep   if they are yours: keep them and repeat the attempt",
		"git runr intervene "+left.Run+
			" --reason manual_fix --note \"...\"   if they are the run's work: check and review them",
		"git runr undo --to "+left.Before.Short()+" -- PATH...   to put paths back to what they were before the attempt")
}

// takeUp records the changes and check outputs that the user left for the run since it stopped.
func (s *session) takeUp(conf *config.Config, store *store.Store, run record.Run) (record.Run, error) {
	if run.Stop == nil || s.Bool("keep") {
		return run, nil
	}
	run, iv, err := s.intervened(s.ctx, conf, store, func(runner *runner.Runner) (record.Run, record.Intervention, error) {
		return runner.TakeUp(s.ctx, run)
	})
	if err != nil {
		return run, err
	}
	if iv.Commit != "" {
		s.say("your work in the run's working tree: %s", strings.Join(iv.Theirs(), ", "))
		if len(iv.LeftByAttempt) > 0 {
			s.say("committed with it, as the attempt left it: %s", strings.Join(iv.LeftByAttempt, ", "))
		}
	}
	for _, e := range iv.Evidence {
		s.say("%s: %s", e.File, e.State())
	}
	return run, nil
}

// stopReason returns why run stopped, or the zero Reason when it did not.
func stopReason(run record.Run) record.Reason {
	if run.Stop == nil {
		return record.Reason{}
	}
	return run.Stop.Explained()
}

// prove runs the named checks in the run's working tree and keeps them as evidence.
func (c *console) prove(ctx context.Context, conf *config.Config, store *store.Store, run record.Run,
	names []string) (record.Run, error) {
	for _, name := range names {
		if !slices.ContainsFunc(run.Plan.Checks, func(check runplan.Check) bool { return check.Name == name }) {
			names := each.Of(run.Plan.Checks, func(c runplan.Check) string { return c.Name })
			hint := "its checks: " + strings.Join(names, ", ")
			if len(names) == 0 {
				hint = "it has none: git runr help config explains how to add checks"
			}
			return run, exit.Problemf(exit.NotFound, "the run has no check called %q", name).WithHint(hint)
		}
	}
	run, iv, err := c.intervened(ctx, conf, store, func(runner *runner.Runner) (record.Run, record.Intervention, error) {
		return runner.Prove(ctx, run, names)
	})
	if err != nil {
		return run, err
	}
	for _, check := range iv.Commands {
		c.say("check %s: %s", check.Name, check.State())
		if !check.OK() {
			c.say("%s", check.Output)
			return run, exit.Problemf(exit.Stopped, "not resumed: check %s failed", check.Name).
				WithHint("git runr diagnose " + run.ID)
		}
	}
	return run, nil
}

// sameStopsAllowed is how often a run may stop for the same reason without progress before resume --safe leaves it to
// a person.
const sameStopsAllowed = 2

// needsPerson returns why run needs a person before it can continue, or nil if resume --safe may continue it.
func needsPerson(store *store.Store, run record.Run) error {
	switch {
	case run.Status == record.RunRunning && workspace.Live(store, run.ID):
		return exit.Problemf(exit.Busy, "run %s is running now", run.ID).WithHint("git runr log --follow " + run.ID)
	case run.Status == record.RunRunning:
		return nil
	case run.Status == record.RunCompleted && run.Landed == nil && !run.Plan.InPlace:
		return exit.Problemf(exit.Stopped, "run %s is completed; you can land it", run.ID).WithHint("git runr land " + run.ID)
	case run.Stop == nil:
		return exit.Problemf(exit.State, "run %s is %s: there is nothing to continue", run.ID, run.Status)
	}
	reason := stopReason(run)
	hints := reason.Steps(run.ID)
	switch {
	case !reason.Resumable:
		return exit.Problemf(exit.Stopped, "run %s stopped for good: %s", run.ID, reason.Title).WithHint(hints...)
	case len(run.News()) > 0, reason.Code == record.ReasonUntrusted, run.Stop.Review != "":
		return nil // resume checks these itself
	case reason.Retry() && run.StoppedAlike() < sameStopsAllowed:
		return nil
	case reason.Retry():
		return exit.Problemf(exit.Stopped, "run %s stopped %d times for the same reason, without progress: %s", run.ID,
			run.StoppedAlike(), reason.Title).WithHint(hints...)
	}
	return exit.Problemf(exit.Stopped, "run %s needs you: %s", run.ID,
		strings.ToLower(reason.Explanation[:1])+reason.Explanation[1:]).WithHint(hints...)
}

func (p *program) interveneCommand() *cli.Command {
	return &cli.Command{
		Name: "intervene", Usage: "record what you did for a run, which is stopped first", ArgsUsage: "RUN [PLACE]",
		Description: "With PLACE, FILE:LINE or FILE:LINE-END or a file of the run's work, the note is a comment there:\n" +
			"the next attempt is asked to act on it, and reads those lines with it.\n" +
			"What you changed in the run's working tree becomes a commit on its branch, the commands are run\n" +
			"there and kept as evidence, and the next prompts say what you noted. So is the output of checks that\n" +
			"you left as git runr diagnose suggests (COMMAND 2>&1 | tee FILE). Then: git runr resume RUN.\n" +
			"Reasons: " + strings.Join(record.InterventionReasons(), ", ") +
			".\nExit status: 0 recorded, 1 recorded but a command failed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "why you stepped in: a `REASON` from the list above"},
			&cli.StringFlag{Name: "note", Usage: "what you did, `TEXT` in your words; taken literally"},
			&cli.StringSliceFlag{Name: "cmd", Usage: "`COMMAND` to run as evidence; may be given again"},
			&cli.StringFlag{Name: "commit", Usage: "`MESSAGE` for the commit of your changes in the run's working tree"},
			&cli.StringFlag{Name: "lines", Hidden: true, Usage: "PLACE as `JSON`, from a page that has found its lines"},
			&cli.StringFlag{Name: "since",
				Usage: "commits of this checkout after `REV` are yours (default: where the run began)"},
		},
		Action: p.onRun(func(s *session) bool { return s.IsSet("cmd") }, intervene),
	}
}

type interventionJSON struct {
	Run          string              `json:"run_id"`
	Intervention record.Intervention `json:"intervention"`
	Next         []string            `json:"next"`
}

func intervene(s *session, store *store.Store, conf *config.Config, run record.Run) error {
	spec, err := s.interventionSpec(store, run)
	if err == nil {
		err = workHere(s.ctx, store, run)
	}
	if err != nil {
		return err
	}
	run, iv, err := s.intervened(s.ctx, conf, store, func(runner *runner.Runner) (record.Run, record.Intervention, error) {
		return runner.Intervene(s.ctx, run, spec)
	})
	if err != nil {
		return err
	}
	if s.IsSet("commit") && iv.Commit == "" {
		s.say("there was nothing to commit in the run's working tree")
	}
	doc := interventionJSON{Run: run.ID, Intervention: iv, Next: []string{"git runr resume " + run.ID}}
	failed := slices.ContainsFunc(iv.Commands, func(check record.CheckResult) bool { return !check.OK() })
	return s.printEnding(doc, failed, exit.NotPassed, func(w io.Writer) { render.Intervention(w, run, iv) })
}

// intervened lets a runner record what a person did, and updates the notes.
func (c *console) intervened(ctx context.Context, conf *config.Config, store *store.Store,
	do func(*runner.Runner) (record.Run, record.Intervention, error)) (record.Run, record.Intervention, error) {
	progress := c.progress()
	defer progress.Close()
	run, iv, err := do(c.runner(conf, store, progress))
	if err == nil && iv.Number > 0 {
		c.project(ctx, store)
	}
	return run, iv, err
}

// interventionSpec returns the intervention that the flags describe.
func (s *session) interventionSpec(store *store.Store, run record.Run) (runner.InterventionSpec, error) {
	spec := runner.InterventionSpec{Reason: s.String("reason"), Note: s.String("note"), Commands: s.StringSlice("cmd"),
		Message: s.String("commit")}
	lines, err := s.commented(store, run)
	if err != nil {
		return spec, err
	}
	spec.Lines = lines
	known := record.InterventionReasons()
	hint := "git runr intervene " + run.ID + " --reason " + known[0] + ` --note "what you did"`
	switch {
	case spec.Reason == "" && lines == nil:
		return spec, exit.Problemf(exit.Usage, "missing --reason: %s", strings.Join(known, ", ")).WithHint(hint)
	case spec.Reason != "" && !slices.Contains(known, spec.Reason):
		return spec, exit.Problemf(exit.Usage, "unknown reason %q: use %s", spec.Reason, strings.Join(known, ", ")).
			WithHint(hint)
	case strings.TrimSpace(spec.Note) == "":
		return spec, exit.Problemf(exit.Usage, "missing --note: what you did, for the next prompt and for people").
			WithHint(hint)
	case s.IsSet("commit") && strings.TrimSpace(spec.Message) == "":
		return spec, exit.Problemf(exit.Usage, "--commit needs a message")
	case slices.ContainsFunc(spec.Commands, func(c string) bool { return strings.TrimSpace(c) == "" }):
		return spec, exit.Problemf(exit.Usage, "--cmd needs a command")
	}
	if rev := s.String("since"); rev != "" {
		spec.Since, err = store.Repo.Resolve(s.ctx, rev)
	}
	return spec, err
}

// commented returns the lines of the run's work that the note is about, or nil.
func (s *session) commented(store *store.Store, run record.Run) (*record.Comment, error) {
	var lines record.Comment
	if text := s.String("lines"); text != "" {
		if err := json.Unmarshal([]byte(text), &lines); err != nil {
			return nil, exit.Problemf(exit.Usage, "--lines: %w", err)
		}
		return &lines, nil
	}
	place := s.Args().Get(1)
	if place == "" {
		return nil, nil
	}
	work := record.Subject{Base: run.Plan.Base, Tree: run.Head()}
	lines, err := locate.AnchorTyped(s.ctx, store, work, lines, place)
	return &lines, err
}

func (p *program) abortCommand() *cli.Command {
	return &cli.Command{
		Name: "abort", Usage: "give up a run, also one at work, and remove its worktree; its branch stays", ArgsUsage: "RUN",
		Action: p.onRun(func(*session) bool { return false }, func(s *session, store *store.Store, _ *config.Config,
			run record.Run) error {
			run, left, err := runner.Abort(s.ctx, store, run)
			if err != nil {
				return err
			}
			doc := struct {
				record.RunSummary
				Left string `json:"restore,omitempty"`
				Gone string `json:"not_kept,omitempty"`
				Stay string `json:"worktree_stays,omitempty"`
			}{run.Summary(), restoreLine(run.ID, left.Snapshot), left.Gone, cmp.Or(left.Stays, left.Unknown)}
			branch, err := store.Repo.Ref(s.ctx, run.Plan.BranchRef())
			if err != nil {
				return err
			}
			if branch == run.Plan.Base { // no attempt has a commit
				branch = ""
			}
			return s.print(doc, func(w io.Writer) {
				safetext.Fprintf(w, "Aborted %s.", run.ID)
				screen.When(w, branch != "", " Its work stays on %s.", run.Plan.Branch)
				screen.When(w, run.Plan.InPlace, " What changed in this checkout meanwhile stays as it is.")
				safetext.Fprintf(w, "\n")
				for _, line := range left.Lines(doc.Left) {
					what, rest, _ := strings.Cut(line, ": ")
					safetext.Fprintf(w, "%s:\n  %s\n", strings.ToUpper(what[:1])+what[1:], rest)
				}
			})
		}),
	}
}
