package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/loop/landing"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) undoCommand() *cli.Command {
	return &cli.Command{
		Name: "undo", Usage: "take back the last land, restore, revert or resume that changed this working tree", ArgsUsage: "[RUN]",
		Description: "With RUN, the last one that was done for that run. What you changed since is named and left alone\n(exit status 3); a branch that went on since is not moved, and then nothing is changed. An undo can\nbe undone: type it again. Each working tree has operations of its own.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "list", Usage: "show what was done here, or for RUN, newest first, and change nothing"}},
		Action:      p.action(undo),
	}
}

// operationJSON is something that was done to a working tree or a branch.
type operationJSON struct {
	ID     string      `json:"id"`
	What   string      `json:"what"` // such as "undo land RUN: on main"
	Run    string      `json:"run_id,omitempty"`
	Branch string      `json:"branch,omitempty"` // that alone was moved
	When   time.Time   `json:"when"`
	Before gitstore.ID `json:"before"` // snapshots
	After  gitstore.ID `json:"after"`
}

func operationDocument(op gitstore.Recorded) operationJSON {
	return operationJSON{
		ID: op.Name, What: op.String(), Run: op.Run, Branch: strings.TrimPrefix(op.Branch, "refs/heads/"),
		When: op.When, Before: op.Before, After: op.After,
	}
}

// undoneJSON is what undo prints.
type undoneJSON struct {
	Took      *operationJSON  `json:"undone,omitempty"`
	Restored  []string        `json:"restored"`
	Conflicts []string        `json:"conflicts"`          // changed since, and left alone
	Finished  []operationJSON `json:"finished,omitempty"` // that a killed process had begun: nothing else was done
	Undo      string          `json:"undo,omitempty"`
}

func undo(s *session) error {
	store, run, err := s.openFor("")
	if err != nil {
		return err
	}
	if s.Bool("list") {
		return s.listOperations(s.ctx, store, run)
	}
	undone, err := landing.Undo(s.ctx, store, run)
	if err != nil {
		return undoProblem(s, store, undone, err)
	}
	s.project(s.ctx, store)
	if len(undone.Finished) > 0 {
		return s.printFinished(undone.Finished)
	}
	took := operationDocument(undone.Took)
	doc := undoneJSON{Took: &took, Restored: append([]string{}, undone.Done.Restored...), Conflicts: append([]string{}, undone.Done.Conflicts...)}
	if undone.Done.Operation.Name != "" {
		doc.Undo = strings.TrimSpace("git runr undo " + run)
	}
	return s.printLeaving(doc, doc.Conflicts, func(w io.Writer) { writeUndone(s.ctx, store, w, undone, doc) })
}

// printFinished is the answer of an undo that ended what killed processes had begun.
func (c *console) printFinished(finished []gitstore.Reverted) error {
	doc := undoneJSON{Restored: []string{}, Conflicts: []string{}}
	for _, done := range finished {
		doc.Finished = append(doc.Finished, operationDocument(done.Operation))
		doc.Conflicts = append(doc.Conflicts, done.Conflicts...)
	}
	return c.printLeaving(doc, doc.Conflicts, func(w io.Writer) {
		for _, done := range finished {
			safetext.Fprintf(w, "%s\n", landing.FinishedText(done))
		}
	})
}

func writeUndone(ctx context.Context, store *record.Store, w io.Writer, undone landing.Undone, doc undoneJSON) {
	safetext.Fprintf(w, "Undone: %s\n", doc.Took.What)
	if moved := undone.Moved(ctx, store); moved != "" {
		safetext.Fprintf(w, "  %s\n", moved)
	}
	if doc.Undo == "" && len(doc.Conflicts) == 0 {
		fmt.Fprintln(w, "  it was so before: nothing else was changed")
	}
	gone := undone.Added(ctx, store)
	render.Paths(w, "restored", slices.DeleteFunc(slices.Clone(doc.Restored), func(path string) bool { return gone[path] }))
	render.Paths(w, "removed", slices.DeleteFunc(slices.Clone(doc.Restored), func(path string) bool { return !gone[path] }))
	render.Paths(w, "changed since, left alone", doc.Conflicts)
	render.Undo(w, doc.Undo)
}

// undoProblem says what to type when a landing was not undone, or not done again.
func undoProblem(s *session, store *record.Store, undone landing.Undone, err error) error {
	if !errors.Is(err, gitstore.ErrConflict) || undone.Took.Kind != gitstore.OpLand {
		return err
	}
	line, lookErr := landing.InsteadOfUndo(s.ctx, store, undone.Took, s.Args().First(), err)
	if lookErr != nil {
		return err
	}
	return exit.Classify(err).WithHint(line)
}

// listOperations shows what was recorded in this working tree.
func (c *console) listOperations(ctx context.Context, store *record.Store, run string) error {
	recorded := store.Repo.Operations
	if run != "" {
		found, err := store.Run(ctx, run)
		if err != nil {
			return err
		}
		run, recorded = found.ID, store.Repo.AllOperations
	}
	list, err := recorded(ctx)
	if err != nil {
		return err
	}
	doc := struct {
		Operations []operationJSON `json:"operations"`
	}{[]operationJSON{}}
	for _, op := range list {
		if run == "" || op.Run == run {
			doc.Operations = append(doc.Operations, operationDocument(op))
		}
	}
	return c.print(doc, func(w io.Writer) {
		for _, op := range doc.Operations {
			safetext.Fprintf(w, "%s  %s  before it: %s\n", op.When.Local().Format(time.DateTime), op.What, op.Before.Short())
		}
		if len(doc.Operations) == 0 {
			fmt.Fprintln(w, "Nothing is recorded that could be undone here.")
		}
	})
}

// sayFinished tells what became of what killed processes had begun.
func (c *console) sayFinished(finished []gitstore.Reverted) {
	for _, done := range finished {
		c.say("%s", landing.FinishedText(done))
	}
}

// restoreLine is what to type for what was in a run's removed worktree and in no
// commit; left is its snapshot, "" for nothing.
func restoreLine(run string, left gitstore.ID) string {
	if left == "" {
		return ""
	}
	return "git runr restore " + left.Short() + " --to ../" + run
}

func writeLeft(w io.Writer, restore string) {
	if restore != "" {
		safetext.Fprintf(w, "What was in its worktree and in no commit is kept:\n  %s\n", restore)
	}
}
