package main

import (
	"bytes"
	"cmp"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/manual"
)

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page, for man(1)",
		Description: "The page is made of the commands and of the topics of git runr help. git runr install-extras puts it where\ngit runr --help and git help runr find it; without\nit: git runr man, piped into man -l -",
		Action:      p.action(man),
	}
}

func man(s *session) error {
	page, err := s.manualPage()
	if err == nil {
		_, err = s.out.Write(page)
	}
	return err
}

// manualPage is the page of this program.
func (p *program) manualPage() ([]byte, error) {
	build := buildNow()
	var b bytes.Buffer
	date, _, _ := bytes.Cut([]byte(cmp.Or(build.Date, p.now().UTC().Format("2006-01-02"))), []byte("T"))
	err := manual.Page{App: p.app(), Version: build.name(), Date: string(date), Topics: topics()}.Write(&b)
	return b.Bytes(), err
}
