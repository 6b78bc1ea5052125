package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) undoCommand() *cli.Command {
	return &cli.Command{
		Name: "undo", Usage: "undo a land or revert, or put files back from a snapshot", ArgsUsage: "[RUN] [-- PATH…]",
		Description: `Undoes the last land, revert, resume or undo --to in this working tree, or with RUN the last one
for that run. Files that you changed since are named and left alone (exit status 3); if a branch has moved on, nothing
is changed. Type it again to undo the undo.

--list lists the operations here, and the snapshots that this clone keeps: the working tree before and after each
attempt and operation. --to puts files back as they are in SNAPSHOT: an id from that list or its beginning, RUN/N for
what attempt N of a run left, or RUN/N-before for what it found. Files are recorded before they are overwritten; files
that the snapshot does not have stay. Files that cannot be recorded (ignored files, nested repositories) are named and
left alone (exit status 3).`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "list what can be undone or put back, newest first; with RUN, only of that run"},
			&cli.StringFlag{Name: "to", Usage: "put back all files of `SNAPSHOT`, or only PATH"},
			&cli.StringFlag{Name: "into", Usage: "with --to: write below `DIR` instead of the working tree; overwrites nothing"},
			&cli.BoolFlag{Name: "staged", Usage: "with --to: the staged content instead of that of the files"},
			&cli.BoolFlag{Name: "snapshot", Hidden: true, Usage: "the argument is what --to names"},
		},
		Action: p.inRepo(undo),
	}
}

// operationJSON is one operation on a working tree or a branch.
type operationJSON struct {
	ID     string      `json:"id"`
	What   string      `json:"what"` // such as "undo land RUN: on main"
	Run    string      `json:"run_id,omitempty"`
	Branch string      `json:"branch,omitempty"` // set if the operation moved only this branch
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

type undoneJSON struct {
	Took      *operationJSON  `json:"undone,omitempty"`
	Restored  []string        `json:"restored"`
	Conflicts []string        `json:"conflicts"`          // changed since, so left alone
	Finished  []operationJSON `json:"finished,omitempty"` // operations that killed processes began; no other was undone
	Undo      string          `json:"undo,omitempty"`
}

func undo(s *session, store *store.Store) error {
	names, paths := argv.SplitPaths(s.Args().Slice())
	if s.Bool("snapshot") || s.IsSet("to") {
		return s.restore(store, names, paths)
	}
	if len(paths) > 0 || s.IsSet("into") || s.Bool("staged") {
		return exit.Problemf(exit.Usage, "PATH, --into and --staged need --to").
			WithHint("git runr undo --list", "git runr undo --to SNAPSHOT -- PATH")
	}
	run := strings.Join(names, "")
	if s.Bool("list") {
		return s.listUndo(store, run)
	}
	undone, err := landing.Undo(s.ctx, store, run)
	if errors.Is(err, gitstore.ErrConflict) && undone.Took.Kind == gitstore.OpLand {
		if line, failed := landing.InsteadOfUndo(s.ctx, store, undone.Took, s.Args().First(), err); failed == nil {
			return exit.Classify(err).WithHint(line)
		}
	}
	if err != nil {
		return err
	}
	s.project(s.ctx, store)
	if len(undone.Finished) > 0 { // then nothing else was undone
		doc := undoneJSON{Restored: []string{}, Conflicts: []string{}}
		for _, done := range undone.Finished {
			doc.Finished = append(doc.Finished, operationDocument(done.Operation))
			doc.Conflicts = append(doc.Conflicts, done.Conflicts...)
		}
		return s.printLeaving(doc, doc.Conflicts, func(w io.Writer) {
			for _, done := range undone.Finished {
				safetext.Fprintf(w, "%s\n", landing.FinishedText(done))
			}
		})
	}
	took := operationDocument(undone.Took)
	doc := undoneJSON{Took: &took, Restored: append([]string{}, undone.Done.Restored...),
		Conflicts: append([]string{}, undone.Done.Conflicts...)}
	again := strings.TrimSpace("git runr undo " + run)
	if undone.Done.Operation.Name != "" {
		doc.Undo = again
	}
	return s.printLeaving(doc, doc.Conflicts, func(w io.Writer) { writeUndone(s.ctx, store, w, undone, doc, again) })
}

func writeUndone(ctx context.Context, store *store.Store, w io.Writer, undone landing.Undone, doc undoneJSON,
	again string) {
	what := "Undone: " + doc.Took.What
	if again, twice := strings.CutPrefix(doc.Took.What, "undo "); twice { // the second undo does it again
		what = "Done again: " + again
	}
	safetext.Fprintf(w, "%s\n", what)
	if moved := undone.Moved(ctx, store); moved != "" {
		safetext.Fprintf(w, "  %s\n", moved)
	}
	screen.When(w, doc.Undo == "" && len(doc.Conflicts) == 0, "  it was already so: nothing else was changed\n")
	screen.When(w, undone.Earlier, "To undo what was done before it:\n  %s\n", again)
	gone := undone.Added(ctx, store)
	render.Paths(w, "restored", slices.DeleteFunc(slices.Clone(doc.Restored), func(path string) bool {
		return gone[path]
	}))
	render.Paths(w, "removed", slices.DeleteFunc(slices.Clone(doc.Restored), func(path string) bool {
		return !gone[path]
	}))
	render.Paths(w, "changed since, left alone", doc.Conflicts)
	render.Undo(w, doc.Undo)
}

type undoListJSON struct {
	Operations []operationJSON `json:"operations"`
	Snapshots  []snapshotJSON  `json:"snapshots"`
	Room       int64           `json:"room"`    // bytes of git objects that only snapshots need, -1 if unknown
	Ignored    int64           `json:"ignored"` // bytes of the kept ignored files and their lists
}

type snapshotJSON struct {
	ID    gitstore.ID `json:"snapshot"`
	Name  string      `json:"name"` // accepted by git runr undo --to
	When  time.Time   `json:"when"`
	Why   string      `json:"why"`
	Head  gitstore.ID `json:"head,omitempty"` // the commit that was checked out
	Files int         `json:"files"`          // files that differ from Head, -1 if unknown
	Bytes int64       `json:"bytes"`          // of these files
	Error string      `json:"error,omitempty"`
}

// listUndo shows the operations in this working tree and the snapshots of this clone, or those of run.
func (s *session) listUndo(store *store.Store, run string) error {
	recorded := store.Repo.Operations
	if run != "" {
		found, err := store.Run(s.ctx, run)
		if err != nil {
			return err
		}
		run, recorded = found.ID, store.Repo.AllOperations
	}
	doc := undoListJSON{
		Operations: []operationJSON{}, Snapshots: []snapshotJSON{}, Room: store.Repo.SnapshotRoom(s.ctx),
		Ignored: store.Repo.KeptBytes(),
	}
	list, err := recorded(s.ctx)
	if err != nil {
		return err
	}
	for _, op := range list {
		if run == "" || op.Run == run {
			doc.Operations = append(doc.Operations, operationDocument(op))
		}
	}
	kept, err := landing.Snapshots(s.ctx, store, run)
	if err != nil {
		return err
	}
	for _, info := range kept {
		line := snapshotJSON{
			ID: info.ID, Name: info.Name, When: info.When, Why: info.Why, Head: info.Head, Files: info.Files, Bytes: info.Bytes,
		}
		if info.Err != nil {
			line.Error = info.Err.Error()
		}
		doc.Snapshots = append(doc.Snapshots, line)
	}
	return s.print(doc, func(w io.Writer) {
		for _, op := range doc.Operations {
			safetext.Fprintf(w, "%s  %s  before it: %s\n", op.When.Local().Format(time.DateTime), op.What, op.Before.Short())
		}
		screen.When(w, len(doc.Operations) == 0, "There is nothing to undo here.\n")
		s.writeSnapshots(w, doc.Snapshots)
		if len(kept) == 0 {
			return
		}
		room := "an unknown size"
		if doc.Room >= 0 {
			room = prose.Bytes(doc.Room)
		}
		safetext.Fprintf(w,
			"\nAll snapshots of this clone take %s of git's objects, and %s beside them for ignored files and lists.\n"+
				"gc removes those of a run with the run, and those of landings, reverts and restores after %d days, except the "+
				"newest %d.\n"+
				"To see what gc would remove now: git runr gc --dry-run\n", room, prose.Bytes(doc.Ignored), loop.UndoDays,
			loop.UndoKept)
	})
}

func (s *session) writeSnapshots(w io.Writer, list []snapshotJSON) {
	if len(list) == 0 {
		fmt.Fprintln(w, "No snapshots are kept here.")
		return
	}
	fmt.Fprintln(w, "\nSnapshots:")
	rows := make([][]screen.Cell, len(list))
	for i, snap := range list {
		size := fmt.Sprintf("%s, %s", prose.Count(snap.Files, "file"), prose.Bytes(snap.Bytes))
		switch {
		case snap.Error != "":
			size = "damaged"
		case snap.Files < 0:
			size = "?"
		}
		when := screen.Faint.Of(snap.When.Local().Format(time.DateTime))
		rows[i] = screen.Cells(screen.Name.Of(snap.ID.Short()), when, screen.Plain.Of(size), screen.Plain.Of(snap.Why))
	}
	screen.Table(w, s.columns(), rows)
	safetext.Fprintf(w,
		"\nThe counts are of files that differ from the commit of that time; --into writes all files.\n"+
			"To look at one, or to put its files back:\n  git runr undo --to %s --into ../git-runr-restored\n"+
			"  git runr undo --to %[1]s -- PATH\n", list[0].ID.Short())
}

type restoredJSON struct {
	Snapshot  gitstore.ID `json:"snapshot"`
	To        string      `json:"to,omitempty"`
	Restored  []string    `json:"restored"`
	Conflicts []string    `json:"conflicts"` // in the way, so left alone
	Undo      string      `json:"undo,omitempty"`
}

// restore puts files of a snapshot back. --to names the snapshot, or with --snapshot the only element of names.
func (s *session) restore(store *store.Store, names, paths []string) (err error) {
	if s.IsSet("to") {
		names = append(names, s.String("to"))
	}
	if len(names) != 1 || s.Bool("list") {
		return exit.Problemf(exit.Usage, "--to takes one snapshot; paths go after --").
			WithHint("git runr undo --list", "git runr undo --to SNAPSHOT -- PATH")
	}
	if paths, err = pathsInside(store, paths); err != nil {
		return err
	}
	var done landing.Restored
	doc := restoredJSON{To: s.String("into")}
	if s.IsSet("into") {
		done, err = landing.RestoreTo(s.ctx, store, s.fromStart(doc.To), names[0], paths, s.Bool("staged"))
	} else {
		done, err = landing.Restore(s.ctx, store, names[0], paths, s.Bool("staged"))
	}
	s.sayFinished(done.Finished)
	if done.From.ID == "" && errors.Is(err, gitstore.ErrNotFound) {
		return exit.Problemf(exit.NotFound, "%w", err).WithHint("git runr undo --list")
	}
	if err != nil {
		return err
	}
	doc.Snapshot, doc.Restored, doc.Conflicts = done.From.ID, append([]string{}, done.Restored...),
		append([]string{}, done.Conflicts...)
	if done.Operation.Name != "" {
		doc.Undo = "git runr undo"
	}
	return s.printLeaving(doc, doc.Conflicts, func(w io.Writer) { writeRestored(w, doc) })
}

func writeRestored(w io.Writer, doc restoredJSON) {
	where := ""
	if doc.To != "" {
		where = " in " + doc.To
	}
	switch {
	case len(doc.Restored) > 0:
		safetext.Fprintf(w, "Restored %s of snapshot %s%s.\n", prose.Count(len(doc.Restored), "file"), doc.Snapshot.Short(),
			where)
	case doc.Undo != "":
		safetext.Fprintf(w, "Restored what was staged in snapshot %s.\n", doc.Snapshot.Short())
	default:
		safetext.Fprintf(w, "Nothing to restore: the files%s are as in snapshot %s.\n", where, doc.Snapshot.Short())
	}
	render.Paths(w, "restored", doc.Restored)
	render.Paths(w, "in the way, left alone", doc.Conflicts)
	render.Undo(w, doc.Undo)
}

// sayFinished prints how operations of killed processes were finished.
func (c *console) sayFinished(finished []gitstore.Reverted) {
	for _, done := range finished {
		c.say("%s", landing.FinishedText(done))
	}
}

// restoreLine returns the command that restores uncommitted work of a run's removed worktree. left is its snapshot,
// "" if there was none.
func restoreLine(run string, left gitstore.ID) string {
	if left == "" {
		return ""
	}
	return "git runr undo --to " + left.Short() + " --into ../" + run
}

func (p *program) landCommand() *cli.Command {
	return &cli.Command{
		Name: "land", Usage: "bring a completed run's result to your branch", ArgsUsage: "[RUN]",
		Description: `If something is in the way, it is named and nothing is changed. git runr undo takes a landing
back, and restores what was uncommitted before it. Without RUN: the newest run.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "squash", Usage: "land it as one commit"},
			&cli.StringFlag{Name: "onto", Usage: "land on `BRANCH`, which no other worktree has checked out"},
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
	if err != nil && run.Landed != nil && run.Landed.Branch == "" && run.Landed.Commit != "" {
		return exit.Classify(err).WithHint(keepLine(run.Landed) + "   puts what landed on a detached HEAD on a branch")
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
			why := "it has commits that are not the run's and did not land"
			if more == run.Commit {
				why = "it is checked out in a working tree"
			}
			safetext.Fprintf(w, "%s stays: %s.\n", run.Plan.Branch, why)
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

// keepLine returns the command that keeps what landed on a detached HEAD on a branch.
func keepLine(l *record.Landed) string { return "git switch -c NAME " + l.Commit.Short() }

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
	screen.When(w, doc.Branch == "", "HEAD is detached, so no branch has the work. Keep it on a new one:\n  %s\n",
		keepLine(doc.Landed))
	render.Undo(w, doc.Undo)
}
