package runrimport

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
)

// foundWork is what of a source run's commits is in this repository.
type foundWork struct {
	base    gitstore.ID                 // where the run began; "" when that is not known here
	commits map[string]gitstore.ID      // checkpoints that go on from base, by their recorded id
	trees   map[gitstore.ID]gitstore.ID // of those commits
}

// planSource completes plan, which holds what is configured here and HEAD as its
// base, by what the other system recorded. Nothing recorded becomes a command.
func planSource(ctx context.Context, s *record.Store, plan *runplan.Plan, source SourceRun) (foundWork, error) {
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

// describe says what the run works on.
func (r SourceRun) describe(plan *runplan.Plan, name, task string) {
	milestones, goals := r.milestones()
	if task == "" && !isTaskPath(name) {
		task = name
	}
	plan.Entity = runplan.Entity{Type: "task", Identifier: r.ID, Title: prose.OneLine(loop.TaskTitle(task))}
	if isTaskPath(name) {
		plan.Entity.Identifier = prose.OneLine(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	}
	if plan.Entity.Title == "" && len(goals) > 0 {
		plan.Entity.Title = prose.OneLine(goals[0])
	}
	plan.Task = prose.Cut(task, maxSourceText)
	if plan.DoneCriteria = milestones; plan.Task != "" {
		plan.DoneCriteria = strings.TrimSpace(loop.DoneCriteria(plan.Task) + "\n\n" + milestones)
	}
	if plan.Task == "" {
		plan.Task = strings.TrimSpace(plan.Entity.Title + "\n\n" + milestones)
	}
	for _, e := range r.Events {
		if n := e.fields.maxRounds(); e.Type == record.EventReviewLoopDetected.Name && n > 0 && n <= 100 {
			plan.Policy.MaxRetries = n
		}
	}
}

// taskFile is the task file as the run's base has it; "" when it has none. Only
// what is committed is read: the path is a stranger's.
func taskFile(ctx context.Context, s *record.Store, base gitstore.ID, source SourceRun, name string) (string, error) {
	if !isTaskPath(name) {
		return "", nil
	}
	for _, e := range source.Events {
		for _, key := range []string{"git_root", "repo_path"} {
			if root := e.fields.object("repo").text(key); e.Type == sourceStarted && root != "" {
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

// findWork looks for the run's commits in this repository.
func findWork(ctx context.Context, s *record.Store, source SourceRun) (foundWork, error) {
	found := foundWork{commits: map[string]gitstore.ID{}, trees: map[gitstore.ID]gitstore.ID{}}
	var err error
	for _, e := range source.Events {
		if found.base == "" && planTypes.Has(e.Type) {
			if found.base, err = commitHere(ctx, s, e.fields.text("base_sha")); err != nil {
				return found, err
			}
		}
	}
	for _, sha := range source.checkpoints() {
		if err := findCheckpoint(ctx, s, &found, sha); err != nil {
			return found, err
		}
	}
	return found, nil
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
