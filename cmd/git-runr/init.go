package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
			"--agents does none of that: it tells the agent tools that it finds here of git-runr, in their own files of this\n" +
			"repository: a skill, git runr mcp, and with --hooks commands that they run. All is shown first, and --remove\n" +
			"takes out exactly what was written.",
		Flags:  append([]cli.Flag{&cli.BoolFlag{Name: "no-hooks", Usage: "leave git's hooks alone"}}, agentsFlags()...),
		Action: p.action(initialise),
	}
}

type initJSON struct {
	Config  string         `json:"config"`
	Written bool           `json:"written"`
	Checks  []record.Check `json:"checks"`
	Hooks   []hooks.Status `json:"hooks"`
	Trusted bool           `json:"trusted"`
	Agents  []string       `json:"agents"` // found here, that init --agents tells
}

func initialise(s *session) error {
	store, err := s.open()
	if err != nil {
		return err
	}
	if store.Repo.WorkTree == "" {
		return exit.Problemf(exit.State, "%w: run init in a checkout", gitstore.ErrBare)
	}
	if s.Bool("agents") {
		return s.initAgents(store)
	}
	if given := s.agentsFlag(); given != "" {
		return exit.Problemf(exit.Usage, "--%s goes with --agents", given).WithHint("git runr init --agents --" + given)
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
	doc.Agents = register.Found(store.Repo.WorkTree, s.getenv)
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
	if len(doc.Agents) > 0 {
		safetext.Fprintf(w, "To tell %s of it, type: git runr init --agents\n", strings.Join(doc.Agents, ", "))
	}
	fmt.Fprintln(w, "git log shows the notes. Try: git runr review --wait")
}
