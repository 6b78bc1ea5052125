package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Calm says what a review waits for of which OfReview returns nothing.
func Calm(review record.Review) string {
	people, answers := review.BackTo()
	if review.Status == record.ReviewResolved && review.SupersededBy() == "" {
		people, answers = review.Awaited()
	}
	switch {
	case answers > 0 && review.Status == record.ReviewResolved:
		return fmt.Sprintf("review %s is resolved, and audit and the gate refuse its change until %s confirms %s", review.ID,
			strings.Join(people, ", "), prose.Count(answers, "answer"))
	case answers > 0:
		return fmt.Sprintf("review %s waits for %s to confirm %s", review.ID, strings.Join(people, ", "),
			prose.Count(answers, "answer"))
	case review.Status == record.ReviewResolved && review.Outcome() == record.OutcomeFailed && len(review.Open()) > 0:
		return fmt.Sprintf("review %s was resolved by %s with %s open, which audit and the gate go on counting", review.ID,
			review.ResolvedBy, prose.Count(len(review.Open()), "finding"))
	case review.Status == record.ReviewOpen:
		return fmt.Sprintf("review %s is open, and nobody has answered it", review.ID)
	case passedWithNotes(review):
		return fmt.Sprintf("review %s passed with %s, which nobody has answered", review.ID,
			prose.Count(len(review.Open()), "note"))
	}
	return fmt.Sprintf("review %s is %s and asks for nothing", review.ID, review.Status)
}

// OfReview diagnoses a review whose reviewer could not run, saw nothing or gave no readable answer, or that asks for
// changes nobody has answered. checks are the currently configured ones; fix is the command that has an implementer
// continue, or says how to get one. It returns false if there is nothing to say: nobody has reviewed yet, nothing was
// found, or everything is answered.
func OfReview(review record.Review, checks []runplan.Check, fix string) (Diagnosis, bool) {
	reason, detail, ok := reviewReason(review)
	if !ok {
		return Diagnosis{}, false
	}
	run := reviewAsRun(review, checks)
	d := Of(run, record.Stop{Reason: reason, Detail: detail})
	d.ReviewID, d.Checkpoint, d.Requests, d.Accept = review.ID, nil, nil, ""
	d.Resumable, d.intervention, d.Intervention = false, nil, ""
	d.NextSteps = []record.NextStep{{Command: "git runr show " + review.ID, What: "read the review"}}
	switch {
	case reason == record.ReasonReviewNotPassed:
		d.Explanation = "The review asks for changes that nobody has made yet."
		step := record.NextStep{Command: fix, What: "let an implementer fix the findings"}
		if review.Request.Subject.Commit != "" && fix != "git runr agents" { // which says that no agent is ready
			d.NextSteps = slices.Insert(d.NextSteps, 0, step)
		}
	case reason == record.ReasonReviewUnreadable:
		d.Explanation = "The reviewer's answer could not be read: it contains neither a verdict nor a request."
		again := record.NextStep{Command: "git runr review --again " + review.ID, What: "ask the reviewer again"}
		d.NextSteps = slices.Insert(d.NextSteps, 0, again)
	case unfinished(review):
		d.NextSteps = append(retrySteps(*review.Failure), d.NextSteps...)
	}
	d.SuggestedActions = slices.Concat(d.runs(), d.steps(), edits(run, record.Stop{Reason: reason}, nil))
	return d, true
}

// retrySteps returns the commands that have a reviewer asked again.
func retrySteps(f record.Failure) []record.NextStep {
	next := f.Next()
	steps := each.Of(next.Commands, func(command string) record.NextStep {
		return record.NextStep{Command: command, What: "needed before the next command"}
	})
	steps[len(steps)-1].What = "have the reviewer asked again: " + strings.TrimSuffix(next.What, ":")
	return steps
}

// Asks reports whether review has something to diagnose: see OfReview.
func Asks(review record.Review) bool {
	_, _, ok := reviewReason(review)
	return ok
}

// unfinished reports whether the review has no result because a reviewer could not run.
func unfinished(review record.Review) bool { return review.Failure != nil && !review.Complete() }

// passedWithNotes reports whether the review passed, and some of its notes are unanswered.
func passedWithNotes(review record.Review) bool {
	return review.ClosedAt.IsZero() && review.Outcome() == record.OutcomePassed && len(review.Open()) > 0
}

// reviewReason returns the problem of a review as a code of the registry.
func reviewReason(review record.Review) (code, detail string, ok bool) {
	found := review.Findings()
	switch {
	case !review.ClosedAt.IsZero(), passedWithNotes(review):
	case unfinished(review):
		return review.Failure.Reason, review.Failure.Detail, true
	case review.Unreadable() && len(review.Open()) == 0:
		return record.ReasonReviewUnreadable, "", true
	case len(review.Open()) > 0, slices.ContainsFunc(review.Submissions, func(s record.Submission) bool {
		return len(reply.RequestsBeside(s.Report.Requests, found)) > 0
	}),
		review.Outcome() == record.OutcomeFailed && len(found) == 0:
		return record.ReasonReviewNotPassed, "", true
	case review.Outcome() == record.OutcomeNothing:
		return record.ReasonNothing, "", true
	case review.Outcome() == record.OutcomePartial:
		return record.ReasonPartial, "", true
	}
	return "", "", false
}

// reviewAsRun returns a run at the state of the review: the unanswered parts of its submissions are one round, and
// their check results belong to the commit under review.
func reviewAsRun(review record.Review, checks []runplan.Check) record.Run {
	subject := review.Request.Subject
	run := record.Run{Plan: runplan.Plan{
		Entity: runplan.Entity{Type: "review", Title: subject.Title}, Base: subject.Commit, Checks: checks,
		FromReview: review.ID,
	}}
	answered := func(id string) bool { _, ok := review.AnswerTo(id); return ok }
	settled := slices.DeleteFunc(review.Findings(), func(f reply.Finding) bool { return !answered(f.ID) })
	round := record.Round{Number: 1, At: review.SubmittedAt,
		Report: reply.Report{Effective: reply.NeedsFix, Findings: review.Open()}}
	for _, sub := range review.Submissions {
		round.Report.Requests = append(round.Report.Requests, reply.RequestsBeside(sub.Report.Requests, settled)...)
		for _, c := range sub.Comments {
			if !answered(c.ID) {
				round.Report.Requests = append(round.Report.Requests, c.Comment)
			}
		}
		step := record.CheckRun{At: sub.At}
		for _, c := range sub.Checks {
			c.Tree = "" // the same tree by another id
			step.Results = append(step.Results, c)
		}
		run.Checks = append(run.Checks, step)
	}
	if len(review.Submissions) > 0 {
		run.Rounds = []record.Round{round}
	}
	return run
}
