package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "run the configured checks here and now", ArgsUsage: "[NAME…]",
		Action: p.action(check),
	}
}

func noChecksFlag() cli.Flag { return &cli.BoolFlag{Name: "no-checks", Usage: "run no checks"} }

type checkJSON struct {
	Checks []record.CheckResult `json:"checks"`
}

func check(s *session) error {
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	if store.Repo.WorkTree == "" {
		return exit.Problemf(exit.State, "%w", gitstore.ErrBare)
	}
	run, not := conf.Checks()
	if len(run)+len(not) == 0 {
		return exit.Problemf(exit.NotFound, "no checks are configured").WithHint("git runr init   writes the checks that this project seems to have")
	}
	if len(not) > 0 {
		return config.NotTrusted(not[0])
	}
	if run, err = chosenChecks(run, s.Args().Slice()); err != nil {
		return err
	}
	progress, checker := s.progress(), conf.Checker()
	defer progress.Close()
	doc, failed := checkJSON{Checks: []record.CheckResult{}}, false
	for _, c := range run {
		progress.Step("check", c.Name)
		result := checker.Judge(checker.Run(s.ctx, c, store.Repo.WorkTree, ""), nil, nil)
		failed = failed || !result.OK()
		doc.Checks = append(doc.Checks, result)
	}
	progress.Close()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	err = s.print(doc, func(w io.Writer) {
		for _, c := range doc.Checks {
			if !c.OK() && c.Output != "" {
				safetext.Fprintf(w, "%s\n", safetext.Block(c.Output))
			}
			safetext.Fprintf(w, "%s: %s\n", c.Name, c.State())
		}
	})
	if err == nil && failed {
		return exit.With(exit.NotPassed)
	}
	return err
}

func chosenChecks(all []runplan.Check, names []string) ([]runplan.Check, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []runplan.Check
	for _, name := range names {
		found := false
		for _, c := range all {
			if c.Name == name {
				chosen, found = append(chosen, c), true
			}
		}
		if !found {
			return nil, exit.Problemf(exit.NotFound, "no check is called %q", name)
		}
	}
	return chosen, nil
}
