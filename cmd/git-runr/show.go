package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/overview"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/loop/record"
	"git-runr/loop/workspace"
)

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "one run or review in full", ArgsUsage: "[RUN|REVIEW]",
		Action: p.action(func(s *session) error {
			store, id, err := s.openFor(record.Latest)
			if err != nil {
				return err
			}
			if review, err := store.Review(s.ctx, id); err == nil && !hasRun(s, store, id) {
				doc := render.NewReviewDocument(review)
				return s.print(doc, func(w io.Writer) { render.Review(w, doc) })
			}
			return showRun(s)
		}),
	}
}

// hasRun reports whether id names a run; latest is the latest run where there is one.
func hasRun(s *session, store *record.Store, id string) bool {
	_, err := store.Run(s.ctx, id)
	return err == nil
}

func showRun(s *session) error {
	store, id, err := s.openFor(record.Latest)
	if err != nil {
		return err
	}
	run, err := store.Run(s.ctx, id)
	if err != nil {
		return err
	}
	cut, err := overview.CutShort(s.ctx, store, run.ID)
	if err != nil {
		return err
	}
	return s.print(run, func(w io.Writer) {
		render.Run(w, run, workspace.Live(store, run.ID), treeDir(store, run.ID))
		if n := len(run.Rounds); n > 0 {
			render.Words(w, run.Rounds[n-1].Report.Summary, run.Rounds[n-1].Report.Prose())
		}
		writeStop(w, s, store, run)
		render.CutShort(w, cut)
	})
}
