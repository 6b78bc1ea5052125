package app

import (
	"cmp"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list events in order: all, or of a run, a review or a commit", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"},
				Usage: "follow the run until it ends, with the output of its agents"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "all", Usage: "the newest `N`"},
			&cli.StringFlag{Name: "since", Usage: "only events since `WHEN`: 7d, 12h, 2026-01-31 or RFC 3339"},
			&cli.BoolFlag{Name: "oneline", Usage: "one line each: the record, its run or review, its title"},
		},
		Action: p.inRepo(showLog),
	}
}

type logJSON struct {
	Events     []render.EventDocument `json:"events"`
	Unreadable []string               `json:"unreadable"` // records that cannot be read
}

func showLog(s *session, store *store.Store) error {
	what, n := s.arg(""), s.Int("limit")
	wanted := func(record.Event) bool { return true }
	if text := s.String("since"); text != "" {
		since, err := pick.Moment(text, s.now())
		if err != nil {
			return err
		}
		wanted = func(e record.Event) bool { return !e.Timestamp.Before(since) }
	}
	switch {
	case s.Bool("follow"):
		return follow.Events(s.ctx, store, what, func(e record.Event) error {
			if !wanted(e) {
				return nil
			}
			if e = store.Titled(s.ctx, e); s.json { // an object on one line
				return stdio.WriteJSON(s.out, render.EventDocuments([]record.Event{e}, 0)[0])
			}
			w := s.screen()
			return cmp.Or(render.Event(w, e, s.eventStyle()), w.Flush())
		}, s.err)
	case what == "" && n > 0 && !s.IsSet("since"):
		return s.showNewest(store, n)
	case what == "" && n == 0 && !s.json:
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
	if err == nil && len(events) == 0 && what != "" {
		events, err = s.countingEvents(store, what)
	}
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

// countingEvents returns the events of what counts for a commit about which nothing is recorded.
func (s *session) countingEvents(store *store.Store, typed string) ([]record.Event, error) {
	commit, err := store.Repo.Resolve(s.ctx, typed)
	if err != nil {
		return nil, err
	}
	of, err := s.countsFor(store, commit)
	if err == nil && of == "" {
		s.say("nothing is recorded about commit %s here", commit.Short())
	}
	if err != nil || of == "" {
		return nil, err
	}
	events, _, err := follow.About(s.ctx, store, of)
	return events, err
}

// eventStyle returns the style of events on standard output.
func (s *session) eventStyle() render.EventStyle {
	return render.EventStyle{Now: s.now(), Columns: s.columns(), OneLine: s.Bool("oneline")}
}

// showNewest shows the newest n events without reading the earlier ones.
func (s *session) showNewest(store *store.Store, n int) error {
	events, bad, err := store.Newest(s.ctx, n)
	before := 0
	if err == nil && s.json { // JSON has each event's place among all, and all unreadable records
		var all int
		all, bad, err = store.CountEvents(s.ctx)
		before = max(all-len(events), 0)
	}
	if err != nil {
		return err
	}
	return s.printEvents(store, render.EventDocuments(events, before), bad)
}

// printEvents prints events and the records that cannot be read.
func (s *session) printEvents(store *store.Store, docs []render.EventDocument, bad []error) error {
	events := each.Of(docs, func(d render.EventDocument) record.Event { return d.Event })
	events, err := store.WithoutRedacted(s.ctx, events)
	if err != nil {
		return err
	}
	for i := range docs {
		docs[i].Event = store.Titled(s.ctx, events[i])
		docs[i].Title = docs[i].Event.Title
	}
	doc := logJSON{Events: docs, Unreadable: each.Of(bad, error.Error)}
	return s.printPaged(doc, func(w io.Writer) {
		style := s.eventStyle()
		for _, d := range docs {
			render.Event(w, d.Event, style)
		}
		printUnreadable(w, bad)
	})
}

func printUnreadable(w io.Writer, bad []error) {
	screen.Each(w, "unreadable: %s\n", bad)
}
