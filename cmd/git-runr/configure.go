package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// readConfiguration reads every layer for repo.
func readConfiguration(ctx context.Context, repo *gitstore.Repo, getenv func(string) string) (*config, error) {
	in := configInput{Git: repo.Config, RepoPath: configName, UserPath: userConfigPath(getenv)}
	var err error
	if in.RepoFile, _, err = repoFile(ctx, repo); err != nil {
		return nil, problemf(exitUsage, "read %s: %w", configName, err)
	}
	if in.UserPath != "" {
		in.UserFile, err = os.ReadFile(in.UserPath)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, problemf(exitUsage, "read configuration: %w", err)
		}
	}
	return loadConfig(in)
}

// trusts reports whether the repository's commands are those that were approved.
func (s *session) trusts() bool {
	status, _ := s.trust().status(s.repo.CommonDir, s.conf.executables())
	return status == trustGiven
}

// approve trusts the repository's commands as they are now.
func (s *session) approve() error {
	return s.trust().approve(s.repo.CommonDir, s.conf.executables(), s.now())
}

func (s *session) trust() trustStore { return newTrustStore(s.getenv) }

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
		return problemf(exitUntrusted, "there is no terminal to ask on").withHint("git runr trust --yes")
	}
	defer tty.Close()
	fmt.Fprintf(tty, "%s names these commands:\n", configName)
	writeLines(tty, doc.Commands)
	fmt.Fprint(tty, "They will run with your rights. Trust them? [y/N] ")
	var answer string
	fmt.Fscanln(s.in, &answer)
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return problemf(exitUntrusted, "not trusted")
	}
	return nil
}

// initialConfig is .runr.toml as init writes it.
func initialConfig(checks []record.Check) string {
	var b strings.Builder
	b.WriteString("# The review loop of this repository. git runr help config lists every key.\n\n[review]\nreviewer = \"builtin\"\n")
	for _, c := range checks {
		fmt.Fprintf(&b, "\n[checks.%s]\ncommand = %s\n", tomlKey(c.Name), tomlString(c.Command))
	}
	return b.String()
}

// tomlKey is name as a TOML key: bare where it can be.
func tomlKey(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return tomlString(name)
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
