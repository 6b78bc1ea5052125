package main

import (
	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/complete"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion script of a shell", ArgsUsage: "bash|zsh|fish",
		Description: "bash: eval \"$(git-runr completion bash)\". zsh: source <(git-runr completion zsh), after compinit. fish:\n" +
			"git-runr completion fish | source. git runr install-extras puts all of them where shells look.",
		Action: p.action(func(s *session) error {
			shell := s.Args().First()
			script, err := complete.Scripts.ReadFile(shell + "." + map[bool]string{true: "fish", false: "sh"}[shell == "fish"])
			if s.NArg() != 1 || err != nil {
				return exit.Problemf(exit.Usage, "name a shell: bash, zsh or fish").WithHint("git runr completion bash")
			}
			_, err = s.out.Write(script)
			return err
		}),
	}
}
