package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/loop/landing"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) landCommand() *cli.Command {
	return &cli.Command{
		Name: "land", Usage: "bring a completed run's result to the branch that is checked out", ArgsUsage: "[RUN]",
		Description: "What is in the way is named and nothing is changed. git runr undo takes a landing back, with what\nwas uncommitted before it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "squash", Usage: "as one commit"},
			&cli.StringFlag{Name: "onto", Usage: "to `BRANCH`, which is not checked out"},
			&cli.BoolFlag{Name: "allow-deletions", Usage: "also when it deletes more than half of the files"},
		},
		Action: p.action(land),
	}
}

// landedJSON is what land prints.
type landedJSON struct {
	*record.Landed
	Files   []string `json:"files"`
	Deleted []string `json:"deleted"` // those of files that are gone, and were not renamed
	Undo    string   `json:"undo,omitempty"`
}

func land(s *session) error {
	store, _, run, err := s.chosenRun()
	if err != nil {
		return err
	}
	how := landing.Spec{Squash: s.Bool("squash"), Onto: s.String("onto"), AllowDeletions: s.Bool("allow-deletions")}
	if store.Repo.IsOwnWorktree() {
		return exit.Problemf(exit.State, "this is the working tree of a run: its result lands in your own checkout").WithHint("cd there, then: " + landAgain("", run, how))
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
	if len(finished) > 0 { // the run may have landed
		if run, err = store.Run(s.ctx, run.ID); err != nil {
			return err
		}
	}
	run, done, err := landing.Land(s.ctx, store, run, how)
	if err != nil {
		return landProblem(run, how, err)
	}
	s.project(s.ctx, store)
	doc := landedJSON{Landed: run.Landed, Files: append([]string{}, done.Files...), Deleted: append([]string{}, done.Deleted...)}
	if done.Operation.Name != "" {
		doc.Undo = "git runr undo"
	}
	return s.print(doc, func(w io.Writer) { writeLanded(w, doc) })
}

func writeLanded(w io.Writer, doc landedJSON) {
	safetext.Fprintf(w, "Landed %s on %s: %s", doc.Commit.Short(), cmp.Or(doc.Branch, "a detached HEAD"), prose.Count(len(doc.Files), "file"))
	if len(doc.Deleted) > 0 {
		safetext.Fprintf(w, ", %d of them deleted:\n", len(doc.Deleted))
		render.Paths(w, "deleted", doc.Deleted)
	} else {
		fmt.Fprintln(w, ".")
	}
	render.Undo(w, doc.Undo)
}

// landAgain is the line that lands run in dir ("" is here) as how says.
func landAgain(dir string, run record.Run, how landing.Spec) string {
	argv := []string{"git", "runr", "land", run.ID}
	if dir != "" {
		argv = slices.Insert(argv, 1, "-C", dir)
	}
	if how.Squash {
		argv = append(argv, "--squash")
	}
	if how.Onto != "" {
		argv = append(argv, "--onto", how.Onto)
	}
	if how.AllowDeletions {
		argv = append(argv, "--allow-deletions")
	}
	if line, ok := safetext.CommandLine(argv...); ok {
		return line
	}
	return "the same command again" // a name that is not fit to be pasted
}

// landProblem says what to type when a result did not land.
func landProblem(run record.Run, how landing.Spec, err error) error {
	state, elsewhere := new(record.StateError), new(gitstore.CheckedOutError)
	switch {
	case errors.As(err, &elsewhere):
		how.Onto = "" // it is what is checked out there
		return exit.Problemf(exit.Conflict, "%w", err).WithHint(landAgain(elsewhere.Dir, run, how))
	case errors.Is(err, gitstore.ErrDeletions):
		from := "HEAD"
		if how.Onto != "" {
			from = switchTo(how.Onto, "")
		}
		how.AllowDeletions = true
		return exit.Problemf(exit.Conflict, "%w", err).WithHint(
			"git diff --stat --diff-filter=D "+from+" "+run.Commit.Short()+"   shows what would go", landAgain("", run, how)+"   lands it all the same")
	case errors.Is(err, gitstore.ErrDirty):
		return exit.Problemf(exit.Conflict, "%w", err).WithHint("commit or stash these files, then: " + landAgain("", run, how))
	case errors.Is(err, gitstore.ErrConflict):
		return exit.Problemf(exit.Conflict, "%w", err).WithHint("merge it by hand: " + onBranch(how.Onto, "git merge "+run.Commit.Short()))
	case errors.Is(err, gitstore.ErrNoChange):
		return exit.Problemf(exit.Nothing, "%w", err)
	case errors.As(err, &state) && run.Stop != nil:
		return exit.Problemf(exit.State, "%w", err).WithHint("git runr answer "+run.ID+" commit   accepts it with its open findings", "git runr resume "+run.ID)
	}
	return err
}
