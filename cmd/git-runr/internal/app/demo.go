package app

import (
	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/demo"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/reply"
)

func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show the whole loop in a scratch repository, with scripted agents",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "keep the scratch repository"}},
		Action: p.action(func(s *session) error { return demo.Run(s.ctx, s.out, s.Bool("keep")) }),
	}
}

// demoAgentCommand returns the hidden command that implements both agents of the demo.
func (p *program) demoAgentCommand() *cli.Command {
	return &cli.Command{
		Name: "demo-agent", Hidden: true, Usage: "the demo's scripted agents",
		Commands: []*cli.Command{
			{Name: "implement", Action: p.action(func(s *session) error { return demo.Implement(s.in, s.out) })},
			{Name: "review", Action: p.action(func(s *session) error { return demo.Review(s.in, s.out) })},
		},
	}
}

func (p *program) parseCommand() *cli.Command {
	review := &cli.Command{
		Name: "review", Usage: "print what is read from a reviewer's answer, as JSON", ArgsUsage: "[FILE]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "nonce", Usage: "the nonce that a tagged answer must carry"}},
		Action: p.action(func(s *session) error {
			return parse(s, func(text string) any { return reply.ParseReview(text, s.String("nonce")) })
		}),
	}
	executor := &cli.Command{
		Name: "executor", Usage: "print what is read from an implementer's report, as JSON", ArgsUsage: "[FILE]",
		Action: p.action(func(s *session) error {
			return parse(s, func(text string) any { return reply.ParseExecutor(text) })
		}),
	}
	return &cli.Command{
		Name: "parse", Usage: "try how an agent's answer is read", ArgsUsage: "review|executor [FILE]",
		Commands: []*cli.Command{review, executor},
	}
}

// parse prints JSON even without --json: its readers are scripts and people who examine the parser.
func parse(s *session, read func(string) any) error {
	text, err := s.readInput(s.arg("-"))
	if err != nil {
		return err
	}
	return stdio.WriteJSON(s.out, read(string(text)))
}
