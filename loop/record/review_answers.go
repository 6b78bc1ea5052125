package record

import (
	"slices"

	"github.com/git-runr/git-runr/loop/reply"
)

// confirms reports whether the word of who answers settles what is said to be fixed or gone: who objected, and
// who verified it.
func (r Review) confirms(a Answer) bool {
	ids := r.sameIDs(a.Finding)
	said := func(s Submission) bool {
		return samePerson(s.Reviewer, a.Actor) && slices.ContainsFunc(s.Findings(), func(f reply.Finding) bool { return slices.Contains(ids, f.ID) })
	}
	verified := func(v Verification) bool {
		return v.Spent.By(v.By) == a.Actor && v.Commit == a.Commit && slices.ContainsFunc(v.Rulings, func(ruled Ruling) bool {
			return ruled.Kind == Fixed && slices.Contains(ids, ruled.Finding)
		})
	}
	return a.Actor == Itself || slices.ContainsFunc(r.Submissions, said) || slices.ContainsFunc(r.Verifications, verified)
}

// SettledFinding reports whether f was fixed or refuted since.
func (r Review) SettledFinding(f reply.Finding) bool {
	answer, _ := r.AnswerTo(f.ID)
	return answer.Kind != AnswerDeferred && !r.IsOpen(f)
}

// IsOpen reports whether somebody has to say more of f: nobody answered, it is still there, or it is critical and
// only claimed to be fixed.
func (r Review) IsOpen(f reply.Finding) bool {
	answer, answered := r.AnswerTo(f.ID)
	return !answered || answer.Kind == AnswerOpen || answer.Claimed() && f.Severity == reply.Critical
}

// Claimed are the findings that are fixed or gone by somebody's word alone.
func (r Review) Claimed() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool { answer, _ := r.AnswerTo(f.ID); return !answer.Claimed() })
}

// AnswerTo is the newest answer to a finding or comment, by any of its ids; ok is false
// without one.
func (r Review) AnswerTo(finding string) (answer Answer, ok bool) {
	all := r.AnswersTo(finding)
	if len(all) == 0 {
		return answer, false
	}
	return all[len(all)-1], true
}

// AnswersTo are the answers to a finding or comment, by any of its ids, oldest first.
func (r Review) AnswersTo(finding string) []Answer {
	ids := r.sameIDs(finding)
	return slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return !slices.Contains(ids, a.Finding) })
}

// Open are the findings and comments without an answer that closes them: see IsOpen.
func (r Review) Open() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool { return !r.IsOpen(f) })
}

// Unanswered are the ids of Open.
func (r Review) Unanswered() []string {
	ids := []string{}
	for _, f := range r.Open() {
		ids = append(ids, f.ID)
	}
	return ids
}
