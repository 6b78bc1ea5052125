package main

import (
	"fmt"
	"git-runr/cmd/git-runr/internal/exit"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

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
	Status   trustState `json:"status"`
	Commands []string   `json:"commands"` // what is new or changed since the approval
}

func trust(s *session) error {
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	store, commands := s.trust(), conf.executables()
	if commands == nil && !s.Bool("revoke") {
		return s.print(trustJSON{Status: trustGiven, Commands: []string{}}, func(w io.Writer) {
			fmt.Fprintf(w, "%s names no commands: there is nothing to trust.\n", configName)
		})
	}
	status, approved := store.status(s.repo.CommonDir, commands)
	doc := trustJSON{Status: status, Commands: splitLines(trustDiff(approved, commands))}
	switch {
	case s.Bool("revoke"):
		if _, err := store.revoke(s.repo.CommonDir); err != nil {
			return err
		}
		doc.Status = trustMissing
	case s.Bool("show") || status == trustGiven:
	default:
		if err := s.confirmTrust(doc); err != nil {
			return err
		}
		if err := s.approve(); err != nil {
			return err
		}
		doc.Status = trustGiven
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("show") {
			writeLines(w, doc.Commands)
		}
		fmt.Fprintf(w, "%s: %s\n", configName, doc.Status)
	})
}

func writeLines(w io.Writer, lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintf(w, "  %s\n", safetext.Line(line))
		}
	}
}

// confirmTrust shows what would be approved and asks; without a terminal --yes is wanted.
func (s *session) confirmTrust(doc trustJSON) error {
	if s.Bool("yes") {
		return nil
	}
	tty := s.terminal()
	if tty == nil {
		fmt.Fprintf(s.err, "%s names these commands:\n", configName)
		writeLines(s.err, doc.Commands)
		return exit.Problemf(exit.Untrusted, "there is no terminal to ask on").WithHint("git runr trust --yes")
	}
	defer tty.Close()
	fmt.Fprintf(tty, "%s names these commands:\n", configName)
	writeLines(tty, doc.Commands)
	fmt.Fprint(tty, "They will run with your rights. Trust them? [y/N] ")
	var answer string
	fmt.Fscanln(s.in, &answer)
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return exit.Problemf(exit.Untrusted, "not trusted")
	}
	return nil
}
