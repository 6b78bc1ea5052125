package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/demo"
)

func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "the whole loop on a scratch repository with scripted agents, in a few seconds",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "leave the scratch repository for a look around"}},
		Action: p.action(func(s *session) error { return demo.Run(s.ctx, s.out, s.Bool("keep")) }),
	}
}

// demoAgentCommand is both of the demo's agents.
func (p *program) demoAgentCommand() *cli.Command {
	return &cli.Command{
		Name: "demo-agent", Hidden: true, Usage: "the demo's scripted agents",
		Subcommands: []*cli.Command{
			{Name: "implement", Action: p.action(func(s *session) error { return demo.Implement(s.in, s.out) })},
			{Name: "review", Action: p.action(func(s *session) error { return demo.Review(s.in, s.out) })},
		},
	}
}
