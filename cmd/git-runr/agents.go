package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/builtin"
	"git-runr/loop/checklog"
	"git-runr/loop/record"
	"git-runr/loop/role"
)

// reviewer is the reviewer called name, or why it cannot be run.
func (s *session) reviewer(name string) (role.Reviewer, *record.Failure) {
	if name == role.Builtin {
		return builtin.Reviewer{Repo: s.repo}, nil
	}
	caller, failure := s.caller(name, agent.Reviewer)
	if failure != nil {
		return nil, failure
	}
	return caller.Reviewer(), nil
}

// implementer is the implementer called name, or why it cannot be run.
func (s *session) implementer(name string) (role.Implementer, *record.Failure) {
	caller, failure := s.caller(name, agent.Implementer)
	if failure != nil {
		return nil, failure
	}
	return caller.Implementer(), nil
}

// caller is the agent called name, or why it cannot be run as what. One that only the
// repository's file defines needs trust, and its program must be there.
func (s *session) caller(name string, what agent.Role) (agent.Caller, *record.Failure) {
	if name == record.Human {
		return agent.Caller{}, &record.Failure{Reason: record.ReasonHuman, Detail: "the next step is a person's"}
	}
	spec, fromRepository, known := s.conf.agent(name)
	switch {
	case !known:
		return agent.Caller{}, &record.Failure{Reason: record.ReasonAgentNotFound, Detail: fmt.Sprintf("no agent %q is configured", name)}
	case fromRepository && !s.trusts():
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted, Detail: fmt.Sprintf("agent %q; type: git runr trust", name)}
	}
	caller := agent.Caller{
		Spec: spec, Profile: s.conf.Loop.Profile,
		Bounds:  role.Limits{Exclude: role.LockFiles, MaxBytes: int64(s.conf.Review.MaxBytes), MaxParts: s.conf.Review.MaxParts},
		Setting: func(key, value string) record.Setting { return s.conf.setting("agents."+name+"."+key, value) },
	}
	return caller, caller.Ready(what, os.Environ())
}

// worker does reviews with this session's configuration.
func (s *session) worker(progress *progress) *loop.Worker {
	return &loop.Worker{
		Store: s.store, Reviewer: s.reviewer, Checks: s.reviewChecks, Checker: checker,
		Exclude: s.conf.Review.Exclude, ExcludedBy: s.conf.excludedBy(), Progress: watcher{progress, s.Bool("v")},
	}
}

// checker runs checks here.
var checker = loop.Checker{Run: runCheck, Judge: builtin.Judge}

// runCheck runs a check and reads what its output says.
func runCheck(ctx context.Context, check record.Check, dir string, tree gitstore.ID) record.CheckResult {
	result := agent.RunCheck(ctx, check, dir, agent.CheckEnviron(os.Environ()), string(tree))
	result.Said = checklog.Said(result.Command, result.Output, result.ExitCode)
	return result
}

// watcher tells a progress display what the loop does; with -v every line that an
// agent says, too.
type watcher struct {
	*progress
	verbose bool
}

func (w watcher) Step(name, detail string) { w.step(name, detail) }

func (w watcher) Say(text string) { w.say(text) }

func (w watcher) Line(text string) {
	if w.verbose {
		w.done("  | " + text)
		return
	}
	w.line(text)
}

// reviewChecks are the checks to run for a review. Configured ones need trust
// when the repository named them. Where none are configured, the project's
// standard checks are found, and run only for code that is on a branch of this
// clone: what a person has there is what that person would run.
func (s *session) reviewChecks(ctx context.Context, review record.Review, change loop.Change) ([]record.Check, []string) {
	if len(s.conf.checks) > 0 {
		return s.trustedChecks()
	}
	if !s.conf.Review.DetectChecks {
		return nil, nil
	}
	tree := change.Tree
	read := func(file string) ([]byte, error) { return s.repo.Blob(ctx, tree, file) }
	exists := func(file string) bool { _, err := read(file); return err == nil }
	found := builtin.Detect(exists, read, change.Files)
	if len(found) == 0 {
		return nil, nil
	}
	if review.Source == "hook" {
		return nil, []string{"standard checks: the hook runs only configured ones; type: git runr init"}
	}
	onBranch := review.Request.Subject.Commit == "" // the working tree's own content
	if !onBranch {
		var err error
		if onBranch, err = s.repo.ContainedInBranch(ctx, review.Request.Subject.Commit); err != nil {
			return nil, []string{"standard checks: " + err.Error()}
		}
	}
	if !onBranch {
		return nil, []string{"standard checks: the commit is on no branch of this clone"}
	}
	return found, nil
}

// trustedChecks are the configured checks that may be run, and why others may not.
func (s *session) trustedChecks() (run []record.Check, not []string) {
	for _, c := range s.conf.checks {
		if c.fromRepository && !s.trusts() {
			not = append(not, fmt.Sprintf("check %s: .runr.toml is not trusted; type: git runr trust", c.Name))
			continue
		}
		run = append(run, c.Check)
	}
	return run, not
}

// configName is the configuration file of a repository.
const configName = ".runr.toml"

// repoFile reads the repository's configuration: from the checkout that the user
// stands in, or from HEAD in a bare repository. Never from what is under review: in a
// working tree of a run, where an agent can write, the user's own checkout counts.
func repoFile(ctx context.Context, repo *gitstore.Repo) (data []byte, name string, err error) {
	dir := repo.WorkTree
	if repo.IsOwnWorktree() {
		if dir = path.Dir(repo.CommonDir); path.Base(repo.CommonDir) != ".git" {
			return nil, "", nil
		}
	}
	if dir != "" {
		name = path.Join(dir, configName)
		data, err = readRegular(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, "", nil
		}
		return data, name, err
	}
	head, err := repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	data, err = repo.Blob(ctx, head, configName)
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil, "", nil
	}
	return data, "HEAD:" + configName, err
}

// readRegular reads a file of a working tree, where an agent can put anything: reading
// a pipe never ends.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}
