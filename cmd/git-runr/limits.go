package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
)

// limitFlags bound what a run takes.
func limitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-cost", Usage: "US `DOLLARS` that the run may cost, all in all", DefaultText: "loop.max_cost"},
		&cli.StringFlag{Name: "max-tokens", Usage: "`TOKENS` that the run may take, all in all", DefaultText: "loop.max_tokens"},
		&cli.StringFlag{Name: "wait-for-quota", Usage: "how long a step waits for a quota, such as 30m", DefaultText: "loop.wait_for_quota"},
	}
}

// setLimits takes the values of limitFlags.
func (s *session) setLimits(conf *config.Config) error {
	for _, flag := range limitFlags() {
		if name := flag.Names()[0]; s.IsSet(name) {
			if err := conf.SetFlag("loop", name, s.String(name)); err != nil {
				return err
			}
		}
	}
	return nil
}
