package runrimport

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
	"git-runr/loop/workspace"
)

// Options say how a run of another system is imported.
type Options struct {
	Again   bool           // also one that was imported before
	Explain loop.Explainer // as loop.Runner's; nil: stops are not explained
}

// Imported is what became of a source's run.
type Imported struct {
	Run      record.Run
	Recorded int  // events that were recorded now; 0 for a run that was here already
	Before   bool // it was imported before, in whole or in part
	Differs  bool // what was imported before is not what the timeline says now: nothing was recorded
}

// Import records a source's events as native ones of a run of its own. plan
// holds what is configured here, and HEAD as its base. A run that was imported
// before is not imported again; an import that did not come to its end, or a
// timeline that has grown since, goes on where it stopped.
func Import(ctx context.Context, s *record.Store, source SourceRun, plan runplan.Plan, options Options) (Imported, error) {
	if err := plan.Policy.Check(); err != nil {
		return Imported{}, err
	}
	if source.ID == "" {
		source.ID, plan.ImportedLines = source.Mark, source.digest(len(source.raws))
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

func beginImport(ctx context.Context, s *record.Store, source SourceRun, plan runplan.Plan) (record.Run, error) {
	return s.BeginRun(ctx, importSource, cmp.Or(plan.Entity.Name(), source.ID), plan, func(now time.Time) (id, at time.Time) {
		return source.began(now), source.at(0, now)
	})
}

// recordImport appends events to a run that nobody else knows of or may touch: no
// event has to be decided on again, so that the cost of each does not grow.
func recordImport(ctx context.Context, s *record.Store, run record.Run, events []record.NewEvent) (record.Run, error) {
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

// importedBefore looks for source among the runs that are here. One that is there
// in part is completed, when what is there is how the timeline begins.
func importedBefore(ctx context.Context, s *record.Store, source SourceRun, plan runplan.Plan, found foundWork, options Options) (Imported, bool, error) {
	known, err := importsOf(ctx, s, source, plan.Entity)
	if err != nil || len(known) == 0 {
		return Imported{}, false, err
	}
	now := s.Now().UTC()
	result := Imported{Before: true}
	for _, events := range known {
		run, _ := record.FoldRun(events)
		begun, _ := record.FoldRun(events[:1])
		made, _, err := importRun(begun, source, found, now, options.Explain)
		if err != nil {
			return result, true, err
		}
		rest, fits := beyond(made, events[1:], now)
		if !fits && plan.ImportedLines != "" { // without an id it is another run that began alike
			continue
		}
		if result.Run.ID == "" {
			result.Run, result.Differs = run, !fits
		}
		if len(rest) > 0 {
			result.Differs, result.Recorded = false, len(rest)
			result.Run, err = recordImport(ctx, s, run, rest)
			return result, true, err
		}
	}
	return result, result.Run.ID != "", nil
}

// importsOf are the events of each run that source was imported as, newest first.
// Its native id or its entity tells which ones to look at.
func importsOf(ctx context.Context, s *record.Store, source SourceRun, entity runplan.Entity) ([][]record.Event, error) {
	runs, _, err := s.Runs(ctx, record.Filter{})
	if err != nil {
		return nil, err
	}
	var known [][]record.Event
	prefix := source.began(s.Now()).UTC().Format(record.IDTime) + "-"
	for _, r := range runs {
		if !strings.HasPrefix(r.ID, prefix) && r.Entity != entity {
			continue
		}
		events, err := s.RunEvents(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if run, _ := record.FoldRun(events); run.Plan.Imported == source.ID && source.goesOn(run.Plan.ImportedLines) {
			known = append(known, events)
		}
	}
	return known, nil
}

// beyond are the imported that events do not hold yet. It does not fit when neither
// is the beginning of the other. Secrets were taken out of events, so that their
// types and times are what is compared; now is that of imported without a time.
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
