package main

import (
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) trustCommand() *cli.Command {
	return &cli.Command{
		Name: "trust", Usage: "approve the commands that this repository's .runr.toml names, and whose code they may run",
		Description: "Shows the commands and asks on a terminal; elsewhere it needs --yes. What is approved is remembered\noutside the repository, exactly as it is: any change asks again. Without configured checks the standard ones\nof the project are meant.\n" +
			"A command runs what the commit has. So checks run on the code that is checked out when you trust, and on what\nyou commit in this clone after that. For everybody else's it takes --code-of NAME, by the name or address that commits\nclaim, or --code-of all.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "show", Usage: "show the commands and whether they are trusted, and no more"},
			&cli.BoolFlag{Name: "yes", Usage: "approve without asking"},
			&cli.StringSliceFlag{Name: "code-of", Usage: "let checks run on the commits of `NAME` as well, or of all; may be given again"},
			&cli.BoolFlag{Name: "revoke", Usage: "take the approval back, or with --code-of that alone"},
		},
		Action: p.action(trust),
	}
}

type trustJSON struct {
	Status   config.TrustState `json:"status"`
	Commands []string          `json:"commands"` // what is new or changed since the approval
	Standard []string          `json:"standard_checks"`
	CodeOf   []string          `json:"code_of"`
}

func trust(s *session) error {
	if depth := s.getenv(agent.DepthVar); depth != "" && depth != "0" && !s.Bool("show") {
		return exit.Problemf(exit.Untrusted, "git-runr started this (%s is set): only a person says what is trusted", agent.DepthVar)
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	names, revoke := s.StringSlice("code-of"), s.Bool("revoke")
	if len(names) > 0 && !s.Bool("show") {
		if err := conf.SetCodeOf(s.ctx, names, revoke, s.now()); err != nil {
			return err
		}
	}
	doc, known, err := s.trusted(store, conf)
	switch {
	case err != nil:
		return err
	case s.Bool("show") || len(names) > 0 && !s.Bool("yes"):
	case revoke:
		err = conf.Revoke()
	default:
		if doc.Status != config.Trusted || !known {
			err = s.confirmTrust(doc)
		}
		if err == nil {
			err = conf.Approve(s.ctx, s.now())
		}
	}
	if err != nil {
		return err
	}
	asked := doc.Commands
	if doc, _, err = s.trusted(store, conf); err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("show") {
			render.Lines(w, asked)
		}
		safetext.Fprintf(w, "%s: %s\n", config.FileName, doc.Status)
		if len(doc.CodeOf) > 0 {
			safetext.Fprintf(w, "checks run on the code of: %s\n", strings.Join(doc.CodeOf, ", "))
		}
	})
}

// trusted is what is trusted and what would be, and whether nothing is left to say yes to.
func (s *session) trusted(store *store.Store, conf *config.Config) (doc trustJSON, known bool, err error) {
	consent := conf.Consent(s.ctx)
	doc = trustJSON{CodeOf: append([]string{}, consent.CodeOf...), Standard: []string{}}
	doc.Status, doc.Commands = conf.Trust()
	head, err := store.Repo.Head(s.ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return doc, consent.Standard, nil
	}
	if err != nil {
		return doc, false, err
	}
	if checks, not := conf.Checks(); len(checks)+len(not) == 0 && conf.Review.DetectChecks {
		for _, check := range conf.Standard(s.ctx, store, head) {
			doc.Standard = append(doc.Standard, check.Command)
		}
	}
	why, err := conf.Stranger(s.ctx, head)
	return doc, consent.Standard && why == "", err
}

// confirmTrust shows what would be approved and asks; without a terminal --yes is wanted.
func (s *session) confirmTrust(doc trustJSON) error {
	if s.Bool("yes") {
		return nil
	}
	tty := s.terminal()
	if tty == nil {
		writeTrust(s.err, doc)
		return exit.Problemf(exit.Untrusted, "there is no terminal to ask on").WithHint("git runr trust --yes")
	}
	defer tty.Close()
	writeTrust(tty, doc)
	if !s.agrees(tty, "They will run with your rights, on the code that is checked out and on what you commit. Trust them?") {
		return exit.Problemf(exit.Untrusted, "not trusted")
	}
	return nil
}

func writeTrust(w io.Writer, doc trustJSON) {
	if len(doc.Commands) > 0 {
		safetext.Fprintf(w, "%s names these commands:\n", config.FileName)
		render.Lines(w, doc.Commands)
	}
	if len(doc.Standard) > 0 {
		safetext.Fprintf(w, "The project has these checks:\n")
		render.Lines(w, doc.Standard)
	}
	if len(doc.Commands)+len(doc.Standard) == 0 {
		safetext.Fprintf(w, "Commands that you have trusted meet code that is new here.\n")
	}
}
