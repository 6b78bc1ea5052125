package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/overview"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/cmd/git-runr/internal/screen"
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
			run, review, err := runOrReview(s.ctx, store, typed)
			if err != nil {
				return err
			}
			if run != nil {
				return s.showRun(store, *run, s.printPaged)
			}
			doc := render.NewReviewDocument(*review)
			return s.printPaged(doc, func(w io.Writer) { render.Review(w, doc) })
		}),
	}
}

// runOrReview is what was typed: a run, of which latest is one where there is any, else a review;
// one of them is nil.
func runOrReview(ctx context.Context, store *record.Store, typed string) (*record.Run, *record.Review, error) {
	run, err := store.RunByID(ctx, typed)
	if err == nil {
		return &run, nil, nil
	}
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 {
		return nil, nil, err
	}
	review, err := store.ReviewByID(ctx, typed)
	if err == nil || !errors.As(err, &missing) || len(missing.Among) > 0 {
		return nil, &review, err
	}
	of, err := store.OfCommit(ctx, typed)
	missing = &record.NotFoundError{What: "run or review", ID: typed, Older: missing.Older, Where: missing.Where, Among: of}
	if err != nil || len(of) != 1 {
		return nil, nil, cmp.Or(err, error(missing))
	}
	return runOrReview(ctx, store, of[0].ID)
}

// showRun shows a run in full.
func (s *session) showRun(store *record.Store, run record.Run, show func(doc any, write func(io.Writer)) error) error {
	cut, err := overview.CutShort(s.ctx, store, run.ID)
	if err != nil {
		return err
	}
	return show(run, func(w io.Writer) {
		live := workspace.Live(store, run.ID)
		render.Run(w, run, live, treeDir(store, run.ID))
		if n := len(run.Rounds); n > 0 {
			render.Words(w, run.Rounds[n-1].Report.Summary, run.Rounds[n-1].Report.Prose())
		}
		writeStop(w, s, store, run)
		render.CutShort(w, cut)
		if next := nextOf(run, live, cut); run.Stop == nil && next != "" {
			screen.Next(w, next)
		}
	})
}
