package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

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
		Name: "diff", Usage: "show what a run or a round changed; compare two", ArgsUsage: "[RUN|REVIEW] [N..M] [-- PATH…]",
		Description: `Without attempts: everything that the run changed. 1..2 is what attempt 2 changed after attempt
1; 0 is where the run began. For a review: what its author changed since the previous round, without what only the base
brought. There 1..2 is from round 1 to round 2, and 0 is the base.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "only list files and counts"},
			&cli.BoolFlag{Name: "words", Usage: "mark the changes within lines"},
		},
		Action: p.inRepo(diff),
	}
}

type diffJSON struct {
	From  gitstore.ID         `json:"from"`
	To    gitstore.ID         `json:"to"`
	Files []gitstore.FileStat `json:"files"`
	Patch string              `json:"patch,omitempty"`
	// Clashes are the paths in which the newer base of two rounds changed the same lines.
	Clashes []string `json:"clashes,omitempty"`

	limited []string // the paths to which the review is limited
}

func diff(s *session, store *store.Store) error {
	args, paths := argv.SplitPaths(s.Args().Slice())
	id, span := record.Latest, "" // A..B of attempts
	for _, a := range args {
		if strings.Contains(a, "..") {
			span = a
		} else {
			id = a
		}
	}
	doc, err := s.diffEnds(store, id, span)
	if err != nil {
		return err
	}
	if len(doc.Clashes) > 0 {
		s.say("the base changed the same lines: %s", strings.Join(doc.Clashes, ", "))
	}
	spec := gitstore.DiffSpec{From: doc.From, To: doc.To}
	if spec.Paths, err = pathsInside(store, paths); err != nil {
		return err
	}
	if len(spec.Paths) == 0 {
		spec.Paths = doc.limited
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
				safetext.Fprintf(w, "%6d %6d  %s\n", f.Added, f.Deleted, safetext.Name(f.Path))
			}
			return
		}
		s.writePatch(w, doc.Patch)
	})
}

// diffEnds returns the two ends that git runr diff compares, for a run or a review.
func (s *session) diffEnds(store *store.Store, id, span string) (doc diffJSON, err error) {
	run, err := store.Run(s.ctx, id)
	if err == nil {
		if err := workHere(s.ctx, store, run); err != nil {
			return doc, err
		}
		if doc.From, doc.To, err = run.Span(span); err != nil {
			return doc, exit.Problemf(exit.NotFound, "%w", err)
		}
		return doc, nil
	}
	review, noReview := store.Review(s.ctx, id)
	if noReview != nil {
		return doc, err
	}
	rounds, err := store.Conversation(s.ctx, review)
	if err != nil {
		return doc, err
	}
	to := rounds.Place(review.ID) + 1
	from := to - 1
	if span != "" {
		if n, err := fmt.Sscanf(span+"\n", "%d..%d\n", &from, &to); n != 2 || err != nil || from < 0 || to <= from ||
			to > len(rounds) {
			return doc, exit.Problemf(exit.NotFound, "review %s has no rounds %s: it has %d", review.ID, span, len(rounds))
		}
	}
	doc.limited = rounds[to-1].Request.Subject.Paths
	if doc.To = rounds[to-1].Request.Subject.Tree; from == 0 {
		doc.From, err = store.ComparedWith(s.ctx, rounds[to-1].Request.Subject)
		return doc, err
	}
	since, err := store.Since(s.ctx, rounds[from-1].Request.Subject, rounds[to-1].Request.Subject)
	doc.From, doc.Clashes = since.From, since.Clashes
	return doc, err
}

// showDiff shows a diff as git does: with the user's settings, in the user's pager.
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

// writePatch writes a patch. A pipe gets it byte for byte, as from git.
func (c *console) writePatch(w io.Writer, patch string) {
	if tty, _ := stdio.Terminal(c.out); !tty {
		w.Write([]byte(patch))
		return
	}
	safetext.Fprintf(w, "%s", safetext.Block(patch))
}
