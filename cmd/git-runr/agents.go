package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/builtin"
	"git-runr/loop/checklog"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// Builtin is the reviewer that needs no model, and the default.
const builtinName = "builtin"

// reviewer is the reviewer called name, or why it cannot be run.
func (s *session) reviewer(name string) (loop.Reviewer, *record.Failure) {
	if name == builtinName {
		return builtinReviewer{s.repo}, nil
	}
	spec, model, failure := s.agentSpec(name, agent.Reviewer)
	if failure != nil {
		return nil, failure
	}
	return agentReviewer{spec: spec, model: model, conf: s.conf}, nil
}

// implementer is the implementer called name, or why it cannot be run.
func (s *session) implementer(name string) (loop.Implementer, *record.Failure) {
	spec, model, failure := s.agentSpec(name, agent.Implementer)
	if failure != nil {
		return nil, failure
	}
	return agentImplementer{spec: spec, model: model, conf: s.conf}, nil
}

// agentSpec is how the agent called name is run as role, and with which model. One that
// only the repository's file defines needs trust, and its program must be there.
func (s *session) agentSpec(name string, role agent.Role) (spec agent.Spec, model string, failure *record.Failure) {
	if name == record.Human {
		return spec, "", &record.Failure{Reason: record.ReasonHuman, Detail: "the next step is a person's"}
	}
	spec, fromRepository, known := s.conf.agent(name)
	if !known {
		return spec, "", &record.Failure{Reason: record.ReasonAgentNotFound, Detail: fmt.Sprintf("no agent %q is configured", name)}
	}
	if fromRepository && !s.trusts() {
		return spec, "", &record.Failure{Reason: record.ReasonUntrusted, Detail: fmt.Sprintf("agent %q; type: git runr trust", name)}
	}
	model = agent.Model(role, s.conf.Loop.Profile, spec)
	return spec, model, startFailure(spec.Ready(role, model, os.Environ()))
}

// startFailure is why an agent cannot be started; nil for no error.
func startFailure(err error) *record.Failure {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agent.ErrNotFound):
		return &record.Failure{Reason: record.ReasonAgentNotFound, Detail: err.Error()}
	}
	return &record.Failure{Reason: record.ReasonAgentFailed, Detail: err.Error()}
}

// builtinReviewer reads the diff and the checks' evidence.
type builtinReviewer struct{ repo *gitstore.Repo }

func (builtinReviewer) Limits() loop.Limits { return loop.Limits{Binary: true} }
func (builtinReviewer) NeedsCheckout() bool { return false }

func (r builtinReviewer) Review(ctx context.Context, job loop.ReviewJob) (loop.ReviewAnswer, error) {
	files, err := builtin.ParseDiff(job.Change.Patch)
	if err != nil {
		return loop.ReviewAnswer{}, err
	}
	sizes, err := r.repo.FileSizes(ctx, job.Change.Tree, job.Change.Files)
	if err != nil {
		return loop.ReviewAnswer{}, err
	}
	size := func(file string) int64 {
		if n, known := sizes[file]; known {
			return n
		}
		return -1
	}
	report := builtin.Review(builtin.Input{Files: files, Size: size, Checks: job.Checks})
	return loop.ReviewAnswer{Report: report}, nil
}

// agentReviewer asks an agent's command.
type agentReviewer struct {
	spec  agent.Spec
	model string
	conf  *config
}

func (r agentReviewer) Limits() loop.Limits {
	review := r.conf.Review
	return loop.Limits{Exclude: append([]string{}, loop.LockFiles...), MaxBytes: int64(review.MaxBytes), MaxParts: review.MaxParts}
}
func (r agentReviewer) NeedsCheckout() bool { return true }

func (r agentReviewer) Review(ctx context.Context, job loop.ReviewJob) (loop.ReviewAnswer, error) {
	options := agent.CallOptions{Transcript: job.Transcript, OnLine: job.OnLine}
	answer, result, err := agent.Call(ctx, r.spec, agent.Reviewer, r.model, job.Dir, job.Prompt.Text(), options)
	if failure, err := r.conf.callFailure(ctx, r.spec, answer, result, err); failure != nil || err != nil {
		return loop.ReviewAnswer{Raw: answer.Text, Failure: failure}, err
	}
	report := reply.ParseReview(answer.Text, job.Prompt.Nonce)
	placeFindings(report.Findings, job.Dir)
	report.Effective = reply.EffectiveVerdict(report.Verdict, report.Findings, record.CheckRun{Results: job.Checks}.Failed())
	return loop.ReviewAnswer{Report: report, Raw: answer.Text}, nil
}

// placeFindings makes absolute paths, as some agents give them, relative to the
// checkout that the agent was in.
func placeFindings(findings []reply.Finding, dir string) {
	for i := range findings {
		f := &findings[i]
		if !filepath.IsAbs(f.File) {
			continue
		}
		if rel, err := filepath.Rel(dir, f.File); err == nil && filepath.IsLocal(rel) {
			f.File = filepath.ToSlash(rel)
			f.ID = reply.FindingID(*f)
		}
	}
}

// agentImplementer lets an agent's command work.
type agentImplementer struct {
	spec  agent.Spec
	model string
	conf  *config
}

func (i agentImplementer) Implement(ctx context.Context, job loop.ImplementJob) (loop.ImplementAnswer, error) {
	options := agent.CallOptions{Transcript: job.Transcript, OnLine: job.OnLine}
	answer, result, err := agent.Call(ctx, i.spec, agent.Implementer, i.model, job.Dir, job.Prompt, options)
	if err == nil && answer.Problem == agent.ProblemEmptyOutput {
		return loop.ImplementAnswer{Edited: result.Edited}, nil // what it did to the files is what counts
	}
	failure, err := i.conf.callFailure(ctx, i.spec, answer, result, err)
	return loop.ImplementAnswer{Text: answer.Text, Edited: result.Edited, Failure: failure}, err
}

func (i agentImplementer) ReportsEdits() bool { return i.spec.ReportsEdits() }

// problemReasons are the stop reasons for what can be wrong with an answer.
var problemReasons = map[string]string{
	agent.ProblemTimeout: record.ReasonAgentTimeout, agent.ProblemIdle: record.ReasonAgentIdle,
	agent.ProblemKilled: record.ReasonAgentKilled, agent.ProblemEmptyOutput: record.ReasonAgentEmpty,
}

// callFailure is why a call gave no answer; the error is for a call that was interrupted.
func (c *config) callFailure(ctx context.Context, spec agent.Spec, answer agent.Answer, result agent.Result, err error) (*record.Failure, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return startFailure(err), nil
	case answer.Problem == "":
		return nil, nil
	}
	reason, listed := problemReasons[answer.Problem]
	if !listed {
		reason = record.ReasonAgentFailed
	}
	detail := fmt.Sprintf("agent %q after %s: %s", spec.Name, result.Duration.Round(time.Second), cmp.Or(answer.Detail, answer.Problem))
	return &record.Failure{Reason: reason, Detail: detail, LastActivity: lastOutput(result), Setting: c.agentLimit(spec, answer.Problem), Transient: answer.Transient()}, nil
}

// lastOutput is when the agent last wrote something, or began.
func lastOutput(result agent.Result) time.Time {
	at := result.LastOutput
	if at.IsZero() {
		at = result.Started
	}
	return at.UTC().Truncate(time.Millisecond)
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
