package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "where things stand and what to type next; the default",
		Action: p.action(func(s *session) error {
			if s.NArg() > 0 { // it took a run before show did
				return show(s)
			}
			return showOverview(s)
		}),
	}
}

// showOverview is bare git runr.
func showOverview(s *session) error {
	if s.Bool("version") {
		return showVersion(s)
	}
	if s.NArg() > 0 {
		return unknownCommand(s.Args().First(), s.App.Commands)
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	doc, err := overview.Of(s.ctx, store, s.overviewGiven(store))
	if err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) {
		doc.Write(w, func(id string) bool { return workspace.Live(store, id) }, s.listStyle())
	})
}

func (s *session) overviewGiven(store *store.Store) overview.Given {
	given := overview.Given{Remote: s.sharedRemote(store), Say: s.say}
	conf, err := s.configuration(store)
	if err != nil {
		given.Config = err.Error()
		return given
	}
	given.Skip, given.Gate = conf.Hooks.Skip, conf.Hooks.PrePush != "off"
	return given
}
