package main

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page, for man(1)",
		Description: "The page is made of the commands and of the topics of git runr help. git runr install-extras puts it where\ngit runr --help and git help runr find it; without\nit: git runr man, piped into man -l -",
		Action:      p.action(man),
	}
}

func man(s *session) error {
	_, err := safetext.Fprintf(s.out, "%s", safetext.Block(s.manualPage()))
	return err
}

// manualPage is the page of this program. One that does not know its commit's date is of today.
func (p *program) manualPage() string {
	build := buildNow()
	date, _, _ := strings.Cut(cmp.Or(build.Date, p.now().UTC().Format("2006-01-02")), "T")
	return manual.Page{App: p.app(), Version: build.Name(), Date: date, Topics: topics()}.Roff()
}
