package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) landCommand() *cli.Command {
	return &cli.Command{
		Name: "land", Usage: "bring a completed run's result to your branch", ArgsUsage: "[RUN]",
		Description: `If something is in the way, it is named and nothing is changed. git runr undo takes a landing
back, and restores what was uncommitted before it. Without RUN: the newest run.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "squash", Usage: "land it as one commit"},
			&cli.StringFlag{Name: "onto", Usage: "land on `BRANCH`, which must not be checked out"},
			&cli.BoolFlag{Name: "allow-deletions", Usage: "land even if more than half of the files are deleted"},
		},
		Action: p.onRun(func(*session) bool { return true }, land),
	}
}

type landedJSON struct {
	*record.Landed
	Files   []string `json:"files"`
	Deleted []string `json:"deleted"` // deleted and not renamed
	Undo    string   `json:"undo,omitempty"`
}

func land(s *session, store *store.Store, conf *config.Config, run record.Run) error {
	if s.NArg() == 0 && run.Status == record.RunRunning && !workspace.Live(store, run.ID) {
		return s.newestDied(store, run)
	}
	how := landing.Spec{Squash: s.Bool("squash"), Onto: s.String("onto"), AllowDeletions: s.Bool("allow-deletions")}
	if store.Repo.IsOwnWorktree() {
		return exit.Problemf(exit.State, "this is the working tree of a run: its result lands in your own checkout").
			WithHint("cd there, then: " + how.Line("", run.ID))
	}
	if run.Status == record.RunCompleted && run.Landed == nil {
		if err := workHere(s.ctx, store, run); err != nil {
			return err
		}
	}
	finished, err := landing.Settle(s.ctx, store)
	s.sayFinished(finished)
	if err != nil {
		return err
	}
	if len(finished) > 0 { // it may have landed this run
		if run, err = store.Run(s.ctx, run.ID); err != nil {
			return err
		}
	}
	vouch := conf.Vouch(s.ctx, run)
	run, done, err := landing.Land(s.ctx, store, run, how)
	if tree, treeErr := store.Repo.Checkout(); errors.Is(err, gitstore.ErrDirty) && treeErr == nil && !tree.HasIndex() {
		return exit.Problemf(exit.Conflict, "the index of this checkout is gone, so that git takes every file for deleted").
			WithHint("git reset   makes it anew from HEAD; files stay as they are")
	}
	if err != nil {
		return exit.Classify(err).WithHint(landing.InsteadOfLand(run, how, err, landing.CanAccept(s.ctx, store, run))...)
	}
	vouch(done)
	s.project(s.ctx, store)
	doc := landedJSON{Landed: run.Landed, Files: append([]string{}, done.Files...),
		Deleted: append([]string{}, done.Deleted...)}
	if done.Operation.Name != "" {
		doc.Undo = "git runr undo"
	}
	more, err := store.Repo.Ref(s.ctx, run.Plan.BranchRef())
	return s.print(doc, func(w io.Writer) {
		writeLanded(w, doc)
		if err == nil && more != "" {
			safetext.Fprintf(w, "%s stays: it has commits that are not the run's and did not land.\n", run.Plan.Branch)
		}
	})
}

// newestDied returns an error if no run is named and the newest one died. It lists the runs that can land.
func (s *session) newestDied(records *store.Store, died record.Run) error {
	waits := func(r record.RunSummary) bool { return r.Status == record.RunCompleted && !r.Landed && !r.InPlace }
	runs, _, err := records.Runs(s.ctx, store.Filter{Limit: 3, Some: true, Run: waits})
	if err != nil {
		return err
	}
	then := "no other waits to be landed"
	if len(runs) > 0 {
		then = "name the run to land"
	}
	refused := exit.Problemf(exit.State, "the newest run, %s, died before it was done; %s", died.ID, then)
	for _, run := range runs {
		refused = refused.WithHint("git runr land " + run.ID)
	}
	return refused.WithHint("git runr resume " + died.ID)
}

func writeLanded(w io.Writer, doc landedJSON) {
	if doc.Commit == "" {
		safetext.Fprintf(w, "Nothing to land: %s.\n", doc.Words())
		return
	}
	safetext.Fprintf(w, "Landed %s on %s: %s", doc.Commit.Short(), cmp.Or(doc.Branch, "a detached HEAD"),
		prose.Count(len(doc.Files), "file"))
	if len(doc.Deleted) > 0 {
		safetext.Fprintf(w, ", %d of them deleted:\n", len(doc.Deleted))
		render.Paths(w, "deleted", doc.Deleted)
	} else {
		fmt.Fprintln(w, ".")
	}
	render.Undo(w, doc.Undo)
}
