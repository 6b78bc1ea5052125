package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

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
		Description: "The timeline's run becomes a run of this repository, with its attempts, results of checks, reviews\n" +
			"and the diagnosis of its stop, at the times that were recorded. Other events are kept as text, in\n" +
			"timeline.jsonl of the run's last event. Checks, agents and rules are those that are configured here:\n" +
			"no recorded command is ever run or suggested. Exit status: 0 imported, however the run ended.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "again", Usage: "import a run once more that was imported before"}},
		Action: p.action(importTimeline),
	}
}

type importJSON struct {
	Run      string           `json:"run_id"`
	From     string           `json:"imported_from"`
	Events   int              `json:"events"`   // of the timeline
	Kept     int              `json:"kept"`     // of those: they are kept as text
	Imported bool             `json:"imported"` // false: the run was here already
	Status   record.RunStatus `json:"status"`
	Reason   string           `json:"stop_reason"`
	Warnings []string         `json:"warnings"`
}

func importTimeline(s *session) error {
	timeline, err := s.readTimeline(s.Args().First())
	if err != nil {
		return err
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	plan, warnings, err := importPlan(s.ctx, conf, store)
	if err != nil {
		return err
	}
	run, imported, err := runrimport.Import(s.ctx, store, timeline, plan, s.Bool("again"), diagnose.Explain)
	if err != nil {
		return err
	}
	s.project(s.ctx, store)
	doc := importJSON{
		Run: run.ID, From: timeline.ID, Events: timeline.Read, Kept: timeline.Kept, Imported: imported,
		Status: run.Status, Warnings: append(append([]string{}, timeline.Warnings...), warnings...),
	}
	if run.Stop != nil {
		doc.Reason = run.Stop.Reason
	}
	for _, warning := range doc.Warnings {
		s.say("%s", warning)
	}
	return s.print(doc, func(w io.Writer) {
		if !imported {
			safetext.Fprintf(w, "Run %s was imported before, as %s: nothing was recorded.\n", doc.From, run.ID)
			safetext.Fprintf(w, "  git runr show %s\n", run.ID)
			return
		}
		kept := ""
		if doc.Kept > 0 {
			kept = fmt.Sprintf(", %d of them kept as text", doc.Kept)
		}
		safetext.Fprintf(w, "Imported %s as %s: %s%s.\n\n", doc.From, run.ID, prose.Count(doc.Events, "event"), kept)
		render.Run(w, run, "")
		writeStop(w, s, store, run)
	})
}

// importPlan returns the configuration of this repository for an imported run, with warnings. Nothing in it comes from
// the timeline.
func importPlan(ctx context.Context, conf *config.Config, store *store.Store) (runplan.Plan, []string, error) {
	plan, err := conf.Plan()
	if err != nil {
		return plan, nil, err
	}
	var warnings []string
	plan.Checks, warnings = conf.Checks()
	plan.Settings = nil // the limits set here did not end the run
	if plan.Implementer == "" {
		warnings = append(warnings, "no implementer is configured: the run can be read but not resumed; "+
			"with one: git runr import --again FILE")
	}
	if plan.Base, err = store.Repo.Head(ctx); err != nil {
		return plan, nil, err
	}
	plan.Target, err = store.Branch(ctx)
	return plan, warnings, err
}

// readTimeline reads a timeline from a file, relative to where the command was started, or from standard input for
// "-".
func (s *session) readTimeline(name string) (timeline runrimport.Timeline, err error) {
	path := s.fromStart(name)
	if info, err := os.Stat(path); name != "-" && err == nil && info.IsDir() {
		hint := safetext.ShellLine("git", "runr", "import", filepath.Join(name, "timeline.jsonl"))
		return timeline, exit.Problemf(exit.Usage, "%q is a directory", name).WithHint(hint)
	}
	in, err := s.openInput(name)
	if err != nil {
		return timeline, err
	}
	defer in.Close()
	timeline, err = runrimport.Read(in)
	if errors.Is(err, runrimport.ErrNoTimeline) {
		return timeline, exit.Problemf(exit.Usage, "%q: %w", name, err)
	}
	if name != "-" {
		timeline.TakeDirectory(path)
	}
	return timeline, err
}
