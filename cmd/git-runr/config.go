package main

import (
	"cmp"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/manual"
	"git-runr/cmd/git-runr/internal/stdio"
	"git-runr/loop/safetext"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "what is configured, and where each value comes from", ArgsUsage: "[KEY]",
		Description: "Prints every key with the value that counts, and which file and line, which scope of git config or which\n" +
			"variable gives it. KEY is a key, a section such as review, or a table such as agents.mine; of one key it also\n" +
			"says what it means. To set one: a line in .runr.toml, or git config runr.SECTION.KEY VALUE.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "changed", Usage: "leave out what is as by default"}},
		Action: p.action(showConfig),
	}
}

type configJSON struct {
	Settings []config.Value `json:"settings"`
}

func showConfig(s *session) error {
	of, err := s.arg("")
	if err != nil {
		return err
	}
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	values, err := conf.Effective(s.ctx, s.getenv, of)
	if err != nil {
		return err
	}
	if s.Bool("changed") {
		values = slices.DeleteFunc(values, func(v config.Value) bool { return v.From == "default" })
	}
	return s.print(configJSON{append([]config.Value{}, values...)}, func(w io.Writer) {
		for _, v := range values {
			safetext.Fprintf(w, "%s = %s  # %s\n", v.Key, cmp.Or(v.Text(), "none"), v.Where())
		}
		if len(values) == 1 {
			_, width := stdio.Terminal(w)
			manual.Fprint(w, "\n"+values[0].Explain(), min(width, 80))
		}
	})
}
