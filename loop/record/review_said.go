package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
)

// Newest returns the newest submission of a reviewer.
func (r Review) Newest(reviewer string) (sub Submission, ok bool) {
	for _, sub := range slices.Backward(r.Submissions) {
		if SameActor(sub.Reviewer, reviewer) {
			return sub, true
		}
	}
	return Submission{}, false
}

// Overruled returns why an approval that has just been recorded in a person's name does not count, or "": a request for
// changes in that name is later by the clocks (see saidSince), or that person spoke and somebody else approves now.
func (r Review) Overruled(p Person) string {
	newest, _ := r.Newest(p.Actor)
	if p.Decision != Approve {
		return ""
	}
	if newest.Decision == RequestChanges {
		return fmt.Sprintf("It does not count: %s asked for changes in another clone at %s, later by that machine's clock.",
			newest.Of(newest.Reviewer), newest.At.UTC().Format(time.RFC3339))
	}
	for _, sub := range r.Standing() {
		switch {
		case !SameActor(sub.Reviewer, p.Actor) || sub.Event == newest.Event || newest.takesBack(sub):
		case newest.byAnother(newest.Reviewer):
			said := map[Decision]string{RequestChanges: "asked for changes", Approve: "approved", CommentOnly: "commented"}
			return fmt.Sprintf("It does not count: %s %s, and nobody else withdraws that; you are %s.", sub.Reviewer,
				said[sub.Decision], newest.Recorder)
		default:
			return "It does not count: " + newest.inOtherLog(sub.Voice)
		}
	}
	return ""
}

// Sent reports whether reviewer's submission with key is recorded. It is false for an empty key.
func (r Review) Sent(reviewer, key string) bool {
	return key != "" && slices.ContainsFunc(r.Submissions, func(s Submission) bool {
		return s.Key == key && SameActor(s.Reviewer, reviewer)
	})
}

// Looked returns the most thorough look among the submissions that count, or "".
func (r Review) Looked() Looked {
	farthest := Looked("")
	for _, sub := range r.Standing() {
		if sub.Outcome != OutcomeNothing && !sub.Report.Unreadable() {
			farthest = farthest.farther(sub.Looked)
		}
	}
	return farthest
}

// Speaker is a reviewer whose verdict counts, and how it came to be recorded.
type Speaker struct {
	By string `json:"by"` // the name given
	Voice
	Event gitstore.ID `json:"event"`
}

func (s Submission) speaker() Speaker { return Speaker{s.Reviewer, s.Voice, s.Event} }

// TakesBack reports whether s may withdraw what earlier said: see Voice.takesBack.
func (s Speaker) TakesBack(earlier Speaker) bool {
	return SameActor(s.By, earlier.By) && s.Voice.takesBack(earlier.Voice, earlier.By)
}

// Refusers returns the people whose request for changes counts, and whoever refuses from earlier rounds.
func (r Review) Refusers() []Speaker {
	all := r.decided(RequestChanges)
	for _, t := range r.refusing {
		all = append(all, t.by...)
	}
	return all
}

// Approvers returns the people whose approval counts.
func (r Review) Approvers() []Speaker { return r.decided(Approve) }

// decided returns the people whose verdict counts and is d.
func (r Review) decided(d Decision) (all []Speaker) {
	for _, sub := range r.Standing() {
		if sub.Decision == d {
			all = append(all, sub.speaker())
		}
	}
	return all
}

// Quorum returns how many agents must fail a change for the same reason for that to count.
func (r Review) Quorum() int {
	agents := each.Count(r.Request.Reviewers(), func(name string) bool { return name != Human })
	return max(1, min(r.Request.Quorum, agents))
}

// quorumCounts returns the quorum if as many agents have answered, else 1: agents that did not answer outvote nobody.
func (r Review) quorumCounts() int {
	answered := each.Count(r.Opinions(), func(o Opinion) bool { return !o.person && o.Outcome != OutcomeNothing })
	if quorum := r.Quorum(); answered >= quorum {
		return quorum
	}
	return 1
}

// Standing returns the submissions that count, oldest first: the newest of each reviewer. Comments alone do not
// replace a reviewer's verdict, and nobody else replaces in a person's name what that person said: a request for
// changes in that name counts beside it, anything else does not count.
func (r Review) Standing() []Submission {
	var standing []Submission
	for _, s := range r.Submissions {
		said, replaced := false, false
		left := slices.DeleteFunc(slices.Clone(standing), func(o Submission) bool {
			if !SameActor(o.Reviewer, s.Reviewer) {
				return false
			}
			said = true
			replaces := s.takesBack(o) && (s.Outcome != OutcomeCommented || o.Outcome == OutcomeCommented)
			replaced = replaced || replaces
			return replaces
		})
		beside := s.Decision == RequestChanges && !slices.ContainsFunc(standing, s.takesBack)
		if !said || replaced || beside {
			standing = append(left, s)
		}
	}
	return standing
}

// Findings returns the findings of all submissions and the comments of people, in order: see Joined.
func (r Review) Findings() []reply.Finding {
	return each.Of(r.Joined(), func(j Joined) reply.Finding { return j.Finding })
}

// Comments returns the comments of all submissions, in order.
func (r Review) Comments() []Comment {
	return slices.Concat(each.Of(r.Submissions, func(s Submission) []Comment { return s.Comments })...)
}

// answered reports whether an agent has answered on tree. People may answer again.
func (r Review) answered(agent string, tree gitstore.ID) bool {
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool {
		return s.Decision == "" && s.Reviewer == agent && s.Tree == tree
	})
}

// Waiting returns the reviewers who were asked and have not answered, followed by the judge if it is its turn.
func (r Review) Waiting() []string {
	waiting := slices.DeleteFunc(r.Request.Reviewers(), r.hasAnswered)
	if r.awaitsJudge() {
		waiting = append(waiting, JudgeTurn(r.Request.Judge))
	}
	return waiting
}

// Verdicts returns the submissions that count and are more than comments.
func (r Review) Verdicts() []Submission {
	return slices.DeleteFunc(r.Standing(), func(s Submission) bool {
		return s.Outcome == OutcomeCommented || s.Outcome == OutcomeNothing
	})
}
