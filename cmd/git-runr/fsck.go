package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
)

func (p *program) fsckCommand() *cli.Command {
	return &cli.Command{
		Name: "fsck", Usage: "check every record; --rebuild makes cache and notes again",
		Description: "Names every record that is missing or damaged, with what is attached to it; the others can be used.\nEnds with 3 when there is one. git runr sync fetches from the remote what is missing or damaged here. What it\ndid not take over is named too.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "rebuild", Usage: "make the cache and the notes again from the logs"}},
		Action:      p.action(fsck),
	}
}

type fsckJSON struct {
	Events     int      `json:"events"`
	Unreadable []string `json:"unreadable"`
	Rebuilt    bool     `json:"rebuilt"`
	// NotTaken are the logs of remotes that git runr sync left where they are.
	NotTaken []gitstore.Rejection `json:"not_taken,omitempty"`
}

func fsck(s *session) error {
	collect(longGC) // what all notes say is held
	store, err := s.open()
	if err != nil {
		return err
	}
	events, bad, err := store.Check(s.ctx, s.Bool("rebuild"))
	if err != nil {
		return err
	}
	doc := fsckJSON{Events: events, Unreadable: []string{}, Rebuilt: s.Bool("rebuild")}
	for _, err := range bad {
		doc.Unreadable = append(doc.Unreadable, err.Error())
	}
	for _, remote := range store.Repo.Remotes() {
		left, err := share.Left(s.ctx, store, remote)
		if err != nil {
			return err
		}
		doc.NotTaken = append(doc.NotTaken, left...)
	}
	return s.printLeaving(doc, doc.Unreadable, func(w io.Writer) {
		safetext.Fprintf(w, "%s, %d unreadable.\n", prose.Count(doc.Events, "event"), len(doc.Unreadable))
		render.Lines(w, doc.Unreadable)
		writeNotTaken(w, doc.NotTaken)
	})
}
