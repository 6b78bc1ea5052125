package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
)

// session is one review while its agents answer in parallel.
type session struct {
	*Worker
	status *statusFile

	checking sync.Mutex // held while checks run, so that they run once
	checked  []checkedFiles
}

func newSession(w *Worker, id string) *session {
	return &session{Worker: w, status: &statusFile{store: w.Store, path: statusPath(w.Store, id), at: map[string]atWork{}}}
}

// checkedFiles holds the check results for reviewers who see the same files.
type checkedFiles struct {
	files   []string
	results []record.CheckResult
}

// checkOnce runs the checks of a change, or returns their earlier results.
func (w *session) checkOnce(files []string,
	run func() ([]record.CheckResult, *record.Failure, error)) ([]record.CheckResult, *record.Failure, error) {
	w.checking.Lock()
	defer w.checking.Unlock()
	for _, c := range w.checked {
		if slices.Equal(c.files, files) {
			return slices.Clone(c.results), nil, nil
		}
	}
	results, tampered, err := run()
	if tampered == nil && err == nil {
		w.checked = append(w.checked, checkedFiles{files, results})
	}
	return slices.Clone(results), tampered, err
}

// review runs one agent's turn.
func (w *session) review(ctx context.Context, review record.Review, turn string) (outcome, error) {
	name, judge := record.AgentOf(turn)
	calls := w.Terms.Calls(w.Store, w.Progress, name)
	if w.Awaited {
		calls.Pause = w.Terms.Patience(w.Store, w.Progress).Wait
	}
	reviewer, failure, err := calls.Relay(ctx, name, w.Reviewer)
	if err != nil {
		return outcome{}, err
	}
	if failure != nil {
		return outcome{failed: 1}, w.fail(ctx, review, turn, *failure)
	}
	w.Progress.Step("review", turnTitle(review, turn))
	defer w.status.end(turn)
	if judge {
		return w.judge(ctx, review, name, reviewer, w.status.begin(turn, w.Progress))
	}
	started := time.Now()
	sub, raw, failure, err := w.answer(ctx, review, name, reviewer, w.status.begin(name, w.Progress))
	switch {
	case err != nil:
		_, err = w.skip(ctx, review, []string{name}, err)
		return outcome{}, err
	case failure != nil:
		failure.Spent = sub.Spent
		return outcome{failed: 1}, w.fail(ctx, review, name, *failure)
	}
	sub.Duration = duration.Duration(time.Since(started))
	return outcome{answered: 1}, w.submit(ctx, review, sub, raw)
}

// submit records an answer and closes the review if that completes it.
func (w *Worker) submit(ctx context.Context, review record.Review, sub record.Submission, raw string) error {
	review, err := w.Store.SubmitReview(ctx, review.ID, sub, raw)
	if err == nil {
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}

// answer returns the answer of the reviewer called name about the review's subject.
func (w *session) answer(ctx context.Context, review record.Review, name string, reviewer role.Reviewer,
	progress checking.Progress) (record.Submission, string, *record.Failure, error) {
	subject := review.Request.Subject
	sub := record.Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: record.OutcomeNothing,
		Report: record.EmptyReport()}
	answer, census, checks, err := reviewing.Inquiry{
		Store: w.Store, Progress: progress, Reviewer: reviewer, Subject: subject, Exclude: w.Exclude,
		ExcludedBy: w.ExcludedBy, All: w.Generated, Instructed: w.Instructed,
		Question: func(change reviewing.Change) (reviewing.Question, error) {
			asked, skipped := w.question(ctx, review, change, progress)
			sub.SkippedBy = skipped
			return asked, nil
		},
	}.Answer(ctx)
	sub.Census, sub.Told, sub.Spent = census, answer.Told, spend.NewSpent(name, answer.Calls)
	if err == nil && census.Files == 0 {
		err = intake.Nothing(ctx, w.Store, subject)
		if none := new(intake.NothingError); errors.As(err, &none) {
			sub.Report.Summary, err = none.Text(), nil
		}
	}
	if err != nil || census.Nothing() || answer.Failure != nil {
		return sub, answer.Raw, answer.Failure, err
	}
	sub.Report, sub.Checks = answer.Report, checks
	sub.Census.CountChecks(checks, len(sub.SkippedBy))
	reviewing.BoundVerdict(&sub.Report, census)
	switch passed := sub.Report.Effective.Passed(); {
	case passed && census.Partial():
		sub.Outcome = record.OutcomePartial
	case passed:
		sub.Outcome = record.OutcomePassed
	default:
		sub.Outcome = record.OutcomeFailed
	}
	return sub, answer.Raw, nil, nil
}

// question returns the question to a reviewer about a commit or a range, with the checks to run for it. skipped says
// why other checks do not run.
func (w *session) question(ctx context.Context, review record.Review, change reviewing.Change,
	progress checking.Progress) (asked reviewing.Question, skipped []string) {
	subject := review.Request.Subject
	var checks []runplan.Check
	if w.Checks != nil {
		checks, skipped = w.Checks(ctx, review, change)
	}
	asked.Prompt = reviewing.ReviewPrompt{
		Entity:  runplan.Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title},
		Message: review.Request.Message, Commits: subject.Words(),
		Round: 1, NotChecked: skipped, Panel: review.Request.Panel,
	}
	w.addOtherReviews(ctx, review, change, &asked.Prompt)
	if len(checks) > 0 {
		asked.Check = func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error) {
			watch := func(while string) checking.Watch { return checking.WatchCheckout(w.Store, progress, tree, while) }
			return w.checkOnce(change.Files, func() ([]record.CheckResult, *record.Failure, error) {
				return checking.Check(ctx, w.Store, w.Checker, progress, checking.Job{
					Checks: checks, Watch: watch, Fresh: true, Tree: subject.Tree, Base: subject.Base, Changed: change.Files,
					Known: map[string]record.CheckResult{},
				})
			})
		}
	}
	return asked, skipped
}

// judge runs the turn of a review's judge, which rules on the agents' findings. Findings without a ruling stay open,
// and if the judge cannot run, all findings do.
func (w *Worker) judge(ctx context.Context, review record.Review, name string, judge role.Reviewer,
	progress checking.Progress) (outcome, error) {
	asked := review.Unruled()
	findings := make([]reviewing.ExaminedFinding, len(asked))
	for i, j := range asked {
		var b strings.Builder
		reviewing.WriteBlock(&b, "found_by", safetext.Line(strings.Join(j.SaidBy, ", ")))
		if err := reviewing.WriteLines(ctx, &b, w.Store, "code_at_these_lines", review.Request.Subject.Tree, j.Finding,
			reviewing.ShownAround); err != nil {
			return outcome{}, err
		}
		findings[i] = reviewing.ExaminedFinding{Finding: j.Finding, Material: b.String()}
	}
	started := time.Now()
	said, raw, calls, failure, err := reviewing.Examination{
		Store: w.Store, Progress: progress, Agent: judge, Name: name, At: review.Request.Subject.Tree,
		Lead: "Reviewers looked at a change and reported the findings below. Say for each whether it is right: confirmed, " +
			"or refuted if the code shows that it is wrong.",
		Words: reply.RulingWords{Settles: "refuted", Stands: "confirmed"},
	}.Ask(ctx, findings)
	turn := record.JudgeTurn(name)
	switch {
	case err != nil:
		_, err = w.skip(ctx, review, []string{turn}, err)
		return outcome{}, err
	case failure != nil:
		failure.Spent = spend.NewSpent(name, calls)
		return outcome{failed: 1}, w.fail(ctx, review, turn, *failure)
	}
	judgement := record.Judgement{
		By: name, Commit: review.Request.Subject.Commit, Tree: review.Request.Subject.Tree,
		Duration: duration.Duration(time.Since(started)),
		Rulings:  reviewing.Rulings(findings, said, record.Refuted, record.Confirmed), Spent: spend.NewSpent(name, calls),
	}
	review, err = w.Store.JudgeReview(ctx, review.ID, judgement, raw)
	if err == nil {
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return outcome{answered: 1}, err
}

// turnTitle describes a turn for people.
func turnTitle(review record.Review, turn string) string {
	name, judge := record.AgentOf(turn)
	by := map[bool]string{true: " judged by ", false: " by "}[judge]
	return review.Request.Subject.Spec + by + name
}

// Limits of what a reviewer's prompt says about other reviews.
const (
	knownFindings = 20  // of each kind
	knownBytes    = 600 // of the text of one finding
	knownReviews  = 50  // that are searched
)

// addOtherReviews adds to the prompt what other reviews know: everything from the review that this one follows, to be
// checked again; open findings of other reviews in the changed files, not to be raised again; and what the change was
// made to fix. It skips what cannot be read, because the review is possible without it. The built-in reviewer does not
// use it.
func (w *Worker) addOtherReviews(ctx context.Context, review record.Review, change reviewing.Change,
	p *reviewing.ReviewPrompt) {
	if !slices.ContainsFunc(review.Request.Reviewers(), func(name string) bool { return !role.Reserved(name) }) {
		return
	}
	subject, s := review.Request.Subject, w.Store
	if follows := review.Request.Follows; follows != "" {
		if before, err := s.Review(ctx, follows); err == nil {
			p.Previous = shortened(placedIn(ctx, s, before, before.Open(), subject.Tree))
			for _, sub := range before.Standing() {
				p.Said = append(p.Said, sub.Words())
			}
			reply.BoundWords(p.Said)
		}
	}
	here := func(r record.ReviewSummary) bool {
		return r.ID != review.ID && r.ID != review.Request.Follows && r.Run == "" && r.Critical+r.Warnings+r.Notes > 0 &&
			slices.ContainsFunc(r.Files, func(file string) bool { return slices.Contains(change.Files, file) })
	}
	open := func(r record.Review) []reply.Finding {
		found := slices.DeleteFunc(r.Open(), func(f reply.Finding) bool { return !slices.Contains(change.Files, f.File) })
		return placedIn(ctx, s, r, found, subject.Tree)
	}
	p.Known = w.gather(ctx, store.Filter{Status: record.WaitingStatus, ByNeed: true, Limit: knownReviews, Some: true,
		Review: here}, open)
	if subject.Commit != "" {
		fixes := func(r record.ReviewSummary) bool { return slices.Contains(r.FixedBy, subject.Commit) }
		fixed := func(r record.Review) []reply.Finding {
			return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool {
				answer, _ := r.AnswerTo(f.ID)
				return answer.Kind != record.AnswerFixed || answer.Commit != subject.Commit
			})
		}
		p.Fixes = w.gather(ctx, store.Filter{Limit: knownReviews, Some: true,
			Mention: map[string]bool{string(subject.Commit): true}, Review: fixes}, fixed)
	}
}

// gather returns the findings that of selects from the reviews that match filter.
func (w *Worker) gather(ctx context.Context, filter store.Filter,
	of func(record.Review) []reply.Finding) []reply.Finding {
	lines, _, err := w.Store.Reviews(ctx, filter)
	if err != nil {
		return nil
	}
	var all []reply.Finding
	for _, line := range lines {
		if other, err := w.Store.Review(ctx, line.ID); err == nil && len(all) < knownFindings {
			all = append(all, of(other)...)
		}
	}
	return shortened(all)
}

func shortened(findings []reply.Finding) []reply.Finding {
	findings = slices.Clone(findings[:min(len(findings), knownFindings)])
	for i := range findings {
		findings[i].Issue = prose.CutMiddle(findings[i].Issue, knownBytes)
		findings[i].Fix = prose.CutMiddle(findings[i].Fix, knownBytes)
	}
	return findings
}

// placedIn moves findings of a review to their places in tree, where these are known.
func placedIn(ctx context.Context, s *store.Store, review record.Review, findings []reply.Finding,
	tree gitstore.ID) []reply.Finding {
	findings = slices.Clone(findings[:min(len(findings), knownFindings)])
	for i := range findings {
		f := &findings[i]
		placed, err := reviewing.PlaceFinding(ctx, s, review, *f, tree)
		if err == nil && placed != nil && !placed.Outdated && f.Line > 0 {
			f.File, f.Line, f.EndLine = placed.File, placed.StartLine, placed.EndLine
		}
	}
	return findings
}
