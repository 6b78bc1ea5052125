package checking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Checker runs checks and judges their results. It decides whether a failure counts against a change and records that
// with the result, in the same way for reviews and runs: all other code calls CheckResult.Fails.
type Checker struct {
	// Run runs one check in dir, which has the files of tree.
	Run func(ctx context.Context, check runplan.Check, dir string, tree gitstore.ID) record.CheckResult
	// Judge fills in what result means for a change of the files changed, compared with the result on the base; base is
	// nil if the check did not run there.
	Judge func(result record.CheckResult, base *record.CheckResult, changed []string) record.CheckResult
	// Worktree configures what a worktree made by this program gets before anything runs in it.
	Worktree runplan.Worktree
}

// Job is a change for which checks run.
type Job struct {
	Checks  []runplan.Check
	Watch   func(while string) Watch      // over the worktree with the change
	Tree    gitstore.ID                   // its content
	Base    gitstore.ID                   // what Tree is compared with; no base if it is not a commit
	Changed []string                      // paths that differ between Tree and Base
	Fresh   bool                          // the change is in a checkout of its own, with nothing else in it
	Own     func(runplan.Check) bool      // checks that count although they fail on the base; nil: none
	Known   map[string]record.CheckResult // results on the base, by name; Check adds to them
}

// Check runs the checks of a change, and those that fail on its base too: an earlier failure is not this change's
// fault. A check that fails only here runs once more: if it passes then it is flaky. No result counts if a check
// tampered with the repository.
func Check(ctx context.Context, s *store.Store, c Checker, p Progress,
	job Job) (_ []record.CheckResult, tampered *record.Failure, err error) {
	results := []record.CheckResult{}
	var asked []runplan.Check
	kept := c.kept(s, job)
	if job.Checks, err = c.withSetup(ctx, job, kept); err != nil {
		return nil, nil, err
	}
	notReady := ""
	for _, check := range job.Checks {
		result, known := kept.find(ctx, check, job.Tree)
		switch {
		case notReady != "":
			results = append(results, record.CheckResult{Name: check.Name, Command: check.Command, Tree: string(job.Tree),
				ExitCode: -1, NotRun: notReady})
			continue
		case !known:
			p.Step("check", check.Name)
			result, tampered, err = c.Watched(ctx, job.Watch("check "+check.Name+" ran"), check, job.Tree)
		case !result.OK():
			result, tampered, err = c.again(ctx, p, job, check, result)
		}
		if tampered == nil && err == nil && !result.OK() && c.isSetup(check) {
			result, tampered, err = c.again(ctx, p, job, check, result)
			notReady = notReadyText(result)
		}
		if tampered != nil || err != nil {
			return nil, tampered, err
		}
		results = append(results, result)
		kept.keep(ctx, c.Judge(result, nil, job.Changed), job.Tree)
		_, known = job.Known[check.Name]
		if !result.OK() && result.Reason != record.NotInstalled && !known && (job.Own == nil || !job.Own(check)) {
			asked = append(asked, check)
		}
	}
	if tampered, err := checkBase(ctx, s, c, p, job, asked); tampered != nil || err != nil {
		return nil, tampered, err
	}
	for i, check := range job.Checks {
		if notReady != "" && !c.isSetup(check) {
			continue // it did not run, whatever its empty output looks like
		}
		var base *record.CheckResult
		if b, known := job.Known[check.Name]; known {
			base = &b
		}
		if judged := c.Judge(results[i], base, job.Changed); judged.Fails() && judged.Reason == "" && judged.Again == "" {
			if results[i], tampered, err = c.again(ctx, p, job, check, results[i]); tampered != nil || err != nil {
				return nil, tampered, err
			}
			kept.keep(ctx, results[i], job.Tree)
		}
		results[i] = c.Judge(results[i], base, job.Changed)
	}
	return results, nil, nil
}

// again repeats a failed check on the same tree. The result includes the first output, and is flaky if the check passes
// now.
func (c Checker) again(ctx context.Context, p Progress, job Job, check runplan.Check,
	first record.CheckResult) (record.CheckResult, *record.Failure, error) {
	p.Step("check", check.Name+" once more")
	second, tampered, err := c.Watched(ctx, job.Watch("check "+check.Name+" ran once more"), check, job.Tree)
	second.Flaky = second.OK()
	second.Again = first.Output + "\n" // never empty: it ran twice
	return second, tampered, err
}

// Watched runs one check in the watched tree, which has the files of id.
func (c Checker) Watched(ctx context.Context, w Watch, check runplan.Check,
	id gitstore.ID) (result record.CheckResult, tampered *record.Failure, err error) {
	if c.isSetup(check) {
		return c.setUp(ctx, w, check, id)
	}
	return c.Guarded(ctx, w, check, id)
}

func (c Checker) Guarded(ctx context.Context, w Watch, check runplan.Check,
	id gitstore.ID) (result record.CheckResult, tampered *record.Failure, err error) {
	tampered, err = w.During(ctx, func(ctx context.Context) error {
		result = c.Run(ctx, check, w.Tree.Dir, id)
		return ctx.Err()
	})
	return result, tampered, err
}

// checkBase fills in the results of checks on the base. A kept failure is reused; a kept pass is not, because the
// machine may lack since then what the check needs.
func checkBase(ctx context.Context, s *store.Store, c Checker, p Progress, job Job,
	checks []runplan.Check) (tampered *record.Failure, err error) {
	if _, err := s.Repo.ReadCommit(ctx, job.Base); len(checks) == 0 || err != nil {
		return nil, nil // nothing to run, or no base
	}
	kept := c.kept(s, job) // in a run an agent works next to the cache
	checks = slices.DeleteFunc(checks, func(check runplan.Check) bool {
		result, known := kept.find(ctx, check, job.Base)
		if known = known && !result.OK(); known {
			job.Known[check.Name] = result
		}
		return known
	})
	if len(checks) == 0 {
		return nil, nil
	}
	err = InCheckout(ctx, s, job.Base, func(ctx context.Context, tree *gitstore.Worktree) error {
		w := job.Watch("setup ran on the base")
		w.Tree, w.Own = tree, nil
		if setup, err := c.Settle(ctx, w); err != nil {
			return err
		} else if setup != nil && !c.isSetup(checks[0]) {
			checks = append([]runplan.Check{*setup}, checks...)
		}
		for _, check := range checks {
			p.Step("check", check.Name+" on the base")
			w.While = "check " + check.Name + " ran on the base"
			var result record.CheckResult
			if result, tampered, err = c.Watched(ctx, w, check, job.Base); tampered != nil || err != nil {
				return err
			}
			if c.isSetup(check) && !result.OK() {
				p.Say("on the base nothing was checked: " + notReadyText(result))
				return nil
			}
			job.Known[check.Name] = result
			kept.keep(ctx, c.Judge(result, nil, nil), job.Base)
		}
		return nil
	})
	return tampered, err
}

// keptChecks are check results in this clone's cache, by tree and command. Only results from fresh checkouts are kept,
// because a worktree in use holds more than its tree.
type keptChecks struct {
	store *store.Store
	fresh bool
	setup string // that ran before them; anySetup: any setup
}

const anySetup = "*"

func (c Checker) kept(s *store.Store, job Job) keptChecks {
	given := len(c.Worktree.Copy) + len(c.Worktree.Link) // a checkout then holds more than its tree as well
	return keptChecks{s, job.Fresh && given == 0, c.Worktree.Setup}
}

// keptCheck is a kept result as stored.
type keptCheck struct {
	record.CheckResult
	Again string `json:"again,omitempty"`
	Setup string `json:"setup,omitempty"`
}

// path returns the file for the result of check on version, a commit or a tree.
func (k keptChecks) path(ctx context.Context, check runplan.Check, version gitstore.ID) string {
	if tree, err := k.store.Repo.TreeOf(ctx, version); err == nil {
		version = tree
	}
	sum := sha256.Sum256([]byte(string(version) + "\x00" + check.Command))
	return filepath.Join(checksDir(k.store), hex.EncodeToString(sum[:16]))
}

func checksDir(s *store.Store) string { return filepath.Join(s.Repo.StateDir(), "cache", "checks") }

func (k keptChecks) find(ctx context.Context, check runplan.Check, version gitstore.ID) (record.CheckResult, bool) {
	var kept keptCheck
	if !k.fresh {
		return kept.CheckResult, false
	}
	data, err := safefile.ReadFile(k.path(ctx, check, version))
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Command != check.Command ||
		k.setup != anySetup && kept.Setup != k.setup {
		return record.CheckResult{}, false
	}
	kept.Name, kept.Tree = check.Name, string(version)
	kept.CheckResult.Again = kept.Again
	return kept.CheckResult, true
}

// Kept returns the kept result of check in a fresh checkout of version in this clone, whatever setup ran before it, or
// false.
func Kept(ctx context.Context, s *store.Store, check runplan.Check, version gitstore.ID) (record.CheckResult, bool) {
	return keptChecks{s, true, anySetup}.find(ctx, check, version)
}

// keep stores a judged result that depends on the tree alone, not on the machine. If that fails, the check will run
// again.
func (k keptChecks) keep(ctx context.Context, result record.CheckResult, version gitstore.ID) {
	if !k.fresh || result.NotRun != "" || result.Reason != "" {
		return
	}
	data, err := json.Marshal(keptCheck{result, result.Again, k.setup})
	if err == nil {
		path := k.path(ctx, runplan.Check{Command: result.Command}, version)
		_ = os.MkdirAll(filepath.Dir(path), 0o777)
		_ = safefile.WriteFile(path, data, 0o666)
	}
}

// DropKeptChecks removes results that were kept before then. The next call retries those that cannot be removed.
func DropKeptChecks(s *store.Store, then time.Time) {
	files, _ := os.ReadDir(checksDir(s))
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(checksDir(s), file.Name()))
		}
	}
}
