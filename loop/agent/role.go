package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// Caller calls one agent in a role, as a Reviewer or an Implementer.
type Caller struct {
	Spec    Spec
	Profile string // quality, balanced, budget; "" is balanced
	Model   string // replaces the configured model; "" keeps that
	Cache   string // see CallOptions
	// Bounds limit what a reviewer is shown at once.
	Bounds role.Limits
	// Setting returns where a key of the agent, such as timeout, was set to a value. Required.
	Setting func(key, value string) runplan.Setting
}

// Ready returns why the agent cannot be started for role, nil when it can. It runs nothing.
func (c Caller) Ready(role Role, base []string) *record.Failure {
	return startFailure(c.Spec.Ready(role, c.model(), base))
}

// Reviewer returns the agent in the role of a reviewer.
func (c Caller) Reviewer() role.Reviewer { return reviewer{c} }

// Implementer returns the agent in the role of an implementer.
func (c Caller) Implementer() role.Implementer { return implementer{c} }

func (c Caller) model() string { return cmp.Or(c.Model, c.Spec.ModelFor(c.Profile)) }

// call asks the agent. The error is only for a call that was interrupted.
func (c Caller) call(ctx context.Context, ask Ask, transcript io.Writer,
	onLine func(string)) (Answer, Result, *record.Failure, error) {
	ask.Model = c.model()
	answer, result, err := Call(ctx, c.Spec, ask, CallOptions{Transcript: transcript, OnLine: onLine, Cache: c.Cache})
	switch {
	case ctx.Err() != nil:
		return answer, result, nil, ctx.Err()
	case err != nil:
		return answer, result, startFailure(err), nil
	case answer.Problem == "":
		return answer, result, nil, nil
	}
	detail := fmt.Sprintf("agent %q after %s: %s", c.Spec.Name, result.Duration.Round(time.Second),
		cmp.Or(answer.Detail, answer.Problem))
	failure := &record.Failure{
		Reason: cmp.Or(problemReasons[answer.Problem], record.ReasonAgentFailed), Detail: detail,
		LastActivity: cmp.Or(result.LastOutput, result.Started).UTC().Truncate(time.Millisecond),
		Setting:      c.limit(answer.Problem), Transient: answer.Transient(),
	}
	if failure.Transient {
		failure.RetryAfter = duration.Duration(answer.RetryAfter(time.Now()))
	}
	return answer, result, failure, nil
}

// problemReasons maps problems of an answer to stop reasons.
var problemReasons = map[string]string{
	ProblemTimeout: record.ReasonAgentTimeout, ProblemIdle: record.ReasonAgentIdle,
	ProblemKilled: record.ReasonAgentKilled, ProblemEmptyOutput: record.ReasonAgentEmpty,
}

// limit returns the setting that ended a call; nil for a problem that is not a limit.
func (c Caller) limit(problem string) *runplan.Setting {
	key, limit := "timeout", cmp.Or(c.Spec.Timeout, DefaultTimeout)
	switch problem {
	case ProblemTimeout:
	case ProblemIdle:
		key, limit = "idle_timeout", cmp.Or(c.Spec.Idle, DefaultIdle)
	default:
		return nil
	}
	setting := c.Setting(key, duration.Duration(limit).String())
	return &setting
}

// startFailure returns why an agent could not be started; nil for no error.
func startFailure(err error) *record.Failure {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return &record.Failure{Reason: record.ReasonAgentNotFound, Detail: err.Error()}
	}
	return &record.Failure{Reason: record.ReasonAgentFailed, Detail: err.Error()}
}

type reviewer struct{ Caller }

func (r reviewer) Limits() role.Limits { return r.Bounds }
func (r reviewer) NeedsCheckout() bool { return true }

func (r reviewer) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	answer, result, failure, err := r.call(ctx, Ask{Role: Reviewer, Dir: job.Dir, Prompt: job.Prompt()}, job.Transcript,
		job.OnLine)
	review := role.ReviewAnswer{Raw: answer.Text, Failure: failure, Usage: result.Usage}
	if failure != nil || err != nil {
		return review, err
	}
	review.Report = reply.ParseReview(answer.Text, job.Nonce)
	if r.Spec.answersInJSON(answer.Text) && review.Report.Format == reply.FormatUnreadable {
		review.Failure = &record.Failure{Reason: record.ReasonAgentFailed, Detail: fmt.Sprintf(
			"agent %q answers in JSON, but nothing says where in it the answer is: set answer under [agents.%s], such as "+
				"answer = \"result\"", r.Spec.Name, r.Spec.Name)}
		return review, nil
	}
	if job.Block && review.Report.Format == reply.FormatUnreadable {
		err = r.askBlock(ctx, job, &review, result.Session)
	}
	placeFindings(review.Report.Findings, job.Dir)
	return review, err
}

// askBlock asks once for the block alone, if the answer has no requested form: in the session of the answer where
// the tool has one, else in a new call. If the call fails or repeats the first answer, that one is used.
func (r reviewer) askBlock(ctx context.Context, job role.ReviewJob, review *role.ReviewAnswer,
	session spend.Session) error {
	ask := Ask{Role: Reviewer, Dir: job.Dir, Prompt: reply.AskForBlock(review.Raw, job.Nonce)}
	if r.Spec.continuesReviews() {
		ask.Session = session
	}
	block, result, failure, err := r.resume(ctx, ask, job.Transcript, job.OnLine)
	review.Usage = review.Usage.Add(result.Usage)
	if failure != nil || err != nil || strings.TrimSpace(block.Text) == strings.TrimSpace(review.Raw) {
		return err
	}
	review.Report = reply.ParseAgain(review.Raw, block.Text, job.Nonce)
	review.Raw += "\n\n" + block.Text
	return nil
}

// placeFindings makes absolute paths, which some agents report, relative to the checkout
// that the agent was in.
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

type implementer struct{ Caller }

func (i implementer) ReportsEdits() bool { return i.Spec.ReportsEdits() }

func (i implementer) Implement(ctx context.Context, job role.ImplementJob) (role.ImplementAnswer, error) {
	ask := Ask{Role: Implementer, Dir: job.Dir, Prompt: job.Prompt, Uninstructed: job.Uninstructed, Keep: job.Keep,
		Session: job.Session}
	answer, result, failure, err := i.resume(ctx, ask, job.Transcript, job.OnLine)
	done := role.ImplementAnswer{Text: answer.Text, Edited: result.Edited, Failure: failure, Usage: result.Usage}
	if job.Keep {
		done.Session = result.Session
	}
	if failure != nil && failure.Reason == record.ReasonAgentEmpty {
		done.Failure = nil // the changed files are what counts
	} else if failure == nil {
		done.Denied = answer.Detail
	}
	return done, err
}

// resume is call, which asks again without the session if the tool cannot continue it.
func (c Caller) resume(ctx context.Context, ask Ask, transcript io.Writer,
	onLine func(string)) (Answer, Result, *record.Failure, error) {
	answer, result, failure, err := c.call(ctx, ask, transcript, onLine)
	if err != nil || ask.Session.ID == "" || !sessionLost(failure, result) {
		return answer, result, failure, err
	}
	ask.Session = spend.Session{}
	return c.call(ctx, ask, transcript, onLine)
}

// sessionLost reports whether a session could not be continued, since it is on another machine or
// was dropped. The model has not been asked in that case.
func sessionLost(failure *record.Failure, result Result) bool {
	return failure != nil && failure.Reason == record.ReasonAgentFailed && !failure.Transient && result.Usage.Tokens() == 0
}
