package loop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
	"git-runr/loop/record"
)

// foundWork is what of a foreign run's commits is in this repository.
type foundWork struct {
	base    gitstore.ID                 // where the run began; "" when that is not known here
	commits map[string]gitstore.ID      // checkpoints that go on from base, by their recorded id
	trees   map[gitstore.ID]gitstore.ID // of those commits
}

// planForeign completes plan, which holds what is configured here and HEAD as its
// base, by what the other system recorded. Nothing recorded becomes a command.
func planForeign(ctx context.Context, s *record.Store, plan *record.RunPlan, foreign ForeignRun) (foundWork, error) {
	found, err := findWork(ctx, s, foreign)
	if err != nil {
		return found, err
	}
	if found.base != "" {
		plan.Base = found.base
	}
	plan.Imported = foreign.ID
	task := foreign.Task
	name := foreign.taskName()
	if task == "" {
		if task, err = taskFile(ctx, s, plan.Base, foreign, name); err != nil {
			return found, err
		}
	}
	foreign.describe(plan, name, task)
	return found, nil
}

// describe says what the run works on.
func (f ForeignRun) describe(plan *record.RunPlan, name, task string) {
	milestones, goals := f.milestones()
	if task == "" && !isTaskPath(name) {
		task = name
	}
	plan.Entity = record.Entity{Type: "task", Identifier: f.ID, Title: prose.OneLine(TaskTitle(task))}
	if isTaskPath(name) {
		plan.Entity.Identifier = prose.OneLine(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	}
	if plan.Entity.Title == "" && len(goals) > 0 {
		plan.Entity.Title = prose.OneLine(goals[0])
	}
	plan.Task = prose.Cut(task, maxForeignText)
	if plan.DoneCriteria = milestones; plan.Task != "" {
		plan.DoneCriteria = strings.TrimSpace(DoneCriteria(plan.Task) + "\n\n" + milestones)
	}
	if plan.Task == "" {
		plan.Task = strings.TrimSpace(plan.Entity.Title + "\n\n" + milestones)
	}
	for _, e := range f.Events {
		if n := e.fields.maxRounds(); e.Type == record.ReviewLoopDetected && n > 0 && n <= 100 {
			plan.Policy.MaxRetries = n
		}
	}
}

// taskName is the task as run_started has it: the path of a file or a text.
func (f ForeignRun) taskName() string {
	for _, e := range f.Events {
		if e.Type == foreignStarted {
			if name := strings.TrimSpace(e.fields.text("task", "task_path")); name != "" {
				return prose.Cut(name, maxForeignText)
			}
		}
	}
	return ""
}

func isTaskPath(name string) bool {
	ext := path.Ext(name)
	return len(name) < 1000 && !strings.Contains(name, "\n") && (ext == ".md" || ext == ".markdown" || ext == ".txt")
}

// taskFile is the task file as the run's base has it; "" when it has none. Only
// what is committed is read: the path is a stranger's.
func taskFile(ctx context.Context, s *record.Store, base gitstore.ID, foreign ForeignRun, name string) (string, error) {
	if !isTaskPath(name) {
		return "", nil
	}
	for _, e := range foreign.Events {
		for _, key := range []string{"git_root", "repo_path"} {
			if root := e.fields.object("repo").text(key); e.Type == foreignStarted && root != "" {
				name = strings.TrimPrefix(name, strings.TrimSuffix(root, "/")+"/")
			}
		}
	}
	if name = path.Clean(name); place.Unsafe(name) != "" {
		return "", nil
	}
	text, err := s.Repo.Blob(ctx, base, name)
	if errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrTooLarge) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read task file: %w", err)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// milestones are those of the newest plan, as text for a prompt, and their goals.
func (f ForeignRun) milestones() (text string, goals []string) {
	for _, e := range f.Events {
		if e.Type != foreignPlan {
			continue
		}
		var b strings.Builder
		goals = nil
		for i, m := range e.fields.objects("milestones") {
			goal := prose.Cut(strings.Join(strings.Fields(m.text("goal")), " "), 4<<10)
			goals = append(goals, goal)
			fmt.Fprintf(&b, "%d. %s\n", i+1, goal)
			writeItems(&b, "files", m.paths("files_expected"))
			writeItems(&b, "done when", m.lines("done_checks"))
		}
		text = prose.Cut(strings.TrimSpace(b.String()), maxForeignText)
	}
	return text, goals
}

func writeItems(b *strings.Builder, what string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "   %s: %s\n", what, strings.Join(items, "; "))
	}
}

// findWork looks for the run's commits in this repository.
func findWork(ctx context.Context, s *record.Store, foreign ForeignRun) (foundWork, error) {
	found := foundWork{commits: map[string]gitstore.ID{}, trees: map[gitstore.ID]gitstore.ID{}}
	var err error
	for _, e := range foreign.Events {
		if found.base == "" && planTypes[e.Type] {
			if found.base, err = commitHere(ctx, s, e.fields.text("base_sha")); err != nil {
				return found, err
			}
		}
	}
	for _, sha := range foreign.checkpoints() {
		if err := findCheckpoint(ctx, s, &found, sha); err != nil {
			return found, err
		}
	}
	return found, nil
}

// checkpoints are the recorded ids of the run's commits, oldest first.
func (f ForeignRun) checkpoints() []string {
	var shas []string
	for _, e := range f.Events {
		if sha := e.fields.text("commit"); e.Type == foreignCheckpoint && sha != "" && len(shas) < maxForeignList {
			shas = append(shas, sha)
		}
	}
	return shas
}

// findCheckpoint takes over a checkpoint that is here. Of a run whose base is not
// known the first one tells it.
func findCheckpoint(ctx context.Context, s *record.Store, found *foundWork, sha string) error {
	id, err := commitHere(ctx, s, sha)
	if err != nil || id == "" {
		return err
	}
	commit, err := s.Repo.ReadCommit(ctx, id)
	if err != nil {
		return err
	}
	if found.base == "" && len(commit.Parents) > 0 {
		found.base = commit.Parents[0]
	}
	if found.base == "" {
		return nil
	}
	follows, err := s.Repo.IsAncestor(ctx, found.base, id)
	if err != nil || !follows {
		return err
	}
	found.commits[sha], found.trees[id] = id, commit.Tree
	return nil
}

// commitHere is the commit whose id or its beginning is sha; "" when there is none.
// Any other name of a commit is not looked up: the text is a stranger's.
func commitHere(ctx context.Context, s *record.Store, sha string) (gitstore.ID, error) {
	if len(sha) < 7 || len(sha) > 64 || strings.Trim(sha, "0123456789abcdef") != "" {
		return "", nil
	}
	id, err := s.Repo.Resolve(ctx, sha)
	if errors.Is(err, gitstore.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for commit %s: %w", sha, err)
	}
	return id, nil
}

// began is the time in the id of the native run: that of the other system's id, so
// that typing the latter finds the run; else when the run began; else now.
func (f ForeignRun) began(now time.Time) time.Time {
	if at, err := time.Parse(record.IDTime, f.ID); err == nil {
		return at
	}
	if at := f.at(0, now); !at.IsZero() {
		return at
	}
	return now
}

// at is the time of event i; now when the timeline has no times, or a clock that
// is far ahead.
func (f ForeignRun) at(i int, now time.Time) time.Time {
	if i >= len(f.Events) {
		return now
	}
	return sane(f.Events[i].At, now)
}

func sane(at, now time.Time) time.Time {
	if at.IsZero() || at.After(now.AddDate(1, 0, 0)) {
		return now
	}
	return at
}
