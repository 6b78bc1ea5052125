package main

import (
	"cmp"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "events in order: all, or those of a run, a review or a commit", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on until the run is over, with what its agents say"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "all", Usage: "the newest `N`"},
			&cli.StringFlag{Name: "since", Usage: "only what was recorded since `WHEN`: 7d, 12h, 2026-01-31, or RFC 3339"},
			&cli.BoolFlag{Name: "oneline", Usage: "the record, its run or review, and its title"},
			&cli.BoolFlag{Name: "graph", Usage: "with a lane for each run and review beside"},
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
	n := s.Int("limit")
	if n < 0 {
		return exit.Problemf(exit.Usage, "--limit is not negative; 0 is all")
	}
	wanted := func(record.Event) bool { return true }
	if text := s.String("since"); text != "" {
		since, err := moment(text, s.now(), false)
		if err != nil {
			return err
		}
		wanted = func(e record.Event) bool { return !e.Timestamp.Before(since) }
	}
	switch {
	case s.Bool("follow") && s.Bool("graph"):
		return exit.Problemf(exit.Usage, "--graph wants to know how what it shows ends: not with --follow")
	case s.Bool("follow"):
		return follow.Events(s.ctx, store, what, func(e record.Event) error {
			if !wanted(e) {
				return nil
			}
			return s.printEvent(store.Titled(s.ctx, e))
		}, s.err)
	case what == "" && n > 0 && !s.IsSet("since"):
		return s.showNewest(store, n)
	case what == "" && n == 0 && !s.json && !s.Bool("graph"):
		none := true
		err := s.paged(func(w *screen.Writer) error {
			style := s.eventStyle()
			bad, err := store.EachEvent(s.ctx, func(e record.Event) error {
				none = false
				if !wanted(e) {
					return nil
				}
				return render.Event(w, store.Titled(s.ctx, e), style)
			})
			printUnreadable(w, bad)
			return err
		})
		if none && err == nil {
			s.say("nothing is recorded here yet; git runr review asks for a review")
		}
		return err
	}
	events, bad, err := follow.About(s.ctx, store, what)
	if err != nil {
		return err
	}
	docs := render.EventDocuments(events, 0)
	docs = slices.DeleteFunc(docs, func(d render.EventDocument) bool { return !wanted(d.Event) })
	if n > 0 {
		docs = docs[max(len(docs)-n, 0):]
	}
	return s.printEvents(store, docs, bad)
}

// eventStyle is how events are shown on standard output.
func (s *session) eventStyle() render.EventStyle {
	return render.EventStyle{Now: s.now(), Columns: s.columns(), OneLine: s.Bool("oneline")}
}

// showNewest shows the last n of all events, without reading those before them.
func (s *session) showNewest(store *store.Store, n int) error {
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
	return s.printEvents(store, render.EventDocuments(events, before), bad)
}

// printEvents prints events, and what cannot be read.
func (s *session) printEvents(store *store.Store, docs []render.EventDocument, bad []error) error {
	for i := range docs {
		docs[i].Event = store.Titled(s.ctx, docs[i].Event)
		docs[i].Title = docs[i].Event.Title
	}
	doc := logJSON{Events: docs, Unreadable: []string{}}
	for _, err := range bad {
		doc.Unreadable = append(doc.Unreadable, err.Error())
	}
	return s.printPaged(doc, func(w io.Writer) {
		style := s.eventStyle()
		if s.Bool("graph") {
			events := make([]record.Event, len(docs))
			for i, d := range docs {
				events[i] = d.Event
			}
			style.Lanes = render.NewLanes(events)
		}
		for _, d := range docs {
			render.Event(w, d.Event, style)
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
func (s *session) printEvent(e record.Event) error {
	if s.json {
		return stdio.WriteJSON(s.out, render.EventDocuments([]record.Event{e}, 0)[0])
	}
	w := s.screen()
	return cmp.Or(render.Event(w, e, s.eventStyle()), w.Flush())
}
