package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/reply"
)

func (p *program) parseCommand() *cli.Command {
	review := &cli.Command{
		Name: "review", Usage: "what the parser makes of a reviewer's answer, as JSON", ArgsUsage: "[FILE]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "nonce", Usage: "the nonce that a tagged answer must carry"}},
		Action: p.action(func(s *session) error {
			return parse(s, func(text string) any { return reply.ParseReview(text, s.String("nonce")) })
		}),
	}
	executor := &cli.Command{
		Name: "executor", Usage: "what the parser makes of an implementer's report, as JSON", ArgsUsage: "[FILE]",
		Action: p.action(func(s *session) error { return parse(s, func(text string) any { return reply.ParseExecutor(text) }) }),
	}
	return &cli.Command{
		Name: "parse", Usage: "try the parsers on a text", ArgsUsage: "review|executor [FILE]",
		Subcommands: []*cli.Command{review, executor},
		Action: p.action(func(*session) error {
			return exit.Problemf(exit.Usage, "what to parse is wanted: review or executor").WithHint("git runr parse review FILE")
		}),
	}
}

// parse is always JSON: it is for people who look at the parser, and for scripts.
func parse(s *session, read func(string) any) error {
	name, err := s.arg("-")
	if err != nil {
		return err
	}
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	return stdio.WriteJSON(s.out, read(string(text)))
}
