package app

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func agentsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "agents", Usage: "only tell the agent tools that are used here about git-runr"},
		&cli.StringFlag{Name: "for", Usage: "with --agents: only these `TOOLS`, separated by commas: " +
			strings.Join(register.Names(), ",")},
		&cli.BoolFlag{Name: "hooks",
			Usage: "with --agents: sessions also start with what waits, hand open findings back once, and ask the gate before " +
				"a push"},
		&cli.BoolFlag{Name: "read-only", Usage: "with --agents: register a server without tools that write"},
		&cli.BoolFlag{Name: "remove", Usage: "with --agents: remove what was written"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and write nothing"},
		&cli.BoolFlag{Name: "yes", Usage: "with --agents: write without asking"},
	}
}

type initAgentsJSON struct {
	Items   []register.Item `json:"items"`
	Written bool            `json:"written"`
}

// initAgents registers git-runr with agent tools, or with --remove takes that back. It shows the changes, and writes
// them if somebody agrees.
func (s *session) initAgents(store *store.Store) error {
	names, err := s.agentTools(store)
	if err != nil {
		return err
	}
	place := register.Place{Top: store.Repo.WorkTree, GitDir: store.Repo.GitDir}
	plan, err := register.Adding(place, names, register.Wish{Hooks: s.Bool("hooks"), ReadOnly: s.Bool("read-only")})
	if s.Bool("remove") {
		plan, err = register.Removing(place, names)
	}
	if err != nil {
		return err
	}
	if !s.json {
		safetext.Fprintf(s.out, "%s", safetext.Block(plan.Diff()))
	}
	dry := s.Bool("dry-run")
	if !dry && !plan.Empty() {
		err = s.consent("Write this?", func(io.Writer) {}, "nothing was written", s.sayingYes())
	}
	if err == nil && !dry {
		err = plan.Write()
	}
	if err != nil {
		return err
	}
	doc := initAgentsJSON{Items: plan.Items, Written: !dry && !plan.Empty()}
	return s.printLeaving(doc, plan.Left(), func(w io.Writer) { s.writeAgents(w, plan, doc.Written, names) })
}

// sayingYes returns this command line with --yes.
func (s *session) sayingYes() string {
	line := "git runr init --agents"
	for _, name := range []string{"hooks", "read-only", "remove"} {
		if s.Bool(name) {
			line += " --" + name
		}
	}
	if s.IsSet("for") {
		line += " --for " + strings.ReplaceAll(s.String("for"), " ", "")
	}
	return line + " --yes"
}

// agentTools returns the tools of --for, or those found here. --remove without --for looks at all of them.
func (s *session) agentTools(store *store.Store) ([]string, error) {
	if !s.IsSet("for") && s.Bool("remove") {
		return register.Names(), nil
	}
	if !s.IsSet("for") {
		found := register.Found(store.Repo.WorkTree, s.getenv)
		if len(found) == 0 {
			return nil, exit.Problemf(exit.NotFound, "no agent tool was found, here or on PATH").
				WithHint("git runr init --agents --for " + strings.Join(register.Names(), ","))
		}
		return found, nil
	}
	names := strings.FieldsFunc(s.String("for"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range names {
		if !slices.Contains(register.Names(), name) {
			return nil, exit.Problemf(exit.Usage, "unknown tool %q: use %s", name, strings.Join(register.Names(), ", "))
		}
	}
	if len(names) == 0 {
		return nil, exit.Problemf(exit.Usage, "--for needs the name of a tool").
			WithHint("git runr init --agents --for " + strings.Join(register.Names(), ","))
	}
	return names, nil
}

func (s *session) writeAgents(w io.Writer, plan *register.Plan, written bool, names []string) {
	screen.When(w, plan.Empty() && len(plan.Left()) == 0, "Nothing to do.\n")
	screen.Each(w, "left alone: %s\n", plan.Left())
	for _, item := range plan.Items {
		switch {
		case item.State == register.Kept:
			safetext.Fprintf(w, "%s: kept, because another tool reads it\n", item.File)
		case written && (item.State == register.Added || item.State == register.Removed):
			safetext.Fprintf(w, "%s: %s %s for %s\n", item.File, item.State, item.What, strings.Join(item.Tools, ", "))
		}
	}
	if !s.Bool("remove") {
		screen.Each(w, "%s.\n", register.Notes(names, s.Bool("hooks")))
	}
}
