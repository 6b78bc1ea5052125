package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/follow"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/cmd/git-runr/internal/stdio"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "events in order: all, or those of a run, a review or a commit", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on until the run is over, with what its agents say"},
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "the newest `N`"},
		},
		Action: p.action(showLog),
	}
}

type logJSON struct {
	Events     []render.EventDocument `json:"events"`
	Unreadable []string               `json:"unreadable"` // records that cannot be read
}

func showLog(s *session) error {
	store, what, err := s.openFor("")
	if err != nil {
		return err
	}
	if s.Bool("follow") {
		return follow.Events(s.ctx, store, what, s.printEvent, s.err)
	}
	n := s.Int("limit")
	read := func() ([]record.Event, []error, error) { return follow.About(s.ctx, store, what) }
	if what == "" && n > 0 && !s.json { // where the place of an event among all is not said
		read = func() ([]record.Event, []error, error) { return store.Newest(s.ctx, n) }
	}
	events, bad, err := read()
	if err != nil {
		return err
	}
	shown := events
	if n > 0 && n < len(events) {
		shown = events[len(events)-n:]
	}
	doc := logJSON{Events: render.EventDocuments(events)[len(events)-len(shown):], Unreadable: []string{}}
	for _, err := range bad {
		doc.Unreadable = append(doc.Unreadable, err.Error())
	}
	return s.print(doc, func(w io.Writer) {
		for _, e := range shown {
			render.Event(w, e)
		}
		for _, err := range bad {
			safetext.Fprintf(w, "unreadable: %s\n", err.Error())
		}
	})
}

// printEvent prints one event as it came: a line, or with --json one object a line.
func (c *console) printEvent(e record.Event) error {
	if !c.json {
		return render.Event(c.out, e)
	}
	return stdio.WriteJSON(c.out, render.EventDocuments([]record.Event{e})[0])
}
