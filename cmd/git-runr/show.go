package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "one run or review in full, or what is recorded of a commit", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Description: "The newest run without an argument. Of a review: its comments as Markdown for an agent or a person to\n" +
			"address, each finding with its id, what became of it, and where it is now when the code has moved.\n" +
			"--steps is the timeline of a run: attempts with their files, checks, reviews, stops and what people did;\n" +
			"totals; and where the output of each check is kept. With --md it is for a pull request.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "steps", Usage: "what a run did, step by step, and how long it took"},
			&cli.BoolFlag{Name: "md", Usage: "the steps as Markdown"},
			&cli.BoolFlag{Name: "only-review", Hidden: true, Usage: "a review alone, the newest without an argument"},
		},
		Action: p.action(show),
	}
}

func show(s *session) error {
	if s.Bool("md") && s.json {
		return exit.Problemf(exit.Usage, "use either --md or --json, not both")
	}
	store, typed, err := s.openFor(record.Latest)
	if err != nil {
		return err
	}
	if s.Bool("only-review") {
		review, err := store.Review(s.ctx, typed)
		if err != nil {
			return err
		}
		return s.showPlaced(store, review)
	}
	if s.Bool("steps") || s.Bool("md") {
		return s.showSteps(store, typed)
	}
	run, review, err := store.RunOrReview(s.ctx, typed)
	if err != nil {
		return err
	}
	if run != nil {
		return s.showRun(store, *run)
	}
	return s.showPlaced(store, *review)
}

// showPlaced shows a review with its findings where their code is now.
func (s *session) showPlaced(store *store.Store, review record.Review) error {
	doc := s.reviewDocument(store, review)
	if err := doc.Place(s.ctx, store); err != nil {
		return err
	}
	return s.printPaged(doc, func(w io.Writer) { render.Review(w, doc) })
}

// runJSON is a run in full, with what is known of its task's done criteria.
type runJSON struct {
	record.Run
	Criteria []diagnose.Criterion `json:"criteria,omitempty"`
}

// showRun shows a run in full.
func (s *session) showRun(store *store.Store, run record.Run) error {
	cut, err := overview.CutShort(s.ctx, store, run.ID)
	if err != nil {
		return err
	}
	doc := runJSON{run, diagnose.Criteria(run)}
	return s.printPaged(doc, func(w io.Writer) {
		live := workspace.Live(store, run.ID)
		render.Run(w, run, live, treeDir(store, run.ID))
		if n := len(run.Rounds); n > 0 {
			render.Words(w, run.Rounds[n-1].Report.Summary, run.Rounds[n-1].Report.Prose())
		}
		render.Criteria(w, doc.Criteria)
		writeStop(w, s, store, run)
		render.CutShort(w, cut)
		if next := overview.Next(run, live, cut); run.Stop == nil && next != "" {
			screen.Next(w, next)
		}
	})
}

// showSteps shows the timeline of a run.
func (s *session) showSteps(store *store.Store, typed string) error {
	named, err := store.Run(s.ctx, typed)
	if err != nil {
		return err
	}
	events, err := store.RunEvents(s.ctx, named.ID)
	if err != nil {
		return err
	}
	run, unreadable := record.FoldRun(events)
	for _, why := range unreadable {
		s.say("%v", why)
	}
	in, err := diagnose.ReadReport(s.ctx, store, run, events)
	if err != nil {
		return err
	}
	report := diagnose.NewReport(in)
	return s.print(report, func(w io.Writer) {
		if s.Bool("md") {
			safetext.Fprintf(w, "%s", safetext.Block(report.Markdown()))
			return
		}
		screen.Document(w, report.Text())
	})
}
