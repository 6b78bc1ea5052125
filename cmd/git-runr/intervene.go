package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) interveneCommand() *cli.Command {
	return &cli.Command{
		Name: "intervene", Usage: "record what you did for a run that stopped", ArgsUsage: "RUN",
		Description: "What you changed in the run's working tree becomes a commit on its branch, the commands are run\n" +
			"there and kept as evidence, and the next prompts say what you noted. So is the output of checks that\n" +
			"you left as git runr diagnose suggests (COMMAND 2>&1 | tee FILE). Then: git runr resume RUN.\n" +
			"Reasons: " + strings.Join(record.InterventionReasons(), ", ") + ".\nExit status: 0 recorded, 1 recorded but a command failed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "why you stepped in: a `REASON` of the list above"},
			&cli.StringFlag{Name: "note", Usage: "what you did, in your words; nothing in it is expanded"},
			&cli.StringSliceFlag{Name: "cmd", Usage: "`COMMAND` to run as evidence; may be given again"},
			&cli.StringFlag{Name: "commit", Usage: "`MESSAGE` of the commit of what you changed in the run's working tree"},
			&cli.StringFlag{Name: "since", Usage: "`REV` after which the commits of this checkout are yours; else where the run began"},
		},
		Action: p.action(intervene),
	}
}

// interventionJSON is what `intervene --json` prints.
type interventionJSON struct {
	Run          string              `json:"run_id"`
	Intervention record.Intervention `json:"intervention"`
	Next         []string            `json:"next"`
}

func intervene(s *session) error {
	store, conf, run, err := s.runArgument("git runr intervene RUN --reason REASON --note TEXT")
	if err != nil {
		return err
	}
	spec, err := s.interventionSpec(store, run)
	if err == nil {
		err = workHere(s.ctx, store, run)
	}
	if err != nil {
		return err
	}
	run, iv, err := s.intervened(s.ctx, conf, store, func(runner *loop.Runner) (record.Run, record.Intervention, error) {
		return runner.Intervene(s.ctx, run, spec)
	})
	if err != nil {
		return err
	}
	if s.IsSet("commit") && iv.Commit == "" {
		s.say("there was nothing to commit in the run's working tree")
	}
	return s.showIntervention(run, iv)
}

// intervened has a runner record what a person did, and brings the notes up to date.
func (c *console) intervened(ctx context.Context, conf *config.Config, store *store.Store, do func(*loop.Runner) (record.Run, record.Intervention, error)) (record.Run, record.Intervention, error) {
	progress := c.progress()
	defer progress.Close()
	run, iv, err := do(c.runner(conf, store, progress))
	if err == nil && iv.Number > 0 {
		c.project(ctx, store)
	}
	return run, iv, err
}

// interventionSpec reads the flags.
func (s *session) interventionSpec(store *store.Store, run record.Run) (loop.InterventionSpec, error) {
	spec := loop.InterventionSpec{Reason: s.String("reason"), Note: s.String("note"), Commands: s.StringSlice("cmd"), Message: s.String("commit")}
	known := record.InterventionReasons()
	hint := "git runr intervene " + run.ID + " --reason " + known[0] + ` --note "what you did"`
	switch {
	case spec.Reason == "":
		return spec, exit.Problemf(exit.Usage, "a reason is wanted: %s", strings.Join(known, ", ")).WithHint(hint)
	case !slices.Contains(known, spec.Reason):
		return spec, exit.Problemf(exit.Usage, "%q is no reason of an intervention: %s", spec.Reason, strings.Join(known, ", ")).WithHint(hint)
	case strings.TrimSpace(spec.Note) == "":
		return spec, exit.Problemf(exit.Usage, "a note is wanted: what you did, for the next prompt and for people").WithHint(hint)
	case s.IsSet("commit") && strings.TrimSpace(spec.Message) == "":
		return spec, exit.Problemf(exit.Usage, "--commit wants a message")
	case slices.ContainsFunc(spec.Commands, func(c string) bool { return strings.TrimSpace(c) == "" }):
		return spec, exit.Problemf(exit.Usage, "--cmd wants a command")
	}
	var err error
	if rev := s.String("since"); rev != "" {
		spec.Since, err = store.Repo.Resolve(s.ctx, rev)
	}
	return spec, err
}

// runArgument is the run that a command wants named; usage is how it is typed.
func (s *session) runArgument(usage string) (*store.Store, *config.Config, record.Run, error) {
	if s.NArg() != 1 {
		return nil, nil, record.Run{}, exit.Problemf(exit.Usage, "a run is wanted").WithHint(usage)
	}
	return s.chosenRun()
}

func (c *console) showIntervention(run record.Run, iv record.Intervention) error {
	doc := interventionJSON{Run: run.ID, Intervention: iv, Next: []string{"git runr resume " + run.ID}}
	err := c.print(doc, func(w io.Writer) { render.Intervention(w, run, iv) })
	failed := slices.ContainsFunc(iv.Commands, func(check record.CheckResult) bool { return !check.OK() })
	if err == nil && failed {
		return exit.With(exit.NotPassed)
	}
	return err
}
