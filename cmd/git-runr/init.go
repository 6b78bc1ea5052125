package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/register"
	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/hooks"
	"git-runr/loop/builtin"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "set up this repository: .runr.toml, hooks and notes",
		Description: "Writes .runr.toml with the checks that the project seems to have (an existing one is kept),\ninstalls git's hooks that call git-runr, and lets git log show the notes and carry them over a rebase.\n" +
			"Offers to register git runr mcp with the agent tools that it finds, in their own configuration files.",
		Flags:  append([]cli.Flag{&cli.BoolFlag{Name: "no-hooks", Usage: "leave git's hooks alone"}}, registerFlags()...),
		Action: p.action(initialise),
	}
}

type initJSON struct {
	Config  string                  `json:"config"`
	Written bool                    `json:"written"`
	Checks  []record.Check          `json:"checks"`
	Hooks   []hooks.Status          `json:"hooks"`
	Trusted bool                    `json:"trusted"`
	MCP     []register.Registration `json:"mcp"`
}

func initialise(s *session) error {
	store, err := s.open()
	if err != nil {
		return err
	}
	if store.Repo.WorkTree == "" {
		return exit.Problemf(exit.State, "%w: run init in a checkout", gitstore.ErrBare)
	}
	doc := initJSON{Config: filepath.Join(store.Repo.WorkTree, config.FileName), Checks: []record.Check{}, Hooks: []hooks.Status{}}
	if err := s.writeConfig(store, &doc); err != nil {
		return err
	}
	if err := showNotes(s.ctx, store); err != nil {
		return err
	}
	if !s.Bool("no-hooks") {
		doc.Hooks, err = hooks.Install(s.ctx, store.Repo, hooks.Setup{Program: installedProgram(s.getenv("PATH")), Gate: s.gated(store)})
		if err != nil && !errors.Is(err, hooks.ErrByHand) {
			return err
		}
	}
	doc.MCP = s.register(store)
	return s.print(doc, func(w io.Writer) { writeInit(w, doc) })
}

// writeConfig makes .runr.toml from what the repository is. What this command
// wrote, the user has asked for: it is trusted.
func (s *session) writeConfig(store *record.Store, doc *initJSON) error {
	if _, err := os.Lstat(doc.Config); err == nil {
		return nil
	}
	read := func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(store.Repo.WorkTree, filepath.FromSlash(name)))
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(store.Repo.WorkTree, filepath.FromSlash(name)))
		return err == nil
	}
	doc.Checks = append(doc.Checks, builtin.DetectAll(exists, read)...)
	text := config.Initial(doc.Checks)
	if err := safefile.Create(doc.Config, []byte(text), 0o666); err != nil {
		return err
	}
	doc.Written = true
	conf, err := s.configuration(store)
	if err != nil {
		return err
	}
	doc.Trusted = conf.Approve(s.now()) == nil
	return nil
}

// showNotes lets plain git log show the notes, of which there may be none yet. Nothing
// is added to what git fetches.
func showNotes(ctx context.Context, store *record.Store) error {
	if err := store.BeginNotes(ctx); err != nil {
		return err
	}
	for _, v := range store.Repo.Config["notes.displayref"] {
		if v == record.NotesRef {
			return nil
		}
	}
	return store.Repo.AddConfig(ctx, "notes.displayRef", record.NotesRef)
}

func writeInit(w io.Writer, doc initJSON) {
	if doc.Written {
		if len(doc.Checks) == 0 {
			safetext.Fprintf(w, "Wrote %s. No checks were found here: git runr help config tells how they are added.\n", doc.Config)
		} else {
			safetext.Fprintf(w, "Wrote %s with %s:\n", doc.Config, prose.Count(len(doc.Checks), "check"))
		}
		for _, c := range doc.Checks {
			safetext.Fprintf(w, "  %s: %s\n", c.Name, c.Command)
		}
		if !doc.Trusted {
			fmt.Fprintln(w, "Its commands are not trusted yet; type: git runr trust")
		}
	} else {
		safetext.Fprintf(w, "Kept %s.\n", doc.Config)
	}
	for _, st := range doc.Hooks {
		safetext.Fprintf(w, "%s hook: %s\n", st.Hook, st.State)
		if st.Snippet != "" {
			safetext.Fprintf(w, "  %s; add:\n%s\n", st.Detail, safetext.Block(st.Snippet))
		}
		writeWithout(w, st)
	}
	writeRegistrations(w, doc.MCP)
	fmt.Fprintln(w, "git log shows the notes. Try: git runr review --wait")
}

func registerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "register", Usage: "register git runr mcp with the agent tools found here, without asking"},
		&cli.BoolFlag{Name: "no-register", Usage: "do not register it, and do not ask"},
	}
}

// register tells the agent tools that it finds of git runr mcp, if that is wanted: by
// a flag, or by a person on a terminal.
func (s *session) register(store *record.Store) []register.Registration {
	found := []register.Registration{}
	if s.Bool("no-register") {
		return found
	}
	tools := register.Tools(store.Repo.WorkTree, s.getenv)
	for _, t := range tools {
		found = append(found, t.Standing())
	}
	offered := slices.ContainsFunc(found, func(r register.Registration) bool { return r.State == register.Offered })
	if !offered || !s.Bool("register") && !s.confirmRegister(found) {
		return found
	}
	for i, t := range tools {
		found[i] = t.Register()
	}
	return found
}

// confirmRegister asks on a terminal; without one the answer is no.
func (c *console) confirmRegister(found []register.Registration) bool {
	tty := c.terminal()
	if tty == nil {
		return false
	}
	defer tty.Close()
	fmt.Fprintln(tty, "Coding agents can ask for reviews and read them as tools (git runr mcp). These can be told:")
	for _, r := range found {
		if r.State == register.Offered {
			safetext.Fprintf(tty, "  %s in %s\n", r.Tool, r.File)
		}
	}
	return c.agrees(tty, "Register with them?")
}

func writeRegistrations(w io.Writer, found []register.Registration) {
	var offered []string
	for _, r := range found {
		switch r.State {
		case register.Done:
			safetext.Fprintf(w, "%s: registered git runr mcp in %s\n", r.Tool, r.File)
		case register.Before:
			safetext.Fprintf(w, "%s: git runr mcp is registered in %s\n", r.Tool, r.File)
		case register.Refused:
			safetext.Fprintf(w, "%s: left %s alone, %s; to add:\n%s", r.Tool, r.File, r.Detail, safetext.Block(r.Snippet))
		case register.Offered:
			offered = append(offered, r.Tool)
		}
	}
	if len(offered) > 0 {
		safetext.Fprintf(w, "To give the reviews to %s as tools, type: git runr init --register\n", strings.Join(offered, ", "))
	}
}
