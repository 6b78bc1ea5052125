package main

import (
	"cmp"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "what is configured, and where each value comes from; KEY VALUE sets one", ArgsUsage: "[KEY [VALUE]]",
		Description: "Prints every key with the value that counts, and which file and line, which scope of git config or which\n" +
			"variable gives it. KEY is a key, a section such as review, or a table such as agents.mine; of one key it also\n" +
			"says what it means. KEY VALUE sets it in the repository's git config, for this clone; a line in .runr.toml is for all.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "changed", Usage: "leave out what is as by default"}},
		Action: p.action(showConfig),
	}
}

type configJSON struct {
	Settings []config.Value `json:"settings"`
}

func showConfig(s *session) error {
	if s.NArg() > 2 {
		return exit.Problemf(exit.Usage, "config takes a key and a value").WithHint("git runr config KEY VALUE")
	}
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	of := s.Args().First()
	if s.NArg() == 2 {
		return conf.Set(s.ctx, of, s.Args().Get(1))
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
