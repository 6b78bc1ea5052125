package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
)

// Conversation is the chain of review rounds on one change, oldest first. Each round follows the one before it.
type Conversation []Review

// Place returns the index of a round in the conversation, or -1.
func (c Conversation) Place(id string) int {
	return slices.IndexFunc(c, func(r Review) bool { return r.ID == id })
}

// Thread is a finding or comment of an earlier round that is carried into a later one. Replies and answers to it are
// recorded in its own round.
type Thread struct {
	Round   int // its own round, from 1
	Review  string
	Finding Joined
	Refuses bool      // the later round does not pass while the thread is carried
	by      []Speaker // who reported it and refuses
}

// Carried returns the threads of earlier rounds that are carried into round at: those that are open or claimed fixed,
// and those that somebody else refuted or deferred while a person who asked for changes has not agreed. The objector
// settles a thread by a later verdict: a person by approving, an agent by reviewing again. A secret in the
// message of a commit is not carried to another commit, whose own message is searched.
func (c Conversation) Carried(at int) (carried []Thread) {
	for n, r := range c[:at] {
		if r.ResolvedBy != "" && r.ResolvedBy != Itself { // somebody says that it is dealt with
			continue
		}
		later := c[n+1 : at+1]
		again := later.reported()
		for _, j := range r.Joined() {
			answer, _ := r.AnswerTo(j.ID)
			if accusesMessage(j.Finding) && r.At() != c[at].At() {
				continue
			}
			by, objected := r.refuse(j), r.awaitsObjector(answer) && len(r.objectors(j)) > 0
			if (r.IsOpen(j.Finding) || answer.Claimed() || objected) && !again[j.ID] && !later.withdrawn(r, j) {
				carried = append(carried, Thread{n + 1, r.ID, j, len(by) > 0, by})
			}
		}
	}
	return carried
}

// Left returns the threads of earlier rounds that are not carried into round at although they are not settled, and the
// number of those that are settled. Not settled are an answer that none of those who reported the finding, no later
// verdict of theirs and no verification confirmed; what was deferred; and what a person called open and approved later.
// A finding that a later round reports again counts in that round.
func (c Conversation) Left(at int) (left []Thread, settled int) {
	type place struct {
		round int
		id    string
	}
	carried := map[place]bool{}
	for _, t := range c.Carried(at) {
		carried[place{t.Round, t.Finding.ID}] = true
	}
	for n, r := range c[:at] {
		later := c[n+1 : at+1]
		again := later.reported()
		for _, j := range r.Joined() {
			switch {
			case carried[place{n + 1, j.ID}], again[j.ID]:
			case r.unconfirmed(j, later.withdrawn(r, j)):
				left = append(left, Thread{Round: n + 1, Review: r.ID, Finding: j})
			default:
				settled++
			}
		}
	}
	return left, settled
}

// unconfirmed reports whether the newest answer to a finding leaves it unsettled. withdrawn says that all who reported
// it gave a later verdict without it.
func (r Review) unconfirmed(j Joined, withdrawn bool) bool {
	answer, _ := r.AnswerTo(j.ID)
	switch answer.Kind {
	case AnswerOpen, AnswerDeferred: // a person's approval says nothing of it
		return !withdrawn || slices.ContainsFunc(j.SaidBy, func(name string) bool {
			sub, _ := r.Newest(name)
			return sub.byPerson()
		})
	case AnswerRefuted:
		judged := j.Judged != nil && j.Judged.Kind == Refuted
		return !withdrawn && !judged && !r.confirms(answer)
	}
	return !withdrawn && answer.Claimed()
}

// Carrying returns the review with threads carried into it: it does not pass while one of them refuses.
func (r Review) Carrying(threads []Thread) Review {
	r.refusing = slices.DeleteFunc(slices.Clone(threads), func(t Thread) bool { return !t.Refuses })
	return r
}

func (r Review) refuse(j Joined) (by []Speaker) {
	for _, s := range r.Standing() {
		if s.Outcome == OutcomeFailed && slices.Contains(j.SaidBy, s.Reviewer) {
			by = append(by, s.speaker())
		}
	}
	return by
}

// objectors returns the submissions that count of people who reported the finding and ask for changes.
func (r Review) objectors(j Joined) []Submission {
	return each.Where(r.Standing(), func(s Submission) bool {
		return s.Decision == RequestChanges && slices.Contains(j.SaidBy, s.Reviewer)
	})
}

// reported returns the ids of the findings that the rounds of c report.
func (c Conversation) reported() map[string]bool {
	ids := map[string]bool{}
	for _, r := range c {
		for _, j := range r.Joined() {
			ids[j.ID] = true
			for _, id := range j.Same {
				ids[id] = true
			}
		}
	}
	return ids
}

// withdrawn reports whether all who reported a finding in an earlier round gave a verdict in the rounds of c that no
// longer objects.
func (c Conversation) withdrawn(earlier Review, j Joined) bool {
	settled := func(name string) bool {
		was, _ := earlier.Newest(name)
		return slices.ContainsFunc(c, func(r Review) bool {
			now, said := r.Newest(name)
			return said && now.takesBack(was) &&
				(now.Decision == Approve || !was.byPerson() && now.sawWhole())
		})
	}
	return !slices.ContainsFunc(j.SaidBy, func(name string) bool { return !settled(name) })
}

// ByRound is the prefix of the note of a review that a later round superseded.
const ByRound = "superseded by "

// SupersededBy returns the id of the review that superseded r, or "". The threads of a superseded review still
// accept answers.
func (r Review) SupersededBy() string {
	later, superseded := strings.CutPrefix(r.Note, ByRound)
	if r.Status != ReviewResolved || r.ResolvedBy != Itself || !superseded {
		return ""
	}
	return later
}

// BackTo returns the people who asked for changes and now have to say whether they agree with the answers of others,
// and the number of their findings that wait for that: those claimed fixed or gone, and those that somebody else
// refuted or deferred. Both are zero until all findings are answered.
func (r Review) BackTo() (people []string, answered int) {
	if r.Status == ReviewOpen || !r.ClosedAt.IsZero() {
		return nil, 0
	}
	return r.Awaited()
}

// Awaited is BackTo, whether the review is closed or not: an answer without that agreement settles nothing.
func (r Review) Awaited() (people []string, answered int) {
	for _, j := range r.Joined() {
		answer, _ := r.AnswerTo(j.ID)
		if !answer.Claimed() && r.IsOpen(j.Finding) {
			return nil, 0
		}
		if !r.awaitsObjector(answer) {
			continue
		}
		objectors := r.objectors(j)
		for _, sub := range objectors {
			people = each.Once(people, sub.Reviewer)
		}
		answered += min(1, len(objectors))
	}
	return people, answered
}

// awaitsObjector reports whether an answer needs the agreement of whoever reported the finding.
func (r Review) awaitsObjector(a Answer) bool {
	return a.Claimed() || (a.Kind == AnswerRefuted || a.Kind == AnswerDeferred) && !r.confirms(a)
}

// Saying returns a new answer for the title of its event: "claimed fixed by Ann", "fixed, confirmed by Bob".
func (r Review) Saying(a Answer) string {
	earlier, _ := r.AnswerTo(a.Finding)
	word, by := a.Word(), " by "
	if r.confirms(a) {
		word = string(a.Kind)
		if earlier.Kind == a.Kind && r.awaitsObjector(earlier) {
			by = ", confirmed by "
		}
	}
	said := word + by + Voice{}.Of(a.Actor)
	if a.ConfirmedBy != "" {
		said += ", confirmed by " + a.ConfirmedBy
	}
	return said
}

// IsBackTo reports whether person has to confirm claimed fixes in the review.
func (s ReviewSummary) IsBackTo(person string) bool {
	return slices.ContainsFunc(s.BackTo, func(name string) bool { return SameActor(name, person) })
}

// AnswerConfirmed is typed by an objector to agree with an answer: that a finding is fixed, gone, refuted or deferred.
// It is recorded as the objector's own answer of that kind.
const AnswerConfirmed AnswerKind = "confirmed"

// Confirmation returns the answer to record for a typed one: AnswerConfirmed becomes the answer that waits for it, in
// the objector's name. It returns an *InputError if none waits or the actor did not object.
func (r Review) Confirmation(a Answer) (Answer, error) {
	if a.Kind != AnswerConfirmed {
		return a, nil
	}
	claim, _ := r.AnswerTo(a.Finding)
	if !r.awaitsObjector(claim) {
		return a, &InputError{fmt.Sprintf("no answer to %s waits to be confirmed", a.Finding)}
	}
	a.Kind, a.Commit = claim.Kind, claim.Commit
	a.Reason = cmp.Or(a.Reason, string(AnswerConfirmed))
	if r.confirms(a) {
		return a, nil
	}
	j, _ := r.Finding(a.Finding)
	for _, sub := range r.Standing() {
		if SameActor(sub.Reviewer, a.Actor) && slices.Contains(j.SaidBy, sub.Reviewer) && !a.byAnother(a.Actor) {
			return a, &InputError{a.inOtherLog(sub.Voice)}
		}
	}
	return a, &InputError{fmt.Sprintf("only %s, who reported it, can confirm it; you are %s",
		strings.Join(j.SaidBy, ", "), cmp.Or(a.Recorder, a.Actor))}
}
