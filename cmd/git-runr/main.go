// Command git-runr keeps the review loop of people and coding agents inside a git
// repository. Type it as "git runr"; see git runr help.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"git-runr/cmd/git-runr/internal/argv"
	"git-runr/cmd/git-runr/internal/stdio"

	"github.com/urfave/cli/v2"
)

func main() { os.Exit(start()) }

// start runs the program with what the process was given.
func start() int {
	collect(shortGC)
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: clock(os.Getenv)}
	if args := hookLine(os.Args); args != nil {
		return p.runHook(context.Background(), args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return p.run(ctx, os.Args)
}

// clock is the time of day, or the instant that GIT_RUNR_CLOCK pins it to, by
// which tests and the demo give the same ids each time.
func clock(getenv func(string) string) func() time.Time {
	if at, err := time.Parse(time.RFC3339, getenv("GIT_RUNR_CLOCK")); err == nil {
		return func() time.Time { return at }
	}
	return time.Now
}

// run carries out one command line and returns its exit status.
func (p *program) run(ctx context.Context, typed []string) int {
	out := &stdio.Output{Writer: p.out}
	p = &program{in: p.in, out: out, err: p.err, getenv: p.getenv, now: p.now}
	app := p.app()
	args, err := argv.Permute(app, typed)
	asJSON := slices.Contains(argv.Flags(args, typed), "--json")
	if err == nil {
		err = p.runSorted(ctx, app, args)
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return out.Finish(err, talk{p}, asJSON)
}

// app is the command line as urfave/cli knows it.
func (p *program) app() *cli.App {
	return &cli.App{
		Name: "git-runr", HelpName: "git runr", Usage: "the review loop of people and coding agents, kept in git",
		UsageText: "git runr [-C DIR] [--json] COMMAND [ARGUMENT…]",
		Writer:    helpWriter{p}, ErrWriter: p.err, Reader: nil,
		HideVersion: true, HideHelpCommand: true,
		Flags:           globalFlags(),
		Commands:        p.commands(),
		Action:          p.action(showOverview),
		ExitErrHandler:  func(*cli.Context, error) {}, // report turns errors into statuses
		OnUsageError:    usageError,
		CommandNotFound: nil,
	}
}

func globalFlags() []cli.Flag {
	return offUnlessGiven([]cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
		&cli.BoolFlag{Name: "json", Usage: "results as one JSON document"},
		&cli.StringFlag{Name: "color", Usage: "colours `WHEN`: auto, always or never; else as NO_COLOR, CLICOLOR_FORCE, color.runr and color.ui say"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours (as NO_COLOR does)"},
		&cli.BoolFlag{Name: "q", Usage: "only results and errors"},
		&cli.BoolFlag{Name: "v", Usage: "say more"},
		&cli.BoolFlag{Name: "version", Usage: "print the version"},
		cli.HelpFlag, // cli leaves it out where a command is called help
	})
}

// commands are all commands in the order of help.
func (p *program) commands() []*cli.Command {
	all := []*cli.Command{
		p.initCommand(), p.reviewCommand(), p.scanCommand(), p.inboxCommand(), p.verifyCommand(), p.workCommand(),
		p.runCommand(), p.continueCommand(), p.resumeCommand(), p.interveneCommand(), p.answerCommand(), p.landCommand(), p.abortCommand(), p.importCommand(),
		p.undoCommand(), p.snapshotsCommand(), p.restoreCommand(),
		p.statusCommand(), p.promptCommand(), p.logCommand(), p.showCommand(), p.diffCommand(), p.diagnoseCommand(), p.reportCommand(), p.auditCommand(), p.metricsCommand(), p.checkCommand(),
		p.syncCommand(), p.serveCommand(), p.tuiCommand(), p.mcpCommand(), p.hooksCommand(), p.trustCommand(), p.guardCommand(), p.fsckCommand(), p.gcCommand(),
		p.parseCommand(), p.agentsCommand(), p.demoCommand(),
		p.configCommand(), p.doctorCommand(), p.uninstallCommand(), p.manCommand(), p.installExtrasCommand(), p.versionCommand(), p.helpCommand(),
		p.demoAgentCommand(), p.completeCommand(),
	}
	for _, c := range all {
		common(c)
	}
	return all
}

// offUnlessGiven keeps help from saying of each switch that it is off.
func offUnlessGiven(flags []cli.Flag) []cli.Flag {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
	return flags
}

// common sets what all commands have in common.
func common(c *cli.Command) {
	c.HideHelpCommand = true // cli would add "help" to each, which then is no argument any more
	c.OnUsageError = usageError
	offUnlessGiven(c.Flags)
	for _, sub := range c.Subcommands {
		common(sub)
	}
}
