package runrimport

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Options says how a run of runr is imported.
type Options struct {
	Again   bool             // import a run again that was imported before
	Explain runner.Explainer // as in runner.Runner; nil: stops are not explained
}

// Imported is the result of importing one run of a timeline.
type Imported struct {
	Run      record.Run
	Recorded int // events recorded by this import; 0 for a run that was complete already
}

// Import records a source's events as events of a run here. plan holds the local configuration, with HEAD as its base.
// A run that was imported before is not imported again, except for events after the recorded ones: an interrupted
// import continues where it stopped.
func Import(
	ctx context.Context, s *store.Store, source SourceRun, plan runplan.Plan, options Options,
) (Imported, error) {
	if err := plan.Policy.Check(); err != nil {
		return Imported{}, err
	}
	source.ID = cmp.Or(source.ID, source.Mark)
	source.describe(&plan)
	unlock, err := s.Repo.Lock(ctx, "import")
	if err != nil {
		return Imported{}, err
	}
	defer unlock()
	var run record.Run
	var here []record.Event
	if !options.Again {
		here, err = importedBefore(ctx, s, source, plan.Entity)
	}
	if err == nil && here == nil {
		run, err = beginImport(ctx, s, source, plan)
	}
	if err != nil {
		return Imported{Run: run}, fmt.Errorf("import: %w", err)
	}
	begun := run
	if here != nil {
		run, _ = record.FoldRun(here)
		begun, _ = record.FoldRun(here[:1])
	}
	made, _, err := importRun(begun, source, s.Now().UTC(), options.Explain)
	if err != nil {
		return Imported{Run: run}, err
	}
	recorded := len(made) + 1
	if here != nil {
		made = beyond(made, here[1:])
		recorded = len(made)
	}
	run, err = recordImport(ctx, s, run, made)
	return Imported{Run: run, Recorded: recorded}, err
}

func beginImport(ctx context.Context, s *store.Store, source SourceRun, plan runplan.Plan) (record.Run, error) {
	title := cmp.Or(plan.Entity.Name(), source.ID)
	return s.BeginRun(ctx, importSource, title, plan, func(now time.Time) (id, at time.Time) {
		return source.began(now), source.at(0, now)
	})
}

// recordImport appends events to a run that no other process knows or may change. So no event has to be decided again
// on a newer state, and the cost of each event stays constant.
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

// importedBefore returns the events of the newest run that source was imported as, or nil. It examines only runs with
// the same time in their id or the same entity.
func importedBefore(
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

// beyond returns the imported events after events. It returns none if events are not the beginning of imported, because
// then the run was continued here.
func beyond(imported []record.NewEvent, events []record.Event) []record.NewEvent {
	same := func(n record.NewEvent, e record.Event) bool { return n.Type == e.Type }
	n := len(events)
	if n > len(imported) || !slices.EqualFunc(imported[:n], events, same) {
		return nil
	}
	return imported[n:]
}

// TakeDirectory reads what runr stores beside a timeline: the run's id, which is the name of the directory, and the
// text of its task. timeline is the file's path. Missing data leaves the field unchanged.
func (r *SourceRun) TakeDirectory(timeline string) {
	file, err := filepath.Abs(timeline)
	if err != nil || filepath.Base(file) != "timeline.jsonl" {
		return
	}
	dir := filepath.Dir(file)
	if id := filepath.Base(dir); r.ID == "" && len(id) == 14 && strings.Trim(id, "0123456789") == "" {
		r.ID = id
	}
	task := filepath.Join(dir, "artifacts", "task.md")
	info, err := os.Lstat(task)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return
	}
	if text, err := os.ReadFile(task); err == nil {
		r.Task = strings.ToValidUTF8(string(text), "\uFFFD")
	}
}

// describe writes into plan what the run works on: the text of its task, or the file name if only that is recorded.
// No recorded text becomes a command.
func (r SourceRun) describe(plan *runplan.Plan) {
	name := ""
	for _, e := range r.Events {
		if e.Type == "run_started" && name == "" {
			name = strings.TrimSpace(prose.Cut(e.Task, maxSourceText))
		}
		if n := e.maxRounds(); e.Type == record.EventReviewLoopDetected.Name && n > 0 && n <= 100 {
			plan.Policy.MaxRetries = n
		}
	}
	ext := path.Ext(name)
	isPath := len(name) < 1000 && !strings.Contains(name, "\n") &&
		slices.Contains([]string{".md", ".markdown", ".txt"}, ext)
	task := r.Task
	if task == "" && !isPath {
		task = name
	}
	plan.Imported = r.ID
	plan.Entity = runplan.Entity{Type: "task", Identifier: r.ID, Title: prose.OneLine(runner.TaskTitle(task))}
	if isPath {
		plan.Entity.Identifier = prose.OneLine(strings.TrimSuffix(path.Base(name), ext))
	}
	plan.Task = prose.Cut(task, maxSourceText)
	plan.DoneCriteria = runner.DoneCriteria(plan.Task)
}
