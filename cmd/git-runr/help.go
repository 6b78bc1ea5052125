package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/nearest"
	"git-runr/diagnose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// topics are help texts that are not about one command.
func topics() map[string]func() string {
	return map[string]func() string{
		"exit-status":  exit.Help,
		"config":       config.Help,
		"stop-reasons": stopReasonsHelp,
	}
}

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "help on a command, or on config, exit-status or stop-reasons", ArgsUsage: "[COMMAND|TOPIC]",
		Action: p.action(help),
	}
}

// help prints a topic, or what the words would print with -h behind them.
func help(s *session) error {
	words := s.Args().Slice()
	if len(words) == 1 && topics()[words[0]] != nil {
		_, err := safetext.Fprintf(s.out, "%s", safetext.Block(topics()[words[0]]()))
		return err
	}
	app := s.app()
	commands := app.Commands
	for _, name := range words {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		if at < 0 {
			return unknownCommand(name, commands)
		}
		commands = commands[at].Subcommands
	}
	return app.RunContext(s.ctx, append(append([]string{app.Name}, words...), "-h"))
}

// unknownCommand names the command that was perhaps meant.
func unknownCommand(name string, commands []*cli.Command) error {
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
func usageError(_ *cli.Context, err error, _ bool) error {
	return exit.Problemf(exit.Usage, "%w", err).WithHint("git runr help")
}

func stopReasonsHelp() string {
	var b strings.Builder
	for _, r := range record.Reasons() {
		resumable := "not resumable"
		if r.Resumable {
			resumable = "resumable"
		}
		safetext.Fprintf(&b, "%s (%s)\n    %s\n    %s, %s, exit status %d\n", r.Code, r.Title, r.Explanation, r.Family, resumable, r.Status)
		for _, step := range r.Next {
			safetext.Fprintf(&b, "      %s   %s\n", step.Command, step.What)
		}
	}
	b.WriteString("\nWhat a stop calls unmet. CHECK is typecheck, test, build, lint, format, docs, security or a check's name:\n")
	for _, u := range diagnose.UnmetCodes() {
		safetext.Fprintf(&b, "%s\n    %s\n", u.Code, u.Meaning)
	}
	return b.String()
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
