package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/loop/agent"
	"git-runr/loop/safetext"
)

func (p *program) trustCommand() *cli.Command {
	return &cli.Command{
		Name: "trust", Usage: "approve the commands that this repository's .runr.toml names",
		Description: "Shows the commands and asks on a terminal; elsewhere it needs --yes. What is approved is remembered\noutside the repository, exactly as it is: any change asks again.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "show", Usage: "show the commands and whether they are trusted, and no more"},
			&cli.BoolFlag{Name: "yes", Usage: "approve without asking"},
			&cli.BoolFlag{Name: "revoke", Usage: "take the approval back"},
		},
		Action: p.action(trust),
	}
}

type trustJSON struct {
	Status   config.TrustState `json:"status"`
	Commands []string          `json:"commands"` // what is new or changed since the approval
}

func trust(s *session) error {
	if depth := s.getenv(agent.DepthVar); depth != "" && depth != "0" && !s.Bool("show") {
		return exit.Problemf(exit.Untrusted, "git-runr started this (%s is set): only a person says what is trusted", agent.DepthVar)
	}
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	if !conf.Executes() && !s.Bool("revoke") {
		return s.print(trustJSON{Status: config.Trusted, Commands: []string{}}, func(w io.Writer) {
			safetext.Fprintf(w, "%s names no commands: there is nothing to trust.\n", config.FileName)
		})
	}
	doc := trustJSON{}
	doc.Status, doc.Commands = conf.Trust()
	switch {
	case s.Bool("revoke"):
		if err := conf.Revoke(); err != nil {
			return err
		}
		doc.Status = config.Untrusted
	case s.Bool("show") || doc.Status == config.Trusted:
	default:
		if err := s.confirmTrust(doc); err != nil {
			return err
		}
		if err := conf.Approve(s.now()); err != nil {
			return err
		}
		doc.Status = config.Trusted
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("show") {
			render.Lines(w, doc.Commands)
		}
		safetext.Fprintf(w, "%s: %s\n", config.FileName, doc.Status)
	})
}

// confirmTrust shows what would be approved and asks; without a terminal --yes is wanted.
func (s *session) confirmTrust(doc trustJSON) error {
	if s.Bool("yes") {
		return nil
	}
	tty := s.terminal()
	if tty == nil {
		safetext.Fprintf(s.err, "%s names these commands:\n", config.FileName)
		render.Lines(s.err, doc.Commands)
		return exit.Problemf(exit.Untrusted, "there is no terminal to ask on").WithHint("git runr trust --yes")
	}
	defer tty.Close()
	safetext.Fprintf(tty, "%s names these commands:\n", config.FileName)
	render.Lines(tty, doc.Commands)
	if !s.agrees(tty, "They will run with your rights. Trust them?") {
		return exit.Problemf(exit.Untrusted, "not trusted")
	}
	return nil
}
