package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "let an implementer work on a task until its review passes", ArgsUsage: "[TASK.md]",
		Description: "Carries out a task, an executor's finished work (--context, from its review on), or the findings of a\n" +
			"submitted review (--review), in a worktree of its own. Nothing lands by itself: see git runr land. Of an\n" +
			"executor's work the files in files_modified are taken, others are left. With --in-place only what the agent\n" +
			"lists or was seen to edit is its own; other files that change meanwhile are left alone and stop the run.\n" +
			"Exit status: 0 passed, 3 files changed meanwhile, 4 stopped and needs a person, 30 an agent failed.\n\n" +
			"A task file may limit itself, in its front matter or under the headings Scope and Verification:\n" +
			"allowlist_add (or allow, owns) and denylist with paths or globs, which [scope] must allow as well, and tier.\n" +
			"The commands in its done criteria are compared with the configured checks, and never run.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "m", Usage: "the task as `TEXT`, instead of a file; - reads standard input"},
			&cli.StringFlag{Name: "context", Usage: "review_context in JSON from `FILE`, or - for standard input"},
			&cli.StringFlag{Name: "review", Usage: "fix what the submitted review `ID` found"},
			&cli.StringSliceFlag{Name: "finding", Usage: "of that review nothing but `FINDING`; may be given again"},
			&cli.BoolFlag{Name: "detached", Hidden: true, Usage: "refuse as ever, else begin in the background and print the run: what is printed goes to a log"},
			&cli.StringFlag{Name: "implementer", Usage: "`NAME` of an agent"},
			&cli.StringFlag{Name: "reviewer", Usage: "`NAME` of an agent, builtin or human"},
			&cli.IntFlag{Name: "max-retries", Usage: "fixes after a failed review", DefaultText: "loop.max_retries"},
			noChecksFlag(),
			&cli.BoolFlag{Name: "in-place", Usage: "work in this checkout instead of a worktree"},
			&cli.StringFlag{Name: "on-exhausted", Usage: "ask, commit, skip or stop when the retries are used up"},
			&cli.StringFlag{Name: "profile", Usage: "quality, balanced or budget"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the implementer's model; --reviewer NAME@MODEL names a reviewer's"},
		}, limitFlags()...),
		Action: p.action(run),
	}
}

func run(s *session) error {
	store, conf, err := s.configured()
	if err == nil {
		err = store.Repo.Altered(s.ctx) // before anything is recorded
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"implementer", "reviewer", "max-retries", "on-exhausted", "profile"} {
		if !s.IsSet(name) {
			continue
		}
		if err := conf.SetFlag("loop", name, fmt.Sprint(s.Value(name))); err != nil {
			return err
		}
	}
	if err := s.setLimits(conf); err != nil {
		return err
	}
	if err := config.CheckModel("--model", s.String("model")); err != nil {
		return err
	}
	plan, err := s.plan(store, conf)
	if err != nil {
		return err
	}
	if plan.Implementer != "" {
		if plan.Implementer, err = config.WithModel(plan.Implementer, s.String("model")); err != nil {
			return err
		}
	}
	if err := s.readyToRun(conf, plan); err != nil {
		return err
	}
	begin := plan.Base
	if plan.FromReview == "" { // perhaps with what is in the working tree, which is the user's
		if begin, err = store.Repo.Head(s.ctx); err != nil {
			return err
		}
	}
	if _, not := conf.MayRun(s.ctx, plan.Checks, nil, begin); len(not) > 0 {
		return exit.Problemf(exit.Untrusted, "checks not run: %s", not[0]).WithHint("or leave them out: git runr run --no-checks")
	}
	if s.Bool("detached") {
		return s.runDetached(store, plan)
	}
	letGo, err := s.holdReview(store, plan.FromReview)
	if err != nil {
		return err
	}
	defer letGo()
	return s.carryOut(conf, store, func(runner *loop.Runner) (record.Run, error) { return runner.Start(s.ctx, plan, "cli") })
}

// notRun says which checks do not run, and why.
func (c *console) notRun(why []string) {
	for _, line := range why {
		c.say("checks not run: %s", line)
	}
}

// readyToRun refuses, before anything is recorded, what could not begin.
func (c *console) readyToRun(conf *config.Config, plan runplan.Plan) error {
	warning, err := conf.ReadyToRun(plan)
	if warning != "" {
		c.say("%s", warning)
	}
	return err
}

// runner carries runs out with this session's configuration.
func (c *console) runner(conf *config.Config, store *store.Store, progress *progress.Display) *loop.Runner {
	return &loop.Runner{
		Store: store, Implementer: conf.Implementer, Reviewer: conf.Reviewer, Checker: conf.Checker(),
		Progress: progress, Explain: diagnose.Explain, Terms: conf.Terms(),
	}
}

// carryOut runs the loop and shows how it ended.
func (s *session) carryOut(conf *config.Config, store *store.Store, begin func(*loop.Runner) (record.Run, error)) error {
	progress := s.progress()
	defer progress.Close()
	runner := s.runner(conf, store, progress)
	if tty := s.terminal(); tty != nil {
		defer tty.Close()
		runner.Ask = func(_ context.Context, run record.Run, why loop.Step) (runplan.Choice, error) {
			progress.Done("")
			return s.ask(tty, run, why)
		}
	}
	done, err := begin(runner)
	progress.Close()
	if done.ID != "" {
		s.project(s.ctx, store)
		s.answerFindings(store, done)
	}
	if err != nil {
		return err
	}
	return s.showEnd(store, done)
}

// project brings the notes up to date. They can always be made again, so trouble
// with them is told and no more.
func (c *console) project(ctx context.Context, store *store.Store) {
	if err := store.Project(context.WithoutCancel(ctx)); err != nil {
		c.say("the notes are behind (%v); type: git runr fsck --rebuild", err)
	}
}

// ask puts the exhausted run's question to the person at the terminal.
func (c *console) ask(tty io.Writer, run record.Run, why loop.Step) (runplan.Choice, error) {
	findings, _ := run.Open()
	name := run.Plan.Entity.Name()
	if why.Reason == record.ReasonChecksFailed {
		safetext.Fprintf(tty, "\nChecks fail after %d attempts for %s; the reviewer has nothing else against it.\n", len(run.Attempts), name)
		for _, check := range run.Failing() {
			safetext.Fprintf(tty, "\n  %s: %s\n", check.Name, check.Why())
		}
	} else {
		safetext.Fprintf(tty, "\nThe reviewer found issues after %d attempts for %s.\n", len(run.Attempts), name)
		render.Findings(tty, findings, "")
		for _, said := range run.Said() {
			render.Words(tty, said.Text)
		}
	}
	fmt.Fprint(tty, "\n  c  commit anyway: accept the current state with its known issues\n  s  skip: leave it undone and go on\n  x  stop: a person will look\n")
	for {
		answer, err := c.question(tty, "How to proceed? [c/s/x] ")
		switch answer {
		case "c", "commit":
			return runplan.ChoiceCommit, nil
		case "s", "skip":
			return runplan.ChoiceSkip, nil
		case "x", "stop":
			return runplan.ChoiceStop, nil
		}
		if err != nil {
			return runplan.ChoiceStop, nil
		}
	}
}

// endJSON is how a run ended, with the result object that orchestrators read.
type endJSON struct {
	record.RunSummary
	Outcome  loop.Result          `json:"outcome"`
	Stop     *record.Stop         `json:"stop,omitempty"`
	Criteria []diagnose.Criterion `json:"criteria,omitempty"`
}

func (s *session) showEnd(store *store.Store, run record.Run) error {
	doc := endJSON{
		RunSummary: run.Summary(), Outcome: loop.ResultOf(run, loop.ExecutorText(s.ctx, store, run)),
		Stop: run.Stop, Criteria: diagnose.Criteria(run),
	}
	err := s.print(doc, func(w io.Writer) {
		render.Run(w, run, false, treeDir(store, run.ID))
		switch {
		case run.Stop != nil:
			writeStop(w, s, store, run)
			if id := run.Stop.Review; id != "" {
				safetext.Fprintf(w, "Or review it in a browser: %s\n", cmp.Or(s.reviewURL(store, id), "git runr serve --open"))
			}
		case run.Status == record.RunCompleted:
			render.Criteria(w, doc.Criteria)
			render.Completed(w, run)
		}
	})
	if err != nil {
		return err
	}
	if run.Stop != nil {
		return stopStatus(run.Stop.Reason)
	}
	return nil
}

// stopStatus is the exit status of a stop, without a word more.
func stopStatus(reason string) error { return exit.With(exit.Status(record.ReasonOf(reason).Status)) }

// plan reads the command line: what the run works on, and by which rules.
func (s *session) plan(store *store.Store, conf *config.Config) (runplan.Plan, error) {
	plan, _, err := conf.Plan()
	if err != nil {
		return plan, err
	}
	if plan.Base, err = store.Repo.Head(s.ctx); err != nil {
		return plan, err
	}
	if plan.NoChecks = s.Bool("no-checks"); !plan.NoChecks {
		var not []string
		plan.Checks, not = conf.RunChecks(s.ctx, store, plan.Base)
		s.notRun(not)
	}
	if plan.Target, err = store.Branch(s.ctx); err != nil {
		return plan, err
	}
	given := 0
	for _, set := range []bool{s.NArg() > 0, s.IsSet("m"), s.String("context") != "", s.String("review") != ""} {
		if set {
			given++
		}
	}
	switch {
	case s.IsSet("finding") && s.String("review") == "", s.Bool("detached") && s.String("review") == "":
		return plan, exit.Problemf(exit.Usage, "--finding goes with --review ID")
	case given != 1 || s.NArg() > 1:
		return plan, exit.Problemf(exit.Usage, "say once what to run: TASK.md, -m TEXT, --context FILE or --review ID")
	case s.Bool("in-place") && s.String("review") != "":
		return plan, exit.Problemf(exit.Usage, "--in-place goes with a task file or --context")
	case s.String("context") != "":
		return plan, s.planContext(store, &plan, s.String("context"))
	case s.String("review") != "":
		return plan, planReview(s.ctx, store, &plan, s.String("review"), s.StringSlice("finding"))
	}
	if err := s.planTask(&plan, s.Args().First()); err != nil || !s.Bool("in-place") {
		return plan, err
	}
	return plan, loop.PlanInPlace(s.ctx, store, &plan)
}

// planTask takes a task from the file called name, or from -m.
func (s *session) planTask(plan *runplan.Plan, name string) error {
	var text string
	var err error
	if s.IsSet("m") {
		name = "task"
		text, err = s.message(false)
	} else {
		var file []byte
		file, err = s.readInput(name)
		text = string(file)
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return exit.Problemf(exit.Usage, "task %q is empty", name)
	}
	for _, problem := range loop.PlanTask(plan, name, text) {
		s.say("%s", problem)
	}
	return nil
}

func (s *session) planContext(store *store.Store, plan *runplan.Plan, name string) error {
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	work, err := loop.ReadFinishedWork(text)
	if s.IsSet("max-retries") {
		work.Config.MaxRetries = nil
	}
	switch retries := work.Config.MaxRetries; {
	case err != nil:
		return exit.Problemf(exit.Usage, "review context %q: %v", name, err)
	case work.Disabled():
		return exit.Problemf(exit.Nothing, "review context %q: config.enabled is false", name)
	case retries != nil && *retries < 0:
		return exit.Problemf(exit.Usage, "review context %q: config.max_retries is negative", name)
	}
	plan.InPlace = s.Bool("in-place")
	left, unchanged, err := work.Plan(s.ctx, store, plan)
	if len(left) > 0 {
		s.say("left alone, not among the executor's files: %s", strings.Join(left, ", "))
	}
	if len(unchanged) > 0 {
		s.say("listed, and no file that changed: %s", strings.Join(unchanged, ", "))
	}
	return err
}

// planReview takes the findings of a submitted review, or some of them, as what is to be done.
func planReview(ctx context.Context, store *store.Store, plan *runplan.Plan, id string, only []string) error {
	review, err := store.Review(ctx, id)
	if err != nil {
		return err
	}
	if review.Status == record.ReviewOpen || review.Status == record.ReviewCancelled {
		return &record.StateError{What: "review " + review.ID, Status: string(review.Status), Cannot: "fixed"}
	}
	return loop.PlanReview(plan, review, only...)
}

// readInput reads a file that the user named, from where the command was started,
// or standard input for "-".
func (s *session) readInput(name string) ([]byte, error) {
	const limit = 4 << 20
	if name == "-" {
		return io.ReadAll(io.LimitReader(s.in, limit))
	}
	name = s.fromStart(name)
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, exit.Problemf(exit.NotFound, "there is no file %q", name)
	case err != nil:
		return nil, exit.Problemf(exit.Usage, "%w", err)
	case info.IsDir() || info.Size() > limit:
		return nil, exit.Problemf(exit.Usage, "%q is not a text file of at most 4 MiB", name)
	}
	return os.ReadFile(name)
}

// fromStart is a path as it is meant where the command was started.
func (s *session) fromStart(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, path)
}

// chosenRun is the run that the only argument names; the newest without one.
func (s *session) chosenRun() (*store.Store, *config.Config, record.Run, error) {
	id, err := s.arg(record.Latest)
	if err != nil {
		return nil, nil, record.Run{}, err
	}
	store, conf, err := s.configured()
	if err != nil {
		return nil, nil, record.Run{}, err
	}
	run, err := store.Run(s.ctx, id)
	return store, conf, run, err
}
