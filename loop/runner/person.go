package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// reviewByPerson runs a round whose reviewer is a person: it records the answer to the review that was requested, or
// stops the run until somebody answers.
func (t *execution) reviewByPerson(step Step, name string) error {
	started := time.Now()
	round := t.newRound(step, name)
	subject := record.Subject{
		Kind: record.SubjectRange, Spec: t.run.Plan.Base.Short() + ".." + t.run.Plan.Branch, Title: t.run.Plan.Entity.Name(),
		Base: t.run.Plan.Base, Commit: t.run.Head(), Tree: t.run.Head(), Branch: t.run.Plan.Branch,
	}
	change, err := reviewing.ReadChange(t.ctx, t.Store, subject, role.Limits{Binary: true, Opens: true, Generated: true})
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	if round.Census = change.Census; change.Census.Nothing() {
		return t.recordRound(round, "")
	}
	t.takeChecks(&round.Round)
	review, err := t.askPeople(subject, round.Round)
	if err != nil {
		return fmt.Errorf("ask for a review: %w", err)
	}
	answers := review.Verdicts()
	if len(answers) == 0 {
		detail := fmt.Sprintf("review %s waits for a person", review.ID)
		if len(review.Submissions) > 0 {
			detail = fmt.Sprintf("review %s was commented on and has no verdict yet", review.ID)
		}
		return t.stop(record.Stop{Reason: record.ReasonHuman, Review: review.ID, Detail: detail}, record.EventRunStopped)
	}
	people := each.Of(answers, func(s record.Submission) string { return s.Reviewer })
	round.Review, round.Reviewer, round.Report = review.ID, strings.Join(people, ", "), joinSubmissions(answers)
	round.Duration = duration.Duration(time.Since(started))
	return t.recordRound(round, "")
}

// askPeople returns the review of the run's current work: the one requested before, or a new one in its place.
func (t *execution) askPeople(subject record.Subject, round record.Round) (record.Review, error) {
	if asked := t.run.Asked; asked != nil && asked.Commit == subject.Commit && !t.run.Counted(asked.Review) {
		review, err := t.Store.Review(t.ctx, asked.Review)
		if err != nil || review.Status != record.ReviewCancelled {
			return review, err
		}
	}
	request := record.ReviewRequest{Subject: subject, Reviewer: record.Human, Message: t.requestMessage(round),
		Run: t.run.ID, Round: round.Number}
	if t.Invite != nil {
		if err := t.Invite(t.ctx, &request); err != nil {
			return record.Review{}, err
		}
	}
	review, err := t.Store.RequestReview(t.ctx, request, "runner")
	if err != nil {
		return review, err
	}
	if err := t.Store.PinReview(t.ctx, review); err != nil {
		return review, err
	}
	before := t.run
	t.run.Asked = &record.Asked{Review: review.ID, Commit: subject.Commit, Round: round.Number}
	return review, closing.SettleAsked(t.ctx, t.Store, before,
		fmt.Sprintf("superseded by review %s: round %d", review.ID, round.Number))
}

// requestMessage returns the text that tells a person what a prompt would tell an agent.
func (t *execution) requestMessage(round record.Round) string {
	plan := t.run.Plan
	parts := []string{fmt.Sprintf("Round %d of run %s. It goes on from your verdict: git runr resume %s", round.Number,
		t.run.ID, t.run.ID)}
	add := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, "**"+title+"**\n\n"+text)
		}
	}
	add("Done when", prose.CutMiddle(plan.DoneCriteria, change.MaxMessageBytes))
	add("Checks", markdownList(each.Of(round.Checks, func(c record.CheckResult) string {
		return c.Name + ": " + c.State()
	})))
	add("For the task's own checks", markdownList(doneEvidence(plan, round.Checks)))
	add("What the implementer says of its verification", prose.CutMiddle(t.verification(), change.MaxMessageBytes))
	if _, asked := t.run.Open(); round.Number > 1 || plan.FromReview != "" {
		add("Asked for before", markdownList(asked))
	}
	add("What people did meanwhile", markdownList(t.run.FromPeople()))
	return strings.Join(parts, "\n\n")
}

// markdownList formats lines as a Markdown list.
func markdownList(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}

// joinSubmissions joins several people's answers: the worst verdict, and all findings, requests and texts.
func joinSubmissions(subs []record.Submission) reply.Report {
	r := record.EmptyReport()
	r.Format, r.Verdict = reply.FormatHuman, reply.Pass
	var asked, messages, texts []string
	for _, s := range subs {
		if reply.VerdictRank(s.Report.Verdict) > reply.VerdictRank(r.Verdict) {
			r.Verdict = s.Report.Verdict
		}
		r.Findings = append(r.Findings, s.Findings()...)
		asked = append(asked, s.Report.Requests...)
		messages = append(messages, s.Report.Summary)
		texts = append(texts, s.Words().Text)
	}
	r.Effective = reply.EffectiveVerdict(r.Verdict, r.Findings, false)
	r.Approved = r.Effective.Passed()
	r.Requests = reply.Requests(r.Findings, asked)
	r.Summary = strings.TrimSpace(strings.Join(messages, "\n\n"))
	r.Text = prose.CutMiddle(strings.TrimSpace(strings.Join(texts, "\n\n")), reply.MaxText)
	return r
}

// Heard returns run with a stop that says so if the review that it stopped for has a verdict by now, or if the result
// cannot be accepted as it is.
func Heard(ctx context.Context, s *store.Store, run record.Run) record.Run {
	if run.Stop == nil {
		return run
	}
	stop := *run.Stop
	stop.NotAsIs = landing.CanAccept(ctx, s, run) != nil
	run.Stop = &stop
	if stop.Review == "" {
		return run
	}
	review, err := s.Review(ctx, stop.Review)
	if err == nil && len(review.Verdicts()) > 0 { // else the stop is as it was recorded
		stop.Answered, stop.Detail = true, "review "+review.ID+" was answered since"
	}
	return run
}

// Waits returns the review that run has stopped for, if nobody has given a verdict yet. ok is false if the run waits
// for none.
func Waits(ctx context.Context, s *store.Store, run record.Run) (review record.Review, ok bool, err error) {
	if run.Asked == nil || run.Stop == nil || run.Stop.Review != run.Asked.Review || len(run.News()) > 0 {
		return review, false, nil
	}
	review, err = s.Review(ctx, run.Asked.Review)
	return review, err == nil && review.Status != record.ReviewCancelled && len(review.Verdicts()) == 0, err
}
