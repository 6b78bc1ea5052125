package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
)

func (t *execution) newRound(step Step, reviewer string) record.RoundPayload {
	round := record.Round{Number: step.Number, Reviewer: reviewer, Commit: t.run.Head(), Report: record.EmptyReport()}
	round.Tree = cmp.Or(t.run.HeadTree(), round.Commit)
	if a := t.run.LastAttempt(); a != nil {
		round.Attempt = a.Number
	}
	return record.RoundPayload{Step: step.Work.Name, Round: round}
}

// takeChecks copies the check results of the reviewed attempt to the round.
func (t *execution) takeChecks(round *record.Round) {
	if checks := t.run.LastChecks(); checks != nil && checks.Attempt == round.Attempt {
		round.Checks = checks.Results
		round.Census.CountChecks(checks.Results, 0)
	}
}

// recordRound computes the round's effective verdict and records the round. raw is the reviewer's full answer.
func (t *execution) recordRound(round record.RoundPayload, raw string) error {
	title := fmt.Sprintf("round %d by %s: ", round.Number, round.By(round.Reviewer))
	switch {
	case round.Failure != nil:
		title += round.Failure.Reason
	case round.Census.Nothing():
		title += record.ReasonNothing
	default:
		round.Report.Effective = reply.EffectiveVerdict(round.Report.Verdict, round.Report.Findings, round.ChecksFailed())
		reviewing.BoundVerdict(&round.Report, round.Census)
		whole := t.upTo(round.Commit, round.Tree)
		round.Unseen, round.Change = t.unseen(round.Round, whole), t.Store.ChangeID(t.ctx, whole)
		title = fmt.Sprintf("round %d %s by %s, %s", round.Number, round.Said(), round.By(round.Reviewer),
			round.Report.Gist())
	}
	return t.record(record.EventRoundCompleted.New(round.Reviewer, title, round).Attach("review.md", raw))
}

// unseen returns the run's commits that the reviewer of a round has seen neither in the whole change nor in an earlier
// round.
func (t *execution) unseen(round record.Round, whole change.Subject) []gitstore.ID {
	hides := round.Census.Hides
	if len(round.Census.LeftOut) == 0 {
		hides = nil
	}
	unseen := t.Store.Unseen(t.ctx, whole, hides)
	for _, earlier := range t.run.Rounds {
		if len(unseen) == 0 || !earlier.SawAll() || earlier.Reviewer != round.Reviewer {
			continue
		}
		row, err := t.Store.Repo.Between(t.ctx, whole.Base, earlier.Commit, maxSeenBefore)
		if err != nil {
			continue // an agent's commits that were joined, and are gone
		}
		unseen = slices.DeleteFunc(unseen, func(id gitstore.ID) bool {
			return slices.Contains(row, id) && !slices.Contains(earlier.Unseen, id)
		})
	}
	return unseen
}

// commitWords returns the messages of the run's commits that the program did not make, because they land with them.
func (t *execution) commitWords() []reply.Words {
	base, head := t.run.Plan.Base, t.run.Head()
	made := each.SetOf(t.run.Attempts, func(a record.Attempt) gitstore.ID { return a.Commit })
	for _, by := range t.run.Interventions {
		made[by.Commit] = true
	}
	subject := record.Subject{Kind: record.SubjectRange, Base: base, Commit: head}
	row, err := t.Store.Repo.Between(t.ctx, base, head, maxSeenBefore)
	if err == nil && slices.ContainsFunc(row, func(id gitstore.ID) bool { return !made[id] }) {
		t.Store.AddMessages(t.ctx, &subject)
		subject.Messages = slices.DeleteFunc(subject.Messages, func(m change.Message) bool { return made[m.Commit] })
	}
	return append(t.run.Plan.Commits(), subject.Words()...)
}

// maxSeenBefore is the maximum number of commits of an earlier round that count as seen.
const maxSeenBefore = 1000

// verification returns the newest implementer's account of its own verification.
func (t *execution) verification() string {
	if a := t.run.LastAttempt(); a != nil {
		return a.Verification
	}
	return ""
}

// refuted returns the newest implementer's reason for changing nothing, in its words.
func (t *execution) refuted() []reply.Words {
	if a := t.run.LastAttempt(); a != nil && a.Refutes != "" {
		return []reply.Words{{By: a.By(a.Agent), Text: a.Refutes}}
	}
	return nil
}

// saidBefore returns the full text of what the implementer was last asked for, and a newer answer that could not be
// read.
func (t *execution) saidBefore() []reply.Words {
	said := t.run.Said()
	if last := t.run.LastRound(); last != nil && last.Failure == nil && last.Report.Unreadable() {
		w := last.Words()
		w.By += " (this answer could not be read: answer in the form that is asked for below)"
		said = append(slices.Clone(said), w)
	}
	return said
}
