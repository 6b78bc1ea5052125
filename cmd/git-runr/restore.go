package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/argv"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/loop/landing"
	"git-runr/loop/prose"
	"git-runr/loop/safetext"
)

func (p *program) restoreCommand() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "put files of a snapshot back, or write them elsewhere", ArgsUsage: "SNAPSHOT [-- PATH…]",
		Description: "SNAPSHOT is an id of git runr snapshots or the beginning of one, RUN/N for what attempt N of a run\nleft, or RUN/N-before for what it found. What is overwritten is recorded first: git runr undo brings\nit back. Files that the snapshot has not stay. What cannot be recorded (ignored files, nested\nrepositories) is named and left alone: exit status 3.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "write below `DIR` and leave the working tree alone; nothing there is overwritten"},
			&cli.BoolFlag{Name: "staged", Usage: "what was staged, instead of what the files held"},
		},
		Action: p.action(restore),
	}
}

// restoredJSON is what restore prints.
type restoredJSON struct {
	Snapshot  gitstore.ID `json:"snapshot"`
	To        string      `json:"to,omitempty"`
	Restored  []string    `json:"restored"`
	Conflicts []string    `json:"conflicts"` // left alone
	Undo      string      `json:"undo,omitempty"`
}

func restore(s *session) error {
	names, paths := argv.SplitPaths(s.Args().Slice())
	if len(names) != 1 {
		return exit.Problemf(exit.Usage, "one snapshot is wanted; paths go after --").WithHint("git runr snapshots", "git runr restore SNAPSHOT -- PATH")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	if paths, err = pathsInside(store, paths); err != nil {
		return err
	}
	var done landing.Restored
	doc := restoredJSON{To: s.String("to")}
	if s.IsSet("to") {
		if doc.To == "" {
			return exit.Problemf(exit.Usage, "--to wants a directory")
		}
		done, err = landing.RestoreTo(s.ctx, store, s.fromStart(doc.To), names[0], paths, s.Bool("staged"))
	} else {
		done, err = landing.Restore(s.ctx, store, names[0], paths, s.Bool("staged"))
	}
	s.sayFinished(done.Finished)
	if err != nil {
		return err
	}
	doc.Snapshot, doc.Restored, doc.Conflicts = done.From.ID, append([]string{}, done.Restored...), append([]string{}, done.Conflicts...)
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
		safetext.Fprintf(w, "Restored %s of snapshot %s%s.\n", prose.Count(len(doc.Restored), "file"), doc.Snapshot.Short(), where)
	case doc.Undo != "":
		safetext.Fprintf(w, "Restored what was staged in snapshot %s.\n", doc.Snapshot.Short())
	default:
		safetext.Fprintf(w, "Nothing to restore: the files%s are as in snapshot %s.\n", where, doc.Snapshot.Short())
	}
	render.Paths(w, "restored", doc.Restored)
	render.Paths(w, "in the way, left alone", doc.Conflicts)
	render.Undo(w, doc.Undo)
}
