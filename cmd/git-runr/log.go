package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/cmd/git-runr/internal/stdio"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// pollEvery is how often log --follow looks for something new.
const pollEvery = 300 * time.Millisecond

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
		return follow(s, store, what)
	}
	events, bad, err := eventsAbout(s.ctx, store, what)
	if err != nil {
		return err
	}
	shown := events
	if n := s.Int("limit"); n > 0 && n < len(events) {
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

// eventsAbout are the events of a run, a review or a commit; all without a name.
func eventsAbout(ctx context.Context, store *record.Store, what string) ([]record.Event, []error, error) {
	if what == "" {
		return store.Events(ctx)
	}
	events, err := store.RunEvents(ctx, what)
	if err == nil {
		return events, nil, nil
	}
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 {
		return nil, nil, err
	}
	if events, err = store.ReviewEvents(ctx, what); err == nil || !errors.As(err, &missing) {
		return events, nil, err
	}
	commit, err := store.Repo.Resolve(ctx, what)
	if err != nil {
		return nil, nil, exit.Problemf(exit.NotFound, "%q is no run, review or commit here", what)
	}
	all, bad, err := store.Events(ctx)
	return record.EventsOfCommit(all, commit), bad, err
}

// follow prints what is new until the run is over, or for ever.
func follow(s *session, store *record.Store, what string) error {
	if what == "" || what == record.Latest {
		run, err := store.Run(s.ctx, record.Latest)
		if err == nil {
			what = run.ID
		}
	}
	f := &follower{session: s, store: store, what: what, seen: map[gitstore.ID]bool{}, chatter: transcripts{read: map[string]int64{}}}
	for {
		if over, err := f.turn(); err != nil || over {
			return ignoreInterrupt(err)
		}
		if err := sleep(s.ctx, pollEvery); err != nil {
			return ignoreInterrupt(err)
		}
	}
}

// follower is what was followed so far.
type follower struct {
	*session
	store   *record.Store
	what    string
	tips    gitstore.Tips // of the logs, as far as they were read
	seen    map[gitstore.ID]bool
	run     record.Run // what is followed, when it is a run
	chatter transcripts
}

// turn prints what came since the last one. A run that is over was read together with
// its last event.
func (f *follower) turn() (over bool, err error) {
	news, tips, err := f.store.EventsSince(f.ctx, f.tips)
	if err != nil {
		return false, err
	}
	if f.tips == nil || len(news) > 0 {
		if news, err = f.about(news); err != nil {
			return false, err
		}
	}
	f.tips = tips
	for _, e := range news {
		if f.seen[e.ID] {
			continue
		}
		f.seen[e.ID] = true
		if err := f.follow1(e); err != nil {
			return false, err
		}
	}
	if f.run.ID == "" {
		return false, nil
	}
	for f.chatter.copy(f.err, loop.FilesDir(f.store, f.run.ID)) && f.run.Done() { // what was said before the end, to the end
	}
	return f.run.Done(), nil
}

// about are the events about what is followed: all of a run, a review or a commit, or
// without a name the news.
func (f *follower) about(news []record.Event) ([]record.Event, error) {
	if f.what == "" {
		return news, nil
	}
	events, _, err := eventsAbout(f.ctx, f.store, f.what)
	if run, _ := record.FoldRun(events); err == nil && strings.HasPrefix(run.ID, f.what) { // else a run's events may be among those of a commit
		f.run = run
	}
	return events, err
}

// follow1 prints one event as it came: a line, or with --json one object a line.
func (c *console) follow1(e record.Event) error {
	if !c.json {
		return render.Event(c.out, e)
	}
	return stdio.WriteJSON(c.out, render.EventDocuments([]record.Event{e})[0])
}

// ignoreInterrupt: ^C is how following ends.
func ignoreInterrupt(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// transcripts copies what agents write to their files, as it grows.
type transcripts struct{ read map[string]int64 }

// copy reports whether there was anything to copy.
func (t transcripts) copy(w io.Writer, dir string) (copied bool) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	slices.Sort(names)
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.NewSectionReader(file, t.read[name], 1<<20))
		file.Close()
		t.read[name] += int64(len(text))
		copied = copied || len(text) > 0
		for line := range strings.Lines(string(text)) {
			safetext.Fprintf(w, "  | %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return copied
}
