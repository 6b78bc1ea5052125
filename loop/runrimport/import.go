package runrimport

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Options say how a run of runr is imported.
type Options struct {
	Again   bool           // also one that was imported before
	Explain loop.Explainer // as loop.Runner's; nil: stops are not explained
}

// Imported is what became of one run of a timeline.
type Imported struct {
	Run      record.Run
	Recorded int  // events that were recorded now; 0 for a run that was here already
	Before   bool // it was imported before, in whole or in part
	Differs  bool // the timeline no longer begins with what was imported before: nothing was recorded
}

// Import records a source's events as those of a run here. plan holds what is configured here, and HEAD as its base.
// A run that was imported before is not imported again. An import that was interrupted goes on where it stopped, and so
// does that of a timeline with an id that has grown since.
func Import(
	ctx context.Context, s *store.Store, source SourceRun, plan runplan.Plan, options Options,
) (Imported, error) {
	if err := plan.Policy.Check(); err != nil {
		return Imported{}, err
	}
	if source.ID == "" {
		source.ID = source.Mark
	}
	unlock, err := s.Repo.Lock(ctx, "import")
	if err != nil {
		return Imported{}, err
	}
	defer unlock()
	found, err := planSource(ctx, s, &plan, source)
	if err != nil {
		return Imported{}, err
	}
	if !options.Again {
		done, here, err := importedBefore(ctx, s, source, plan, found, options)
		if err != nil || here {
			return done, err
		}
	}
	run, err := beginImport(ctx, s, source, plan)
	if err != nil {
		return Imported{Run: run}, fmt.Errorf("import: %w", err)
	}
	made, _, err := importRun(run, source, found, s.Now().UTC(), options.Explain)
	if err != nil {
		return Imported{Run: run}, err
	}
	run, err = recordImport(ctx, s, run, made)
	return Imported{Run: run, Recorded: len(made) + 1}, err
}

func beginImport(ctx context.Context, s *store.Store, source SourceRun, plan runplan.Plan) (record.Run, error) {
	title := cmp.Or(plan.Entity.Name(), source.ID)
	return s.BeginRun(ctx, importSource, title, plan, func(now time.Time) (id, at time.Time) {
		return source.began(now), source.at(0, now)
	})
}

// recordImport appends events to a run that nobody else knows of or may touch: no event has to be decided on again, so
// that the cost of each does not grow.
func recordImport(ctx context.Context, s *store.Store, run record.Run, events []record.NewEvent) (record.Run, error) {
	unlock, err := workspace.HoldRun(s, run.ID)
	if err != nil {
		return run, err
	}
	defer unlock()
	for _, d := range events {
		if d.Type == record.EventRunStopped.Name || d.Type == record.EventReviewLoopDetected.Name {
			if err := workspace.WriteFiles(workspace.FilesDir(s, run.ID), d.Attachments); err != nil {
				return run, fmt.Errorf("import: %w", err)
			}
		}
		if run, err = s.NextRunEvent(ctx, run, d); err != nil {
			return run, fmt.Errorf("import: %w", err)
		}
	}
	return run, nil
}

// importedBefore looks for source among the runs that are here. An import that is there in part is completed, when
// what is there is how the timeline begins.
func importedBefore(
	ctx context.Context, s *store.Store, source SourceRun, plan runplan.Plan, found foundWork, options Options,
) (Imported, bool, error) {
	events, err := newestImport(ctx, s, source, plan.Entity)
	if err != nil || events == nil {
		return Imported{}, false, err
	}
	run, _ := record.FoldRun(events)
	begun, _ := record.FoldRun(events[:1])
	now := s.Now().UTC()
	made, _, err := importRun(begun, source, found, now, options.Explain)
	if err != nil {
		return Imported{}, true, err
	}
	rest, fits := beyond(made, events[1:], now)
	if len(rest) > 0 {
		run, err = recordImport(ctx, s, run, rest)
	}
	return Imported{Run: run, Recorded: len(rest), Before: true, Differs: !fits}, true, err
}

// newestImport returns the events of the newest run that source was imported as, or nil. The run's id or entity tells
// at which runs to look.
func newestImport(
	ctx context.Context, s *store.Store, source SourceRun, entity runplan.Entity,
) ([]record.Event, error) {
	runs, _, err := s.Runs(ctx, store.Filter{})
	if err != nil {
		return nil, err
	}
	prefix := source.began(s.Now()).UTC().Format(record.IDTime) + "-"
	for _, r := range runs {
		if !strings.HasPrefix(r.ID, prefix) && r.Entity != entity {
			continue
		}
		events, err := s.RunEvents(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if run, _ := record.FoldRun(events); run.Plan.Imported == source.ID {
			return events, nil
		}
	}
	return nil, nil
}

// beyond returns the imported events that come after events. They do not fit when neither list is the beginning of the
// other. It compares types and times, because secrets were removed from the recorded events; now is the time of an
// imported event without one.
func beyond(imported []record.NewEvent, events []record.Event, now time.Time) (rest []record.NewEvent, fits bool) {
	for i, e := range events {
		if i == len(imported) {
			return nil, true // the run went on here
		}
		if d := imported[i]; d.Type != e.Type || !d.At.Equal(now) && !d.At.Equal(e.Timestamp) {
			return nil, false
		}
	}
	return imported[len(events):], true
}
