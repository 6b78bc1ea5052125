package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/overview"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/cmd/git-runr/internal/screen"
	"git-runr/diagnose"
	"git-runr/loop/record"
	"git-runr/loop/workspace"
)

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "one run or review in full", ArgsUsage: "[RUN|REVIEW]",
		Action: p.action(func(s *session) error {
			store, typed, err := s.openFor(record.Latest)
			if err != nil {
				return err
			}
			run, review, err := store.RunOrReview(s.ctx, typed)
			if err != nil {
				return err
			}
			if run != nil {
				return s.showRun(store, *run, s.printPaged)
			}
			doc := s.reviewDocument(store, *review)
			return s.printPaged(doc, func(w io.Writer) { render.Review(w, doc) })
		}),
	}
}

// runJSON is a run in full, with what is known of its task's done criteria.
type runJSON struct {
	record.Run
	Criteria []diagnose.Criterion `json:"criteria,omitempty"`
}

// showRun shows a run in full.
func (s *session) showRun(store *record.Store, run record.Run, show func(doc any, write func(io.Writer)) error) error {
	cut, err := overview.CutShort(s.ctx, store, run.ID)
	if err != nil {
		return err
	}
	doc := runJSON{run, diagnose.Criteria(run)}
	return show(doc, func(w io.Writer) {
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
