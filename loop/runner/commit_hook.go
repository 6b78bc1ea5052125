package runner

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// commitHook is the name of the check that runs the user's pre-commit hook.
const commitHook = "pre-commit"

// hookOutput is the number of bytes of a hook's output that an attempt keeps.
const hookOutput = 32 << 10

// hookFiles match files in the checkout that configure hook managers.
var hookFiles = gitstore.LazyGlobs(
	"/.husky/**", "/.githooks/**", "/.pre-commit-config.y*ml", "/lefthook.*", "/.lefthook.*", "/lefthook-local.*",
	"/.lefthook-local.*",
	"/.lefthook/**", "/.lefthook-local/**", "/.overcommit.yml", "/.git-hooks/**",
)

// runCommitHook runs the user's pre-commit hook over everything that the run's commit would contain, as the check
// commitHook. It returns nil if git would run no hook. Files that the hook rewrites count as the attempt's changes. The
// hook is that of the checkout from which the run was started. It is not run if the run changes its files: that would
// run what an agent wrote.
func (t *execution) runCommitHook() (_ *record.CheckResult, tampered *record.Failure, err error) {
	if !t.run.Plan.CommitHooks || t.gone() || t.Checker.Run == nil {
		return nil, nil, nil
	}
	repo := t.Store.Repo
	dir, err := repo.HooksDir(t.ctx)
	if err != nil || !repo.HasHook(t.ctx, dir, commitHook) {
		return nil, nil, err
	}
	staged, err := t.tree.Stage(t.ctx, t.run.Plan.Base)
	if err != nil {
		return nil, nil, err
	}
	defer staged.Close()
	changes, err := repo.Changed(t.ctx, t.run.Plan.Base, staged.Tree)
	if err != nil || len(changes) == 0 {
		return nil, nil, err
	}
	result := record.CheckResult{Name: commitHook, Command: "git hook run " + commitHook, Tree: string(staged.Tree)}
	if result.NotRun = t.noHook(dir, changes); result.NotRun != "" {
		t.Progress.Say(commitHook + " was not run: " + result.NotRun)
		return &result, nil, nil
	}
	return t.hookResult(staged, dir, result)
}

// noHook returns why a hook of dir must not run over changes, or "" if it may.
func (t *execution) noHook(dir gitstore.HooksDir, changes []gitstore.Change) string {
	own := slices.IndexFunc(changes, func(c gitstore.Change) bool { return ofHook(t.Store.Repo, dir, c.Path) })
	switch {
	case own >= 0:
		return fmt.Sprintf("the run changes %s, which tells the hook what to run", safetext.Line(changes[own].Path))
	case t.Store.Repo.AlteredBelow(t.ctx, dir.Path):
		return "a hook changed while an agent worked, and nobody has accepted it: git runr guard"
	case t.run.Plan.InPlace && t.run.Plan.Context != nil:
		return "the executor's work is in the checkout among other changes, which the hook would see as well"
	}
	return ""
}

// hookResult runs the hook, and once more if it failed and rewrote files: it may pass now, as when a person commits
// again.
func (t *execution) hookResult(staged *gitstore.Staging, dir gitstore.HooksDir,
	result record.CheckResult) (_ *record.CheckResult, tampered *record.Failure, err error) {
	job := runplan.Check{Name: commitHook}
	for _, word := range staged.Env() {
		name, value, _ := strings.Cut(word, "=")
		quoted, ok := safetext.ShellWord(value)
		if !ok {
			return nil, nil, fmt.Errorf("run %s: a shell cannot be given %q", commitHook, value)
		}
		job.Command += name + "=" + quoted + " "
	}
	line, err := hookLine(dir, commitHook)
	if err != nil {
		return nil, nil, err
	}
	job.Command += line
	for try := range 2 {
		t.Progress.Step("check", commitHook)
		ran, tampered, err := t.Checker.Watched(t.ctx, t.watch("the "+commitHook+" hook ran"), job, staged.Tree)
		if tampered != nil || err != nil {
			return nil, tampered, err
		}
		ran.Command, ran.Output = result.Command, prose.Cut(ran.Output, hookOutput)
		rewritten, err := staged.Restage(t.ctx)
		ran.Tree = string(staged.Tree)
		if err != nil || ran.OK() || !rewritten || try > 0 {
			return &ran, nil, err
		}
	}
	return nil, nil, nil
}

// hookLine returns the command that runs a hook of dir.
func hookLine(dir gitstore.HooksDir, hook string, args ...string) (string, error) {
	line, ok := safetext.CommandLine(append([]string{"git", "-c", "core.hooksPath=" + dir.Path, "hook", "run",
		"--ignore-missing", hook}, args...)...)
	if !ok {
		return "", fmt.Errorf("run %s: a shell cannot be given %q", hook, dir.Path)
	}
	return line, nil
}

// ofHook reports whether a file of the tree decides what a hook of dir runs.
func ofHook(repo *gitstore.Repo, dir gitstore.HooksDir, file string) bool {
	rel, err := filepath.Rel(repo.WorkTree, dir.Path)
	if repo.WorkTree != "" && err == nil && filepath.IsLocal(rel) {
		rel = filepath.ToSlash(rel)
		if path.Base(rel) == "_" { // husky's, which runs scripts in the directory above
			rel = path.Dir(rel)
		}
		if file == rel || strings.HasPrefix(file, rel+"/") {
			return true
		}
	}
	return hookFiles().Match(file)
}

// hookCheck returns the pre-commit hook's result for the current commit, or nil if there is none.
func (t *execution) hookCheck() *record.CheckResult {
	a := t.run.LastAttempt()
	if a == nil || a.Hook == nil || a.Commit != t.run.Head() {
		return nil
	}
	result := t.Checker.Judge(*a.Hook, nil, t.run.Files())
	return &result
}
