package queue

import (
	"context"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
)

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
