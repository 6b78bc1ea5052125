package runrimport

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Import records a timeline as a run here and reports whether it did. A run that was imported before is returned as it
// is, unless again is set. plan holds the local configuration, with HEAD as its base. explain explains the stop, as in
// runner.Runner.
func Import(
	ctx context.Context, s *store.Store, t Timeline, plan runplan.Plan, again bool, explain runner.Explainer,
) (run record.Run, recorded bool, err error) {
	if err := plan.Policy.Check(); err != nil {
		return run, false, err
	}
	t.describe(&plan)
	unlock, err := s.Repo.Lock(ctx, "import")
	if err != nil {
		return run, false, err
	}
	defer unlock()
	if !again {
		run, err = importedBefore(ctx, s, t, plan.Entity)
		if err != nil || run.ID != "" {
			return run, false, err
		}
	}
	now := s.Now().UTC()
	title := cmp.Or(plan.Entity.Name(), t.ID)
	run, err = s.BeginRun(ctx, importSource, title, plan, func(time.Time) (id, at time.Time) { return t.began(now) })
	if err != nil {
		return run, false, fmt.Errorf("import: %w", err)
	}
	events, err := importRun(run, t, now, explain)
	if err == nil {
		run, err = recordImport(ctx, s, run, events)
	}
	return run, true, err
}

// recordImport appends events to a run that no other process knows or may change. So no event has to be decided again
// on a newer state, and the cost of each event stays constant.
func recordImport(ctx context.Context, s *store.Store, run record.Run, events []record.NewEvent) (record.Run, error) {
	unlock, err := workspace.HoldRun(s, run.ID)
	if err != nil {
		return run, err
	}
	defer unlock()
	for _, e := range events {
		if e.Type == record.EventRunStopped.Name || e.Type == record.EventReviewLoopDetected.Name {
			err = workspace.WriteFiles(workspace.FilesDir(s, run.ID), e.Attachments)
		}
		if err == nil {
			run, err = s.NextRunEvent(ctx, run, e)
		}
		if err != nil {
			return run, fmt.Errorf("import: %w", err)
		}
	}
	return run, nil
}

// importedBefore returns the newest run of entity that was imported from t, or the zero Run.
func importedBefore(
	ctx context.Context, s *store.Store, t Timeline, entity runplan.Entity,
) (run record.Run, err error) {
	runs, _, err := s.Runs(ctx, store.Filter{Run: func(r record.RunSummary) bool { return r.Entity == entity }})
	for _, r := range runs {
		if run, err = s.RunByID(ctx, r.ID); err != nil || run.Plan.Imported == t.ID {
			return run, err
		}
	}
	return record.Run{}, err
}

// began returns the time for the id of the run here, and the time of the first event. The first is the time in runr's
// id, so that a user who types that id finds the run.
func (t Timeline) began(now time.Time) (id, at time.Time) {
	at = t.events[0].when(now, now)
	if id, err := time.Parse(record.IDTime, t.ID); err == nil {
		return id, at
	}
	return at, at
}

// when returns the time of an event, or that of the event before it if it has none or a clock that is far ahead.
func (e event) when(before, now time.Time) time.Time {
	if e.At.IsZero() || e.At.After(now.AddDate(1, 0, 0)) {
		return before
	}
	return e.At
}

// describe writes into plan what the run works on: the text of its task, or the file name if only that is recorded.
// No recorded text becomes a command.
func (t Timeline) describe(plan *runplan.Plan) {
	name := ""
	for _, e := range t.events {
		if e.Type == "run_started" && name == "" {
			name = strings.TrimSpace(prose.Cut(e.Task, maxText))
		}
		if base := prose.Cut(e.Base, 64); e.Type == "worktree_created" && strings.Trim(base, "0123456789abcdef") == "" {
			plan.ImportedBase = gitstore.ID(base)
		}
		if n := e.maxRounds(); e.Type == record.EventReviewLoopDetected.Name && n > 0 && n <= 100 {
			plan.Policy.MaxRetries = n
		}
	}
	ext := path.Ext(name)
	isPath := len(name) < 1000 && !strings.Contains(name, "\n") &&
		slices.Contains([]string{".md", ".markdown", ".txt"}, ext)
	task := t.Task
	if task == "" && !isPath {
		task = name
	}
	plan.Imported = t.ID
	plan.Entity = runplan.Entity{Type: "task", Identifier: t.ID, Title: prose.OneLine(runner.TaskTitle(task))}
	if isPath {
		plan.Entity.Identifier = prose.OneLine(strings.TrimSuffix(path.Base(name), ext))
	}
	plan.Task = prose.Cut(task, maxText)
	plan.DoneCriteria = runner.DoneCriteria(plan.Task)
}
