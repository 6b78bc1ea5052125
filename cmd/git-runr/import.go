package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/runrimport"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) importCommand() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "take over a run of runr from its timeline", ArgsUsage: "FILE.jsonl|-",
		Description: "Each run of the timeline becomes a run of this repository, with its attempts, results of checks, reviews\n" +
			"and the diagnosis of its stop, at the times that were recorded. Checks, agents and rules are those that are\n" +
			"configured here: no recorded command is ever run or suggested. A run that is here already is not\n" +
			"imported twice. Exit status: 0 imported, however the run ended.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "again", Usage: "import a run once more that was imported before"}},
		Action: p.action(importTimeline),
	}
}

// importJSON is the result of git runr import.
type importJSON struct {
	Runs     []importedJSON `json:"runs"`
	Warnings []string       `json:"warnings"`
}

type importedJSON struct {
	Run      string           `json:"run_id"`
	From     string           `json:"imported_from"`
	Events   int              `json:"events"`   // in the timeline
	Skipped  int              `json:"skipped"`  // of those: their type is unknown
	Recorded int              `json:"recorded"` // events recorded here; 0 if the run was imported before
	Status   record.RunStatus `json:"status"`
	Reason   string           `json:"stop_reason"`
}

func importTimeline(s *session) error {
	if s.NArg() != 1 {
		return exit.Problemf(exit.Usage, "missing argument: FILE.jsonl").
			WithHint("git runr import FILE.jsonl", "git runr import -   reads standard input")
	}
	name := s.Args().First()
	timeline, err := s.readTimeline(name)
	if err != nil {
		return err
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	plan, err := importPlan(s.ctx, conf, store, &timeline)
	if err != nil {
		return err
	}
	doc := importJSON{Runs: []importedJSON{}, Warnings: append([]string{}, timeline.Warnings...)}
	runs := []runrimport.Imported{}
	for _, source := range timeline.Runs {
		options := runrimport.Options{Again: s.Bool("again"), Explain: diagnose.Explain}
		done, err := runrimport.Import(s.ctx, store, source, plan, options)
		if err != nil {
			return err
		}
		runs = append(runs, done)
		doc.Runs = append(doc.Runs, importedDocument(source, done))
	}
	s.project(s.ctx, store)
	for _, warning := range doc.Warnings {
		s.say("%s", warning)
	}
	return s.print(doc, func(w io.Writer) {
		for i, done := range runs {
			writeImported(w, s, store, doc.Runs[i], done)
		}
	})
}

func importedDocument(source runrimport.SourceRun, done runrimport.Imported) importedJSON {
	doc := importedJSON{
		Run: done.Run.ID, From: done.Run.Plan.Imported, Events: source.Read, Skipped: source.Skipped,
		Recorded: done.Recorded, Status: done.Run.Status,
	}
	if done.Run.Stop != nil {
		doc.Reason = done.Run.Stop.Reason
	}
	return doc
}

func writeImported(w io.Writer, s *session, store *store.Store, doc importedJSON, done runrimport.Imported) {
	from := doc.From
	if doc.Recorded == 0 {
		safetext.Fprintf(w, "Run %s was imported before, as %s: nothing was recorded.\n", from, doc.Run)
		safetext.Fprintf(w, "  git runr show %s\n", doc.Run)
		return
	}
	skipped := ""
	if doc.Skipped > 0 {
		skipped = fmt.Sprintf(", %d of them skipped", doc.Skipped)
	}
	safetext.Fprintf(w, "Imported %s as %s: %s%s.\n\n", from, doc.Run, prose.Count(doc.Events, "event"), skipped)
	render.Run(w, done.Run, false, "")
	writeStop(w, s, store, done.Run)
}

// importPlan returns the configuration of this repository for an imported run. Nothing in it comes from the timeline.
func importPlan(
	ctx context.Context, conf *config.Config, store *store.Store, timeline *runrimport.Timeline,
) (runplan.Plan, error) {
	plan, not, err := conf.Plan()
	if err != nil {
		return plan, err
	}
	plan.Settings = nil // the limits set here did not end the run
	timeline.Warnings = append(timeline.Warnings, not...)
	if plan.Implementer == "" {
		timeline.Warnings = append(timeline.Warnings, "no implementer is configured: the run can be read but not resumed")
	}
	if plan.Base, err = store.Repo.Head(ctx); err != nil {
		return plan, err
	}
	plan.Target, err = store.Branch(ctx)
	return plan, err
}

// readTimeline reads a timeline from a file, relative to where the command was started, or from standard input for
// "-".
func (s *session) readTimeline(name string) (runrimport.Timeline, error) {
	if name == "-" {
		return decodeTimeline("standard input", s.in)
	}
	path := s.fromStart(name)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return runrimport.Timeline{}, exit.Problemf(exit.NotFound, "there is no file %q", name)
	}
	if err != nil {
		return runrimport.Timeline{}, exit.Problemf(exit.Usage, "%w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		hint, _ := safetext.CommandLine("git", "runr", "import", filepath.Join(name, "timeline.jsonl"))
		return runrimport.Timeline{}, exit.Problemf(exit.Usage, "%q is a directory", name).WithHint(hint)
	}
	timeline, err := decodeTimeline(fmt.Sprintf("%q", name), file)
	if err == nil && len(timeline.Runs) == 1 {
		timeline.Runs[0].TakeDirectory(path)
	}
	return timeline, err
}

func decodeTimeline(what string, in io.Reader) (runrimport.Timeline, error) {
	timeline, err := runrimport.Read(in)
	if errors.Is(err, runrimport.ErrNoTimeline) {
		return timeline, exit.Problemf(exit.Usage, "%s: %w", what, err)
	}
	return timeline, err
}
