package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "what a run changed, or changed from one attempt to another", ArgsUsage: "[RUN] [N..M] [-- PATH…]",
		Description: "Without attempts: from where the run began to where it stands. 1..2 is what attempt 2 changed\nafter attempt 1; 0 is where the run began.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "files and counts only"},
			&cli.BoolFlag{Name: "words", Usage: "mark what changed within lines"},
		},
		Action: p.action(diff),
	}
}

type diffJSON struct {
	From  gitstore.ID         `json:"from"`
	To    gitstore.ID         `json:"to"`
	Files []gitstore.FileStat `json:"files"`
	Patch string              `json:"patch,omitempty"`
}

// runAndSpan are the run that args name, else the latest, and which of its work: A..B.
func runAndSpan(args []string) (id, span string) {
	id = record.Latest
	for _, a := range args {
		if strings.Contains(a, "..") {
			span = a
		} else {
			id = a
		}
	}
	return id, span
}

func diff(s *session) error {
	args, paths := argv.SplitPaths(s.Args().Slice())
	id, span := runAndSpan(args)
	store, err := s.open()
	if err != nil {
		return err
	}
	run, err := store.Run(s.ctx, id)
	if err == nil {
		err = workHere(s.ctx, store, run)
	}
	if err != nil {
		return err
	}
	doc := diffJSON{}
	if doc.From, doc.To, err = run.Span(span); err != nil {
		return exit.Problemf(exit.NotFound, "%w", err)
	}
	spec := gitstore.DiffSpec{From: doc.From, To: doc.To}
	if spec.Paths, err = pathsInside(store, paths); err != nil {
		return err
	}
	if !s.json && !s.Bool("words") && s.columns() > 0 {
		return s.showDiff(store, spec)
	}
	if doc.Files, err = store.Repo.DiffStat(s.ctx, spec); err != nil {
		return err
	}
	if !s.Bool("stat") {
		patch, _, err := store.Repo.Diff(s.ctx, spec)
		if err != nil {
			return err
		}
		doc.Patch = string(patch)
		if s.Bool("words") {
			doc.Patch = worddiff.Mark(doc.Patch)
		}
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("stat") {
			for _, f := range doc.Files {
				safetext.Fprintf(w, "%6d %6d  %s\n", f.Added, f.Deleted, f.Path)
			}
			return
		}
		s.writePatch(w, doc.Patch)
	})
}

// showDiff shows a person a difference as git does: by the user's settings, in the user's pager.
func (s *session) showDiff(store *store.Store, spec gitstore.DiffSpec) error {
	look := gitstore.DiffLook{Stat: s.Bool("stat"), Columns: s.columns()}
	plain, err := store.Repo.DiffShown(s.ctx, spec, look)
	if err != nil {
		return err
	}
	coloured := plain
	if look.Colours = s.coloured(true); look.Colours {
		if coloured, err = store.Repo.DiffShown(s.ctx, spec, look); err != nil {
			return err
		}
	}
	return s.paged(func(w *screen.Writer) error {
		_, err := io.WriteString(w.Out, screen.Diff(string(plain), string(coloured)))
		return err
	})
}

// writePatch shows a patch; a pipe gets it byte for byte, as from git.
func (c *console) writePatch(w io.Writer, patch string) {
	if tty, _ := stdio.Terminal(c.out); !tty {
		w.Write([]byte(patch))
		return
	}
	safetext.Fprintf(w, "%s", safetext.Block(patch))
}
