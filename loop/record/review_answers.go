package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
)

// confirms reports whether the answer's actor can confirm that the finding is fixed or gone: an objector, a verifier,
// or this program, but not to a person who asked for changes. See Voice.takesBack for who may speak as the objector.
func (r Review) confirms(a Answer) bool {
	ids := r.sameIDs(a.Finding)
	said := func(s Submission) bool {
		return SameActor(s.Reviewer, a.Actor) && a.takesBack(s.Voice, s.Reviewer) &&
			slices.ContainsFunc(s.Findings(), func(f reply.Finding) bool { return slices.Contains(ids, f.ID) })
	}
	verified := func(v Verification) bool {
		return v.Spent.By(v.By) == a.Actor && v.Commit == a.Commit && slices.ContainsFunc(v.Rulings, func(ruled Ruling) bool {
			return ruled.Kind == Fixed && slices.Contains(ids, ruled.Finding)
		})
	}
	itself := a.Actor == Itself && !r.personAsked(ids)
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
	if newest := last(r.AnswersTo(finding)); newest != nil {
		return *newest, true
	}
	return answer, false
}

// AnswersTo returns the answers to a finding or comment, by any of its ids, oldest first.
func (r Review) AnswersTo(finding string) []Answer {
	ids := r.sameIDs(finding)
	return slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return !slices.Contains(ids, a.Finding) })
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
