package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
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
	if n < 0 {
		return exit.Problemf(exit.Usage, "--limit is not negative; 0 is all")
	}
	switch {
	case what == "" && n > 0:
		return s.showNewest(store, n)
	case what == "" && !s.json:
		bad, err := store.EachEvent(s.ctx, func(e record.Event) error { return render.Event(s.out, e) })
		printUnreadable(s.out, bad)
		return err
	}
	events, bad, err := follow.About(s.ctx, store, what)
	if err != nil {
		return err
	}
	before := 0
	if n > 0 {
		before = max(len(events)-n, 0)
	}
	return s.printEvents(events[before:], before, bad)
}

// showNewest shows the last n of all events, without reading those before them.
func (s *session) showNewest(store *record.Store, n int) error {
	events, bad, err := store.Newest(s.ctx, n)
	before := 0
	if err == nil && s.json { // which says the place of each among all, and all that cannot be read
		var all int
		all, bad, err = store.CountEvents(s.ctx)
		before = max(all-len(events), 0)
	}
	if err != nil {
		return err
	}
	return s.printEvents(events, before, bad)
}

// printEvents prints events that come after so many others.
func (s *session) printEvents(events []record.Event, before int, bad []error) error {
	doc := logJSON{Events: render.EventDocuments(events, before), Unreadable: []string{}}
	for _, err := range bad {
		doc.Unreadable = append(doc.Unreadable, err.Error())
	}
	return s.print(doc, func(w io.Writer) {
		for _, e := range events {
			render.Event(w, e)
		}
		printUnreadable(w, bad)
	})
}

func printUnreadable(w io.Writer, bad []error) {
	for _, err := range bad {
		safetext.Fprintf(w, "unreadable: %s\n", err.Error())
	}
}

// printEvent prints one event as it came: a line, or with --json one object a line.
func (c *console) printEvent(e record.Event) error {
	if !c.json {
		return render.Event(c.out, e)
	}
	return stdio.WriteJSON(c.out, render.EventDocuments([]record.Event{e}, 0)[0])
}
