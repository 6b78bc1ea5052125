package runrimport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// maxTaskFile is how much of a task file is read, in bytes.
const maxTaskFile = 1 << 20

// TakeDirectory reads what runr keeps beside a timeline and not in it: the run's id, which is the name of the
// directory, and the text of its task. timeline is the file's path; what is missing stays as it is.
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
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTaskFile {
		return
	}
	if text, err := os.ReadFile(task); err == nil {
		r.Task = strings.ToValidUTF8(string(text), "\uFFFD")
	}
}

// foundWork is those of a run's commits that are in this repository.
type foundWork struct {
	base    gitstore.ID                 // where the run began; "" when that is not known here
	commits map[string]gitstore.ID      // checkpoints that go on from base, by their recorded id
	trees   map[gitstore.ID]gitstore.ID // of those commits
}

// planSource adds what runr recorded to plan, which holds what is configured here and HEAD as its base. Nothing
// recorded becomes a command.
func planSource(ctx context.Context, s *store.Store, plan *runplan.Plan, source SourceRun) (foundWork, error) {
	found, err := findWork(ctx, s, source)
	if err != nil {
		return found, err
	}
	if found.base != "" {
		plan.Base = found.base
	}
	plan.Imported = source.ID
	task := source.Task
	name := source.taskName()
	if task == "" {
		if task, err = taskFile(ctx, s, plan.Base, source, name); err != nil {
			return found, err
		}
	}
	source.describe(plan, name, task)
	return found, nil
}

// describe writes into plan what the run works on.
func (r SourceRun) describe(plan *runplan.Plan, name, task string) {
	milestones, goal := r.milestones()
	if task == "" && !isTaskPath(name) {
		task = name
	}
	plan.Entity = runplan.Entity{Type: "task", Identifier: r.ID, Title: prose.OneLine(loop.TaskTitle(task))}
	if isTaskPath(name) {
		plan.Entity.Identifier = prose.OneLine(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	}
	if plan.Entity.Title == "" {
		plan.Entity.Title = prose.OneLine(goal)
	}
	plan.Task = prose.Cut(task, maxSourceText)
	if plan.DoneCriteria = milestones; plan.Task != "" {
		plan.DoneCriteria = strings.TrimSpace(loop.DoneCriteria(plan.Task) + "\n\n" + milestones)
	}
	if plan.Task == "" {
		plan.Task = strings.TrimSpace(plan.Entity.Title + "\n\n" + milestones)
	}
	for _, e := range r.Events {
		if n := e.maxRounds(); e.Type == record.EventReviewLoopDetected.Name && n > 0 && n <= 100 {
			plan.Policy.MaxRetries = n
		}
	}
}

// taskFile returns the task file as the run's base has it, or "" when it has none. Only what is committed is read: the
// path is a stranger's.
func taskFile(ctx context.Context, s *store.Store, base gitstore.ID, source SourceRun, name string) (string, error) {
	if !isTaskPath(name) {
		return "", nil
	}
	for _, e := range source.Events {
		if root := cmp.Or(e.Repo.Root, e.Repo.Path); e.Type == sourceStarted && root != "" {
			name = strings.TrimPrefix(name, strings.TrimSuffix(root, "/")+"/")
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

// findWork looks for the run's commits in this repository.
func findWork(ctx context.Context, s *store.Store, source SourceRun) (foundWork, error) {
	found := foundWork{commits: map[string]gitstore.ID{}, trees: map[gitstore.ID]gitstore.ID{}}
	for _, e := range source.Events {
		var err error
		switch {
		case found.base == "" && planTypes.Has(e.Type):
			found.base, err = commitHere(ctx, s, e.BaseSHA)
		case e.Type == sourceCheckpoint:
			err = findCheckpoint(ctx, s, &found, e.Commit)
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// findCheckpoint adds a checkpoint that is here. Where the base of the run is not known, it is the parent of the first
// checkpoint.
func findCheckpoint(ctx context.Context, s *store.Store, found *foundWork, sha string) error {
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

// commitHere returns the commit whose id begins with sha, or "" when there is none. Any other name of a commit is not
// looked up: the text is a stranger's.
func commitHere(ctx context.Context, s *store.Store, sha string) (gitstore.ID, error) {
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
