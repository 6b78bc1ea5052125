package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/screen"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/landing"
	"git-runr/loop/prose"
	"git-runr/loop/safetext"
)

func (p *program) snapshotsCommand() *cli.Command {
	return &cli.Command{
		Name: "snapshots", Usage: "the working trees that are kept: before and after each attempt, land, revert and restore", ArgsUsage: "[RUN]",
		Description: "Newest first: its id, when and why it was taken, and how many files in it differ from the commit\nthat was checked out. They are of this clone only, the ignored files that one keeps also in no\nobject of git's. git runr restore gives files of one back; git runr gc says which of them go, and when.",
		Action:      p.action(snapshots),
	}
}

// snapshotJSON is one line of the list.
type snapshotJSON struct {
	ID    gitstore.ID `json:"snapshot"`
	Name  string      `json:"name"` // as git runr restore takes it
	When  time.Time   `json:"when"`
	Why   string      `json:"why"`
	Head  gitstore.ID `json:"head,omitempty"` // what was checked out
	Files int         `json:"files"`          // that differ from it, -1 when that is not known
	Bytes int64       `json:"bytes"`          // of those
	Error string      `json:"error,omitempty"`
}

func snapshots(s *session) error {
	store, run, err := s.openFor("")
	if err != nil {
		return err
	}
	list, err := landing.Snapshots(s.ctx, store, run)
	if err != nil {
		return err
	}
	doc := struct {
		Snapshots []snapshotJSON `json:"snapshots"`
		Room      int64          `json:"room"`    // bytes of git's objects that nothing but snapshots needs, -1 when that is not known
		Ignored   int64          `json:"ignored"` // bytes of ignored files that are kept, and of the lists of them
	}{make([]snapshotJSON, 0, len(list)), store.Repo.SnapshotRoom(s.ctx), store.Repo.KeptBytes()}
	for _, info := range list {
		line := snapshotJSON{ID: info.ID, Name: info.Name, When: info.When, Why: info.Why, Head: info.Head, Files: info.Files, Bytes: info.Bytes}
		if info.Err != nil {
			line.Error = info.Err.Error()
		}
		doc.Snapshots = append(doc.Snapshots, line)
	}
	return s.print(doc, func(w io.Writer) {
		s.writeSnapshots(w, doc.Snapshots)
		if len(list) > 0 {
			writeRoom(w, doc.Room, doc.Ignored)
		}
	})
}

func (s *session) writeSnapshots(w io.Writer, list []snapshotJSON) {
	if len(list) == 0 {
		fmt.Fprintln(w, "No snapshots are kept here.")
		return
	}
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
	safetext.Fprintf(w, "\nTo look at one, or to put its files back:\n  git runr restore %s --to ../git-runr-restored\n  git runr restore %[1]s -- PATH\n", list[0].ID.Short())
}

// writeRoom says how much room all snapshots of the clone take, and when they go.
func writeRoom(w io.Writer, objects, ignored int64) {
	room := "an unknown size"
	if objects >= 0 {
		room = prose.Bytes(objects)
	}
	safetext.Fprintf(w, "\nAll snapshots of this clone take %s of git's objects, and %s beside them for ignored files and lists.\n", room, prose.Bytes(ignored))
	safetext.Fprintf(w, "Those of a run go with the run; those around landings, reverts and restores after %d days, but not the newest %d.\n"+
		"What goes now: git runr gc --dry-run\n", loop.UndoDays, loop.UndoKept)
}
