package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) uninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "take back what init did in this repository",
		Description: "Takes out the hooks, the notes in git log, what agents were told, this clone's cache and settings of its own, the\n" +
			"approval of .runr.toml, and that file if init wrote it and nobody changed or committed it. Configuration and hooks\n" +
			"are then as they were, to the byte. What is recorded stays: --refs deletes that, too, of this clone.\n" +
			"Drafts and files of runs stay unless --refs is given. Exit status 3 where something was left alone.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "refs", Usage: "also delete every record: reviews, runs, notes, snapshots; branches of runs stay"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done"},
			&cli.BoolFlag{Name: "yes", Usage: "do it without asking"},
		},
		Action: p.action(uninstall),
	}
}

type uninstallJSON struct {
	Done   []string `json:"done"` // or would be
	Left   []string `json:"left"` // alone, and why
	DryRun bool     `json:"dry_run"`
}

func uninstall(s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	if loop.AtWork(store) {
		return exit.Problemf(exit.Busy, "reviews are being done in this clone").WithHint("git runr", "then again: git runr uninstall")
	}
	conf, _ := config.Read(s.ctx, store.Repo, s.getenv) // nil: of what cannot be read nothing is approved
	todo, left, err := setup.Removals(s.ctx, store, conf, s.Bool("refs"))
	if err != nil {
		return err
	}
	doc := uninstallJSON{Done: []string{}, Left: append([]string{}, left...), DryRun: s.Bool("dry-run")}
	for _, r := range todo {
		doc.Done = append(doc.Done, r.What)
	}
	if !doc.DryRun && len(todo) > 0 {
		if err := s.agreeToRemove(doc); err != nil {
			return err
		}
		for _, r := range todo {
			if err := r.Do(); err != nil {
				return fmt.Errorf("%s: %w", r.What, err)
			}
		}
	}
	return s.printLeaving(doc, doc.Left, func(w io.Writer) { writeUninstall(w, doc) })
}

func (s *session) agreeToRemove(doc uninstallJSON) error {
	line := "git runr uninstall --yes"
	if s.Bool("refs") {
		line += " --refs"
	}
	planned := uninstallJSON{Done: doc.Done, Left: doc.Left, DryRun: true}
	return s.consent("Do this?", func(w io.Writer) { writeUninstall(w, planned) }, "nothing was done", line)
}

func writeUninstall(w io.Writer, doc uninstallJSON) {
	verb := map[bool]string{true: "would be removed", false: "removed"}[doc.DryRun]
	for _, what := range doc.Done {
		safetext.Fprintf(w, "%s: %s\n", verb, what)
	}
	for _, left := range doc.Left {
		safetext.Fprintf(w, "left alone: %s\n", left)
	}
	if len(doc.Done)+len(doc.Left) == 0 {
		fmt.Fprintln(w, "Nothing to do.")
	}
}
