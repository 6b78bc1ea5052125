package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
)

// inProgress are the files in a worktree's git directory that stand for a command of git's
// that rewrites commits, of which post-rewrite tells, or has not ended. What a cherry-pick, a
// revert or am leaves there is not among them: no later hook tells of their commits.
var inProgress = [...]struct{ file, what string }{
	{"rebase-merge", "a rebase"},
	{"rebase-apply/rebasing", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"REVERT_HEAD", "a revert"},
	{"BISECT_LOG", "a bisection"},
}

// ShouldRun decides whether a run of hook should do anything: not for commits of the
// tool itself or of an agent that it started, and not while git makes commits in a
// row (the package comment has the table). env looks up an environment variable.
// The reason is a clause for people, "" when it should run.
func ShouldRun(ctx context.Context, repo *gitstore.Repo, hook string, env func(string) string) (run bool, reason string) {
	if depth := env("GIT_RUNR_DEPTH"); depth != "" && depth != "0" {
		return false, "git-runr itself started this (GIT_RUNR_DEPTH is set)"
	}
	if repo.IsOwnWorktree() {
		return false, "this worktree belongs to a run"
	}
	if hook == PrePush {
		return true, ""
	}
	branch, err := repo.Branch(ctx)
	if err != nil {
		return false, err.Error()
	}
	if run, ok := strings.CutPrefix(branch, "refs/heads/runr/"); ok {
		return false, fmt.Sprintf("runr/%s is the branch of a run", run)
	}
	if what := underWay(repo, hook); what != "" {
		return false, what + " is in progress"
	}
	return true, ""
}

// underWay is the command of git's that keeps hook from doing anything, "" for none: not
// the one that ends by running it, whose files still lie there.
func underWay(repo *gitstore.Repo, hook string) string {
	for _, p := range inProgress {
		if hook == PostRewrite || hook == PostMerge && p.file == "MERGE_HEAD" {
			continue
		}
		if _, err := os.Stat(filepath.Join(repo.GitDir, p.file)); err == nil {
			return p.what
		}
	}
	return ""
}
