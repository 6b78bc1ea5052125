package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/progress"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/diagnose"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
	"git-runr/loop/safetext"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "let an implementer work on a task until its review passes", ArgsUsage: "TASK.md",
		Description: "Carries out a task file, an executor's finished work (--context, from its review on), or the\nfindings of a submitted review (--review), in a worktree of its own. Nothing lands by itself:\nsee git runr land. Of an executor's work the files in files_modified are taken, others are left.\nWith --in-place only what the agent lists or was seen to edit is its own; other files that change\nmeanwhile are left alone and stop the run.\nExit status: 0 passed, 3 files changed meanwhile, 4 stopped and needs a person, 30 an agent failed.\n\nA task file may limit itself, in its front matter or under the headings Scope and Verification:\nallowlist_add (or allow, owns) and denylist with paths or globs, which [scope] must allow as well, and tier.\nThe commands in its done criteria are compared with the configured checks, and never run.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "context", Usage: "review_context in JSON from `FILE`, or - for standard input"},
			&cli.StringFlag{Name: "review", Usage: "fix what the submitted review `ID` found"},
			&cli.StringSliceFlag{Name: "finding", Usage: "of that review nothing but `FINDING`; may be given again"},
			&cli.BoolFlag{Name: "detached", Hidden: true, Usage: "refuse as ever, else begin in the background and print the run: what is printed goes to a log"},
			&cli.StringFlag{Name: "implementer", Usage: "`NAME` of an agent"},
			&cli.StringFlag{Name: "reviewer", Usage: "`NAME` of an agent, builtin or human"},
			&cli.IntFlag{Name: "max-retries", Usage: "fixes after a failed review", DefaultText: "loop.max_retries"},
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

// readyToRun refuses, before anything is recorded, what could not begin.
func (c *console) readyToRun(conf *config.Config, plan runplan.Plan) error {
	if plan.Implementer == "" && plan.Context == nil {
		return exit.Problemf(exit.Usage, "no implementer is configured").WithHint(
			"git runr run --implementer NAME …   ("+strings.Join(agent.Presets(), ", ")+", or one of your own)",
			"or set implementer under [loop] in .runr.toml")
	}
	if _, not := conf.Checks(); len(not) > 0 {
		return notTrusted(not[0])
	}
	for _, name := range []string{plan.Implementer, plan.Reviewer} {
		if name == "" {
			continue
		}
		if err := conf.KnownAgent("agent", name); err != nil {
			return err
		}
	}
	return c.agentsReady(conf, plan)
}

// agentsReady refuses a run whose agents cannot be started. Who would fix what is found
// in finished work is perhaps never asked: that it is missing is said.
func (c *console) agentsReady(conf *config.Config, plan runplan.Plan) error {
	for _, step := range plan.Policy.Workflow {
		name, as := cmp.Or(step.Agent, plan.Implementer), agent.Implementer
		if step.Kind == runplan.StepReview {
			name, as = cmp.Or(step.Agent, plan.Reviewer), agent.Reviewer
		}
		if step.Kind == runplan.StepCheck || name == "" {
			continue
		}
		failure := conf.Ready(name, as)
		switch {
		case failure == nil:
		case failure.Reason == record.ReasonUntrusted:
			return notTrusted(failure.Detail)
		case as == agent.Implementer && plan.Context != nil:
			c.say("what the review finds cannot be fixed here: %s", failure.Detail)
		default:
			return notReady(failure)
		}
	}
	return nil
}

// notReady says of an agent that cannot be started what to do about it.
func notReady(failure *record.Failure) error {
	return exit.Problemf(exit.Status(record.ReasonOf(failure.Reason).Status), "%s", failure.Detail).WithHint(
		"install it, or name another agent: git runr help config tells how one is configured")
}

func notTrusted(what string) error {
	return exit.Problemf(exit.Untrusted, "%s", what).WithHint("git runr trust --show", "git runr trust")
}

// runner carries runs out with this session's configuration.
func (c *console) runner(conf *config.Config, store *record.Store, progress *progress.Display) *loop.Runner {
	return &loop.Runner{
		Store: store, Implementer: conf.Implementer, Reviewer: conf.Reviewer, Checker: config.Checker(),
		Progress: progress, Explain: diagnose.Explain, Terms: conf.Terms(),
	}
}

// carryOut runs the loop and shows how it ended.
func (s *session) carryOut(conf *config.Config, store *record.Store, begin func(*loop.Runner) (record.Run, error)) error {
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
func (c *console) project(ctx context.Context, store *record.Store) {
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
	Outcome loop.Result  `json:"outcome"`
	Stop    *record.Stop `json:"stop,omitempty"`
}

func (s *session) showEnd(store *record.Store, run record.Run) error {
	doc := endJSON{RunSummary: run.Summary(), Outcome: loop.ResultOf(run, executorText(s.ctx, store, run)), Stop: run.Stop}
	err := s.print(doc, func(w io.Writer) {
		render.Run(w, run, false, treeDir(store, run.ID))
		switch {
		case run.Stop != nil:
			writeStop(w, s, store, run)
			if id := run.Stop.Review; id != "" {
				safetext.Fprintf(w, "Or review it in a browser: %s\n", cmp.Or(s.reviewURL(store, id, true), "git runr serve --open"))
			}
		case run.Plan.InPlace && run.Status == record.RunCompleted:
			safetext.Fprintf(w, "\n%s. %s\n", resultWords(run), whereWorkIs(run))
		case run.Status == record.RunCompleted && run.Landed == nil:
			safetext.Fprintf(w, "\n%s. Bring it to your branch:\n  git runr land %s\n", resultWords(run), run.ID)
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

// whereWorkIs says where a completed run in place left its work.
func whereWorkIs(run record.Run) string {
	moved := run.HeadMoved()
	switch {
	case moved == nil:
		return "The work is in your checkout: look at it and commit it."
	case moved.From == "":
		return fmt.Sprintf("%s: the work may be committed there. Look at it: git log %s", moved, moved.To.Short())
	}
	return fmt.Sprintf("%s: the work may be committed there. Look at it: git log %s..%s", moved, moved.From.Short(), moved.To.Short())
}

// resultWords are what a completed run came to.
func resultWords(run record.Run) string {
	if run.Result == record.ResultUnreviewed {
		return "unreviewed: nobody has looked at what it came to"
	}
	return run.Result
}

// stopStatus is the exit status of a stop, without a word more.
func stopStatus(reason string) error { return exit.With(exit.Status(record.ReasonOf(reason).Status)) }

// executorText is what the newest implementer said.
func executorText(ctx context.Context, store *record.Store, run record.Run) string {
	events, err := store.RunEvents(ctx, run.ID)
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(events) {
		if e.Type == record.EventAttemptCompleted.Name {
			text, _ := store.Attachment(ctx, e.ID, "executor.md")
			return string(text)
		}
	}
	return ""
}

// plan reads the command line: what the run works on, and by which rules.
func (s *session) plan(store *record.Store, conf *config.Config) (runplan.Plan, error) {
	plan, _, err := conf.Plan()
	if err != nil {
		return plan, err
	}
	if plan.Base, err = store.Repo.Head(s.ctx); err != nil {
		return plan, err
	}
	if plan.Target, err = store.Branch(s.ctx); err != nil {
		return plan, err
	}
	given := 0
	for _, set := range []bool{s.NArg() > 0, s.String("context") != "", s.String("review") != ""} {
		if set {
			given++
		}
	}
	switch {
	case s.IsSet("finding") && s.String("review") == "", s.Bool("detached") && s.String("review") == "":
		return plan, exit.Problemf(exit.Usage, "--finding goes with --review ID")
	case given != 1 || s.NArg() > 1:
		return plan, exit.Problemf(exit.Usage, "what to run is wanted once: TASK.md, --context FILE or --review ID")
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

// planTask reads a task file: its first heading is the title, and a section called done
// criteria or acceptance is what the reviewer checks. What it says of scope, tier and
// checks limits the run, and is compared with the configuration.
func (s *session) planTask(plan *runplan.Plan, name string) error {
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) == "" {
		return exit.Problemf(exit.Usage, "task %q is empty", name)
	}
	task := loop.ReadTask(string(text))
	plan.Task, plan.DoneCriteria = string(text), task.Criteria
	plan.TaskScope, plan.Tier, plan.DoneChecks = task.Scope, task.Tier, task.DoneChecks
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	plan.Entity = runplan.Entity{Type: "task", Identifier: base, Title: task.Title}
	for _, problem := range loop.TaskProblems(*plan) {
		s.say("%s", problem)
	}
	return nil
}

// reviewContext is the document that orchestrators pass.
type reviewContext struct {
	EntityType     string   `json:"entity_type"`
	Identifier     string   `json:"entity_identifier"`
	Title          string   `json:"entity_title"`
	DoneCriteria   string   `json:"done_criteria"`
	ExecutorResult string   `json:"executor_result"`
	Files          []string `json:"files_modified"`
	References     string   `json:"mosic_refs"`
	Profile        string   `json:"model_profile"`
	Config         struct {
		Enabled    *bool  `json:"enabled"`
		MaxRetries *int   `json:"max_retries"`
		Model      string `json:"model"`
	} `json:"config"`
}

func (s *session) planContext(store *record.Store, plan *runplan.Plan, name string) error {
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	var given reviewContext
	if err := json.Unmarshal(text, &given); err != nil {
		return exit.Problemf(exit.Usage, "review context %q: %v", name, err)
	}
	if given.Config.Enabled != nil && !*given.Config.Enabled {
		return exit.Problemf(exit.Nothing, "review context %q: config.enabled is false", name)
	}
	if given.Config.MaxRetries != nil && !s.IsSet("max-retries") {
		if *given.Config.MaxRetries < 0 {
			return exit.Problemf(exit.Usage, "review context %q: config.max_retries is negative", name)
		}
		plan.Policy.MaxRetries = *given.Config.MaxRetries
		retries := slices.IndexFunc(plan.Settings, func(s runplan.Setting) bool { return s.Name == runplan.SettingRetries })
		plan.Settings[retries].Value, plan.Settings[retries].From = strconv.Itoa(plan.Policy.MaxRetries), "the review context"
	}
	plan.Entity = runplan.Entity{Type: cmp.Or(given.EntityType, "task"), Identifier: given.Identifier, Title: given.Title}
	plan.DoneCriteria, plan.References = given.DoneCriteria, given.References
	plan.Task = strings.TrimSpace(given.Title + "\n\n" + given.DoneCriteria)
	plan.InPlace = s.Bool("in-place")
	left, err := loop.PlanContext(s.ctx, store, plan, given.ExecutorResult, given.Files)
	if len(left) > 0 {
		s.say("left alone, not among the executor's files: %s", strings.Join(left, ", "))
	}
	if err != nil {
		return err
	}
	if unchanged := plan.Context.Unchanged(given.Files, store.Repo.WorkTree); len(unchanged) > 0 {
		s.say("listed, and no file that changed: %s", strings.Join(unchanged, ", "))
	}
	return nil
}

// planReview takes the findings of a submitted review, or some of them, as what is to be done.
func planReview(ctx context.Context, store *record.Store, plan *runplan.Plan, id string, only []string) error {
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
func (s *session) chosenRun() (*record.Store, *config.Config, record.Run, error) {
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
