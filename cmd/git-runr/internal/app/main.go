// Package app is the command line of git-runr: its commands, and what they print.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/leakrules"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Main runs the command line of the process and returns its exit status. The program has the screens in shows; it
// hands a command line that needs another one over to git-runr-serve. Lines that git's hooks call skip the command
// line parser.
func Main(shows screens.Shows, now func() time.Time) int {
	collect(shortGC)
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: now,
		argv: os.Args, shows: shows}
	p.secrets = builtin.NewSecrets(p.leakRules, p.withoutRules)
	if args := hookLine(os.Args); args != nil {
		return p.runHook(context.Background(), args)
	}
	agent.AdoptOrphans()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return p.run(ctx, os.Args)
}

// Clock returns the function that gives the current time: time.Now, or the fixed instant in GIT_RUNR_CLOCK. Tests and
// the demo set it, so that each run produces the same ids.
func Clock(getenv func(string) string) func() time.Time {
	if at, err := time.Parse(time.RFC3339, getenv("GIT_RUNR_CLOCK")); err == nil {
		return func() time.Time { return at }
	}
	return time.Now
}

// writing returns the program with another standard output.
func (p *program) writing(out io.Writer) *program {
	q := *p
	q.out = out
	return &q
}

// run executes one command line and returns its exit status.
func (p *program) run(ctx context.Context, typed []string) int {
	out := &stdio.Output{Writer: p.out}
	p = p.writing(out)
	typed = renamed(typed)
	app := p.appOf(typed)
	args, err := argv.Permute(app, typed)
	flags := typed
	if err == nil {
		flags, _ = argv.SplitPaths(args)
		err = p.runSorted(ctx, app, args)
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return out.Finish(err, talk{p}, slices.Contains(flags, "--json"))
}

// app returns the definition of the command line for urfave/cli.
func (p *program) app() *cli.Command { return p.appWith(p.commands("")) }

// appOf returns app with the one command that words name, because making all of them is a twentieth of a start. It has
// all if words name none, or help, which is about all.
func (p *program) appOf(words []string) *cli.Command {
	if at := commandAt(words); at < len(words) && words[at] != "help" {
		if named := p.commands(words[at]); len(named) > 0 {
			return p.appWith(named)
		}
	}
	return p.app()
}

func (p *program) appWith(commands []*cli.Command) *cli.Command {
	return &cli.Command{
		Name: "git runr", Usage: "the review loop of people and coding agents, kept in git",
		UsageText: "git runr [-C DIR] [--json] COMMAND [ARGUMENT…]",
		Writer:    helpWriter{p}, ErrWriter: p.err, Reader: nil,
		HideVersion: true, HideHelpCommand: true,
		Flags:           globalFlags(),
		Commands:        commands,
		Action:          p.action(showOverview),
		ExitErrHandler:  leftToFinish,
		OnUsageError:    usageError,
		CommandNotFound: nil,
	}
}

// leftToFinish keeps cli from ending the process: stdio.Output.Finish turns errors into exit statuses.
func leftToFinish(context.Context, *cli.Command, error) {}

func globalFlags() []cli.Flag {
	return offUnlessGiven([]cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
		&cli.BoolFlag{Name: "json", Usage: "print results as one JSON document"},
		&cli.StringFlag{
			Name: "color",
			Usage: "use colours `WHEN`: auto, always or never; without it NO_COLOR, CLICOLOR_FORCE, color.runr and color.ui " +
				"decide",
		},
		&cli.BoolFlag{Name: "no-color", Usage: "use no colours, as with NO_COLOR"},
		&cli.BoolFlag{Name: "q", Usage: "print only results and errors"},
		&cli.BoolFlag{Name: "v", Usage: "print more"},
		&cli.BoolFlag{Name: "version", Usage: "print the version"},
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show help", Local: true},
	})
}

// group is the commands of one part of help, in its order.
type group struct {
	name     string
	commands []command
}

// command is the name of a command, and the function that makes it.
type command struct {
	name string
	make func() *cli.Command
}

// groups returns all commands.
func (p *program) groups() []group {
	return []group{
		{"start", []command{
			{"init", p.initCommand},
			{"status", p.statusCommand},
		}},
		{"review", []command{
			{"review", p.reviewCommand},
			{"inbox", p.inboxCommand},
			{"show", p.showCommand},
			{"tui", p.tuiCommand},
		}},
		{"run", []command{
			{"run", p.runCommand},
			{"resume", p.resumeCommand},
			{"intervene", p.interveneCommand},
			{"land", p.landCommand},
			{"diagnose", p.diagnoseCommand},
			{"diff", p.diffCommand},
		}},
		{"share", []command{
			{"sync", p.syncCommand},
			{"work", p.workCommand},
			{"audit", p.auditCommand},
		}},
		{"repair", []command{
			{"undo", p.undoCommand},
			{"guard", p.guardCommand},
			{"doctor", p.doctorCommand},
		}},
		{manual.More, []command{
			{"abort", p.abortCommand},
			{"check", p.checkCommand},
			{"log", p.logCommand},
			{"metrics", p.metricsCommand},
			{"verify", p.verifyCommand},
			{"serve", p.serveCommand},
			{"mcp", p.mcpCommand},
			{"agents", p.agentsCommand},
			{"config", p.configCommand},
			{"hooks", p.hooksCommand},
			{"trust", p.trustCommand},
			{"gc", p.gcCommand},
			{"fsck", p.fsckCommand},
			{"import", p.importCommand},
			{"parse", p.parseCommand},
			{"prompt", p.promptCommand},
			{"demo", p.demoCommand},
			{"completion", p.completionCommand},
			{"install-extras", p.installExtrasCommand},
			{"uninstall", p.uninstallCommand},
			{"man", p.manCommand},
			{"version", p.versionCommand},
			{"help", p.helpCommand},
			{"demo-agent", p.demoAgentCommand},
			{"complete", p.completeCommand},
			{leakrules.Command, p.secretRulesCommand},
		}},
	}
}

// commands returns the command called only, or all in the order in which help lists them, each with its group.
func (p *program) commands(only string) (made []*cli.Command) {
	for _, group := range p.groups() {
		for _, c := range group.commands {
			if only != "" && only != c.name {
				continue
			}
			command := c.make()
			common(command)
			command.Category = group.name
			made = append(made, command)
		}
	}
	return made
}

// offUnlessGiven stops help from printing "(default: false)" for each boolean flag.
func offUnlessGiven(flags []cli.Flag) []cli.Flag {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.HideDefault = true
		}
	}
	return flags
}

// common sets the options that all commands share, and adds the check of arguments to each visible one.
func common(c *cli.Command) {
	c.HideHelpCommand = true // otherwise cli adds a subcommand "help", and "help" could not be an argument
	c.OnUsageError = usageError
	offUnlessGiven(c.Flags)
	if do := c.Action; !c.Hidden {
		c.Action = func(ctx context.Context, c *cli.Command) error {
			if err := checkArguments(c); err != nil || do == nil {
				return err
			}
			return do(ctx, c)
		}
	}
	for _, sub := range c.Commands {
		common(sub)
	}
}

// checkArguments refuses unknown subcommands, arguments that the command's usage does not list, a limit below 0, and
// empty values of flags: an unset variable of a script must not select everything.
func checkArguments(c *cli.Command) error {
	err := argv.Check(c.ArgsUsage, c.Args().Slice(), c.Bool("all"))
	if empty := slices.IndexFunc(c.Flags, isEmpty); empty >= 0 {
		name := c.Flags[empty].Names()[0]
		err = fmt.Errorf("%s%s is empty", strings.Repeat("-", min(len(name), 2)), name)
	}
	if c.Int("limit") < 0 {
		err = errors.New("--limit must not be negative; 0 means all")
	}
	if len(c.Commands) > 0 && c.Args().Present() {
		err = fmt.Errorf("unknown %s command %q", c.Name, c.Args().First())
	}
	if err == nil {
		return nil
	}
	return exit.Problemf(exit.Usage, "%w", err).WithHint(cmp.Or(withText(c), c.FullName()+" -h"))
}

// isEmpty reports whether a flag is given with an empty value. An empty -m is no message.
func isEmpty(f cli.Flag) bool {
	if !f.IsSet() || f.Names()[0] == "m" {
		return false
	}
	switch value := f.Get().(type) {
	case string:
		return value == ""
	case []string:
		return len(value) == 0 || slices.Contains(value, "")
	}
	return false
}

// withText returns the command line that passes its last argument with -m, or "" if that argument is one word or the
// command has no text.
func withText(c *cli.Command) string {
	words, isText := c.Args().Slice(), func(f cli.Flag) bool { return f.Names()[0] == "m" }
	last := len(words) - 1
	if last < 0 || !strings.Contains(words[last], " ") || c.IsSet("m") || !slices.ContainsFunc(c.Flags, isText) {
		return ""
	}
	words = append(append(strings.Fields(c.FullName()), words[:last]...), "-m", words[last])
	line, ok := safetext.CommandLine(words...)
	if !ok || strings.Contains(line, "   ") { // a hint explains itself after three spaces
		return ""
	}
	return line
}

// alias is a former name of a command, or its name in roborev. The program replaces it, and the old names of its
// flags, in the words that were typed. No help text mentions it.
type alias struct {
	typed, now string
	flags      map[string]string // old name to new flag; an old name may be an argument
}

// aliases returns all old names. Words after an old name stay after its replacement.
func aliases() []alias {
	decisions := map[string]string{"commit": "--commit", "skip": "--skip", "stop": "--stop"}
	return []alias{
		{"answer", "resume --decide", decisions},
		{"continue", "resume --safe", nil},
		{"fix", "run --review", nil},
		{"inbox get", "show --only-review", nil},
		{"list", "inbox list", nil},
		{"report", "show --steps", nil},
		{"restore", "undo --snapshot", map[string]string{"--to": "--into"}},
		{"scan", "review --missing", nil},
		{"snapshots", "undo --list", nil},
	}
}

// commandAt returns the index of the command in words, a command line that begins with the program. It is len(words) or
// more if there is none.
func commandAt(words []string) int {
	at := 1
	for at < len(words) && strings.HasPrefix(words[at], "-") {
		if slices.Contains([]string{"C", "color"}, strings.TrimLeft(words[at], "-")) {
			at++
		}
		at++
	}
	return at
}

// renamed replaces an old command name in words, a command line that begins with the program. After "help" it drops
// the flags of the replacement.
func renamed(words []string) []string {
	at := commandAt(words)
	help := at < len(words) && words[at] == "help"
	if help {
		at++
	}
	for _, a := range aliases() {
		typed, now := strings.Fields(a.typed), strings.Fields(a.now)
		if help {
			now = now[:1]
		}
		if rest, ok := behind(words[min(at, len(words)):], typed); ok {
			return slices.Concat(words[:at], now, a.rename(rest))
		}
	}
	return words
}

// behind returns words without names, which must come first; flags between them are allowed and kept.
func behind(words, names []string) (rest []string, ok bool) {
	for _, word := range words {
		switch {
		case len(names) > 0 && word == names[0]:
			names = names[1:]
		case len(names) > 0 && !strings.HasPrefix(word, "-"):
			return nil, false
		default:
			rest = append(rest, word)
		}
	}
	return rest, len(names) == 0
}

// rename replaces the old names of flags in words.
func (a alias) rename(words []string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(word, "=")
		if now := a.flags[name]; now != "" {
			words[i] = now + strings.TrimPrefix(word, name)
		}
	}
	return words
}
