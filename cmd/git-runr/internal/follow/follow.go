// Package follow returns the events of a run, a review or a commit, and follows new ones.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// About returns the events of a run, a review or a commit, or all events if what is "". unreadable lists records that
// cannot be read. It returns an exit.Problem if nothing has this name.
func About(ctx context.Context, store *store.Store,
	what string) (events []record.Event, unreadable []error, err error) {
	if what == "" {
		return store.Events(ctx)
	}
	events, err = store.RunEvents(ctx, what)
	if err == nil {
		return events, nil, nil
	}
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 {
		return nil, nil, err
	}
	if events, err = store.ReviewEvents(ctx, what); err == nil || !errors.As(err, &missing) || len(missing.Among) > 0 {
		return events, nil, err
	}
	commit, err := store.CommitNamed(ctx, what)
	if err != nil {
		return nil, nil, NoneOf(missing)
	}
	return store.EventsAbout(ctx, commit)
}

// NoneOf returns the error for a name that is neither a run nor a review nor a commit.
func NoneOf(missing *record.NotFoundError) error {
	return exit.Problemf(exit.NotFound, "there is no run, review or commit %q here", missing.ID).
		WithHint("git runr status", "git runr inbox list --status all")
}

// pollEvery is the interval at which News looks for new events.
const pollEvery = 300 * time.Millisecond

// Events shows the events about what, existing and new ones, each once, until the run is over. For anything other than
// a run it continues until ctx is cancelled, which is not an error. said receives the output of the run's agents.
func Events(ctx context.Context, store *store.Store, what string, show func(record.Event) error, said io.Writer) error {
	if what == "" || what == record.Latest {
		if run, err := store.Run(ctx, record.Latest); err == nil {
			what = run.ID
		}
	}
	f := &follower{store: store, what: what, show: show, said: said, seen: map[gitstore.ID]bool{},
		chatter: map[string]int64{}}
	_, err := steps.Await(ctx, f.showNew, func(over bool) bool { return over })
	if !errors.Is(err, context.Canceled) { // following ends with ^C
		return err
	}
	return nil
}

// News calls tell with everything that any process records from now on, until ctx is cancelled. It retries after read
// errors.
func News(ctx context.Context, store *store.Store, tell func([]record.Event)) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	tips, err := store.Repo.Tips(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err != nil {
			tips, err = store.Repo.Tips(ctx)
			continue
		}
		if news, now, err := store.EventsSince(ctx, tips); err == nil {
			if tips = now; len(news) > 0 {
				tell(news)
			}
		}
	}
}

// follower is the state of following.
type follower struct {
	store   *store.Store
	what    string
	show    func(record.Event) error
	said    io.Writer     // receives agents' output
	tips    gitstore.Tips // how far the logs were read
	seen    map[gitstore.ID]bool
	run     record.Run       // the followed run, if it is a run
	chatter map[string]int64 // how far the files with agents' output were copied
}

// showNew shows the events since the last call. A run that is over was read together with its last event.
func (f *follower) showNew(ctx context.Context) (over bool, err error) {
	news, tips, err := f.store.EventsSince(ctx, f.tips)
	if err != nil {
		return false, err
	}
	if f.tips == nil || len(news) > 0 {
		if news, err = f.about(ctx, news); err != nil {
			return false, err
		}
	}
	f.tips = tips
	for _, e := range news {
		if f.seen[e.ID] {
			continue
		}
		f.seen[e.ID] = true
		if err := f.show(e); err != nil {
			return false, err
		}
	}
	if f.run.ID == "" {
		return false, nil
	}
	for f.copyOutput(ctx) && f.run.Done() { // copy all of it
	}
	return f.run.Done(), nil
}

// about returns all events of the followed run, review or commit, or news if nothing is named, without redacted texts.
func (f *follower) about(ctx context.Context, news []record.Event) ([]record.Event, error) {
	if f.what == "" {
		return f.store.WithoutRedacted(ctx, news)
	}
	events, _, err := About(ctx, f.store, f.what)
	if err == nil {
		events, err = f.store.WithoutRedacted(ctx, events)
	}
	if err != nil {
		return events, err
	}
	if run, _ := record.FoldRun(events); strings.HasPrefix(run.ID, f.what) { // a commit may list a run
		f.run = run
	}
	return events, nil
}

// copyOutput copies agents' output from their files as these grow, and reports whether it copied anything.
func (f *follower) copyOutput(ctx context.Context) (copied bool) {
	names, _ := filepath.Glob(filepath.Join(workspace.FilesDir(f.store, f.run.ID), "*.log"))
	slices.Sort(names)
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		if _, begun := f.chatter[name]; !begun {
			notice, err := f.store.WithheldOutput(ctx, f.run, filepath.Base(name))
			if err != nil || notice != "" { // in place of what the file has by now
				info, _ := file.Stat()
				safetext.Fprintf(f.said, "  | %s\n", cmp.Or(notice, fmt.Sprint(err)))
				f.chatter[name] = info.Size()
			}
		}
		text, _ := io.ReadAll(io.NewSectionReader(file, f.chatter[name], 1<<20))
		file.Close()
		f.chatter[name] += int64(len(text))
		copied = copied || len(text) > 0
		for line := range strings.Lines(string(text)) {
			safetext.Fprintf(f.said, "  | %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return copied
}
