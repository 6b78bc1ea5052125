package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// topics are the help texts that are not about one command: those that are kept, and those
// that are made of the tables that the program goes by.
func topics() []manual.Topic {
	return append(manual.Written(),
		manual.Topic{Name: "config", Usage: "every key of the configuration", Text: config.Help},
		manual.Topic{Name: "exit-status", Usage: "what the program ends with", Text: exit.Help},
		manual.Topic{Name: "stop-reasons", Usage: "why runs stop, and what to do then", Text: stopReasonsHelp},
	)
}

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "help on a command or a topic; alone it lists the commands", ArgsUsage: "[COMMAND|TOPIC]",
		Description: "What COMMAND -h says, or a topic.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "all commands, options and topics"}},
		Action:      p.action(help),
	}
}

// cli has one printer of help for all programs; what it is given to write to is app's Writer.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, of any) {
		out := w.(helpWriter).helpScreen()
		manual.Help(out, of, out.Columns)
		out.Flush()
	}
}

// helpWriter is app's Writer.
type helpWriter struct{ *program }

func (w helpWriter) Write(text []byte) (int, error) { return w.out.Write(text) }

// helpScreen is what help is written to: as wide as the terminal and at most 80 columns, which are
// those of a pipe, as git's is.
func (p *program) helpScreen() *screen.Writer {
	_, width := p.terminalAt(p.out)
	return &screen.Writer{Out: p.out, Columns: min(width, 80)}
}

// help prints a topic, or what the words would print with -h behind them.
func help(s *session) error {
	words := s.Args().Slice()
	app := s.app()
	if s.Bool("all") && len(words) == 0 {
		w := s.helpScreen()
		app.Setup()
		manual.All(w, app, topics(), w.Columns)
		return w.Flush()
	}
	commands := app.Commands
	for i, name := range words {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		topic := slices.IndexFunc(topics(), func(t manual.Topic) bool { return t.Name == name })
		switch {
		case at >= 0:
			commands = commands[at].Subcommands
		case topic >= 0 && i == 0 && len(words) == 1:
			return s.printTopic(topics()[topic])
		default:
			return unknownCommand(name, commands)
		}
	}
	return s.runSorted(s.ctx, app, append(append([]string{app.Name}, words...), "-h"))
}

// runSorted runs a command line that was put in order. The help of a command with the name of
// a topic says both.
func (p *program) runSorted(ctx context.Context, app *cli.App, args []string) error {
	err := app.RunContext(ctx, args)
	if len(args) != 3 || args[2] != "-h" {
		return err
	}
	at := slices.IndexFunc(topics(), func(t manual.Topic) bool { return t.Name == args[1] })
	if err != nil || at < 0 {
		return err
	}
	safetext.Fprintf(p.out, "\n")
	return p.printTopic(topics()[at])
}

func (p *program) printTopic(topic manual.Topic) error {
	w := p.helpScreen()
	return cmp.Or(manual.Fprint(w, topic.Text(), w.Columns), w.Flush())
}

// unknownCommand names the command that was perhaps meant.
func unknownCommand(name string, commands []*cli.Command) error {
	if theirs := unlike(name); theirs != nil {
		return theirs
	}
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	unknown := exit.Problemf(exit.Usage, "there is no command %q", name)
	if near := nearest.To(name, names); near != "" {
		return unknown.WithHint("git runr " + near)
	}
	return unknown.WithHint("git runr help")
}

// usageError makes cli's own complaint one of ours.
func usageError(c *cli.Context, err error, _ bool) error {
	help := "git runr help"
	if c.Command != nil && c.Command.HelpName != "" && c.Command.HelpName != c.App.Name {
		help = c.Command.HelpName + " -h"
	}
	var value, flag string
	if n, _ := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &flag); n == 2 {
		flag = strings.TrimSuffix(flag, ":")
		return exit.Problemf(exit.Usage, "%s%s does not take %q", strings.Repeat("-", min(len(flag), 2)), flag, value).WithHint(help)
	}
	return exit.Problemf(exit.Usage, "%w", err).WithHint(help)
}

func stopReasonsHelp() string {
	var b strings.Builder
	for _, r := range record.Reasons() {
		resumable := "not resumable"
		if r.Resumable {
			resumable = "resumable"
		}
		safetext.Fprintf(&b, "%s (%s)\n    %s (%s, %s, exit status %d)\n", r.Code, r.Title, r.Explanation, r.Family, resumable, r.Status)
		for _, step := range r.Next {
			safetext.Fprintf(&b, "    %s\n        %s\n", step.Command, step.What)
		}
	}
	b.WriteString("\nWhat a stop calls unmet. CHECK is typecheck, test, build, lint, format, docs, security or a check's name:\n")
	for _, u := range diagnose.UnmetCodes() {
		safetext.Fprintf(&b, "%s\n    %s\n", u.Code, u.Meaning)
	}
	return b.String()
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
