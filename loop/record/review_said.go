package record

import (
	"cmp"
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

// answered reports whether an agent has answered on tree, so that its next answer does not count. Of two answers the
// one that asks for changes counts: fails says that the next one does. People may answer again.
func (r Review) answered(agent string, tree gitstore.ID, fails bool) bool {
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool {
		return s.Decision == "" && s.Reviewer == agent && s.Tree == tree && (s.Outcome == OutcomeFailed || !fails)
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

// confirms reports whether the answer's actor can confirm that the finding is fixed or gone: an objector, a verifier,
// or this program, but not to a person who asked for changes. Nor does a verifier confirm to a person that an author of
// the change ran, or whose result has no good signature where these count. See Voice.takesBack for who may speak as the
// objector.
func (r Review) confirms(a Answer) bool {
	ids := r.sameIDs(a.Finding)
	said := func(s Submission) bool {
		return SameActor(s.Reviewer, a.Actor) && a.takesBack(s.Voice, s.Reviewer) &&
			slices.ContainsFunc(s.Findings(), func(f reply.Finding) bool { return slices.Contains(ids, f.ID) })
	}
	asked := r.personAsked(ids)
	verified := func(v Verification) bool {
		if asked && (v.AuthorRan || v.Unproven) || v.Spent.By(v.By) != a.Actor || v.Commit != a.Commit {
			return false
		}
		return slices.ContainsFunc(v.Rulings, func(ruled Ruling) bool {
			return ruled.Kind == Fixed && slices.Contains(ids, ruled.Finding)
		})
	}
	itself := a.Actor == Itself && !asked
	return itself || slices.ContainsFunc(r.Submissions, said) || slices.ContainsFunc(r.Verifications, verified)
}

// personAsked reports whether a person who asked for changes reported the finding that has these ids. That its lines
// were changed or deleted does not settle it: they may be elsewhere or come back, and the person may have meant more.
func (r Review) personAsked(ids []string) bool {
	return slices.ContainsFunc(r.Standing(), func(s Submission) bool {
		return s.Decision == RequestChanges &&
			slices.ContainsFunc(s.Findings(), func(f reply.Finding) bool { return slices.Contains(ids, f.ID) })
	})
}

// AsItCounts returns an answer without the confirmation that it claims, if a person asked for changes: who answers does
// not say who confirms.
func (r Review) AsItCounts(a Answer) Answer {
	if r.personAsked(r.sameIDs(a.Finding)) {
		a.ConfirmedBy = ""
	}
	return a
}

// SettledFinding reports whether f has been fixed or refuted, or a person who reported it agrees that it can wait.
func (r Review) SettledFinding(f reply.Finding) bool {
	answer, _ := r.AnswerTo(f.ID)
	agreed := gitstore.ParseIdentity(answer.Actor).Email != "" && r.confirms(answer)
	return (answer.Kind != AnswerDeferred || agreed) && !r.IsOpen(f)
}

// IsOpen reports whether f still needs an answer: it has none, it is still there, or it is critical and only claimed
// fixed.
func (r Review) IsOpen(f reply.Finding) bool {
	answer, answered := r.AnswerTo(f.ID)
	return !answered || answer.Kind == AnswerOpen || answer.Claimed() && f.Severity == reply.Critical
}

// Claimed returns the findings that are claimed fixed or gone and not confirmed.
func (r Review) Claimed() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool {
		answer, _ := r.AnswerTo(f.ID)
		return !answer.Claimed()
	})
}

// AnswerTo returns the newest answer to a finding or comment, by any of its ids.
func (r Review) AnswerTo(finding string) (answer Answer, ok bool) {
	ids := r.sameIDs(finding)
	for i := range slices.Backward(r.Answers) {
		if slices.Contains(ids, r.Answers[i].Finding) {
			return r.Answers[i], true
		}
	}
	return answer, false
}

// AnswersTo returns the answers to a finding or comment, by any of its ids, oldest first.
func (r Review) AnswersTo(finding string) []Answer {
	ids := r.sameIDs(finding)
	return each.Where(r.Answers, func(a Answer) bool { return slices.Contains(ids, a.Finding) })
}

// LastAnswers returns the newest answer of each actor to a finding or comment, oldest first.
func (r Review) LastAnswers(finding string) []Answer { return LastOfEach(r.AnswersTo(finding)) }

// LastOfEach returns the newest of answers by each actor. They are in order, oldest first.
func LastOfEach(answers []Answer) (last []Answer) {
	for _, a := range answers {
		last = slices.DeleteFunc(last, func(before Answer) bool {
			return SameActor(before.Actor, a.Actor) && before.Voice == a.Voice
		})
		last = append(last, a)
	}
	return last
}

// Open returns the findings and comments that are open: see IsOpen.
func (r Review) Open() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool { return !r.IsOpen(f) })
}

// AccusesMessage reports whether an open finding is a secret in the message or the header of a commit. The review says
// nothing of another commit with the same change.
func (r Review) AccusesMessage() bool {
	return slices.ContainsFunc(r.Open(), accusesMessage)
}

// accusesMessage reports whether a finding is a secret in the message or the header of a commit.
func accusesMessage(f reply.Finding) bool {
	return f.Rule == RuleSecret && f.File == "" && f.Severity == reply.Critical
}

// Unanswered returns the ids of Open.
func (r Review) Unanswered() []string {
	return each.Of(r.Open(), func(f reply.Finding) string { return f.ID })
}

// News is one thing that somebody said in a review.
type News struct {
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	What    string    `json:"what"`              // a verdict, "comment", "reply", or what became of a finding
	Finding string    `json:"finding,omitempty"` // its id
	Text    string    `json:"text,omitempty"`
}

// News returns what others than person said after since, oldest first, and when person last said something.
func (r Review) News(person string, since time.Time) (news []News, last time.Time) {
	add := func(n News) {
		if SameActor(n.By, person) {
			last = slices.MaxFunc([]time.Time{last, n.At}, time.Time.Compare)
			return
		}
		if n.At.After(since) {
			news = append(news, n)
		}
	}
	for _, s := range r.Submissions {
		add(News{s.At, s.Reviewer, cmp.Or(s.Decided(), s.Said()), "", s.Report.Summary})
		for _, f := range s.Findings() {
			add(News{s.At, s.Reviewer, "comment", f.ID, f.Issue})
		}
	}
	for _, a := range r.Answers {
		add(News{a.At, a.Actor, a.What(), a.Finding, a.Reason})
	}
	for _, p := range r.Replies {
		add(News{p.At, p.Actor, "reply", p.Finding, p.Text})
	}
	slices.SortStableFunc(news, func(a, b News) int { return a.At.Compare(b.At) })
	return news, last
}
