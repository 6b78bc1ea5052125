package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
)

// Conversation is the chain of rounds over one change, oldest first: each but the first follows the one before it.
type Conversation []Review

// Place returns the index of a round; -1 for a review that is none of them.
func (c Conversation) Place(id string) int {
	return slices.IndexFunc(c, func(r Review) bool { return r.ID == id })
}

// Thread is a finding or comment of an earlier round that is carried into a later one. What is said of it is recorded
// in the round that it belongs to.
type Thread struct {
	Round   int // from 1
	Review  string
	Finding Joined // without an id where a person asked for changes and commented on nothing
	Refuses bool   // the later round is no pass while it is carried
}

// Carried returns what is carried into the round at an index: what is open or claimed fixed in rounds before it. Who
// objected settles it by a later word: a person who approves, an agent that looks again.
func (c Conversation) Carried(at int) (carried []Thread) {
	for n, r := range c[:at] {
		if r.ResolvedBy != "" && r.ResolvedBy != Itself { // somebody says that it is dealt with
			continue
		}
		later := c[n+1 : at+1]
		for _, j := range r.Joined() {
			answer, _ := r.AnswerTo(j.ID)
			if (r.IsOpen(j.Finding) || answer.Claimed()) && !later.settle(r, j) {
				carried = append(carried, Thread{n + 1, r.ID, j, r.refuses(j)})
			}
		}
		for _, sub := range r.Standing() {
			j := Joined{SaidBy: []string{sub.Reviewer}}
			if j.Issue = sub.Report.Summary; sub.Decision == RequestChanges && len(sub.Findings()) == 0 && !later.settle(r, j) {
				carried = append(carried, Thread{n + 1, r.ID, j, true})
			}
		}
	}
	return carried
}

// refuses reports whether somebody who said a finding refuses the change.
func (r Review) refuses(j Joined) bool {
	return slices.ContainsFunc(r.Standing(), func(s Submission) bool {
		return s.Outcome == OutcomeFailed && slices.Contains(j.SaidBy, s.Reviewer)
	})
}

// settle reports whether all who said a finding of an earlier round have taken it back in one of these, or found it again.
func (c Conversation) settle(earlier Review, j Joined) bool {
	for _, r := range c {
		if _, again := r.Finding(j.ID); again && j.ID != "" {
			return true
		}
	}
	settled := func(name string) bool {
		was, _ := earlier.Newest(name)
		return slices.ContainsFunc(c, func(r Review) bool {
			now, said := r.Newest(name)
			return said && (now.Decision == Approve || !was.byPerson() && now.Outcome != OutcomeNothing && now.Outcome != OutcomePartial)
		})
	}
	return !slices.ContainsFunc(j.SaidBy, func(name string) bool { return !settled(name) })
}

// ByRound begins the note of a review whose place a later round took.
const ByRound = "superseded by "

// SupersededBy returns the review that took the place of one; "" of others. The threads of such a review go on: they take
// answers.
func (r Review) SupersededBy() string {
	later, superseded := strings.CutPrefix(r.Note, ByRound)
	if r.Status != ReviewResolved || r.ResolvedBy != Itself || !superseded {
		return ""
	}
	return later
}

// BackTo returns the people who asked for changes and have to say whether what is claimed fixed is, once all that was found
// is answered, and how many of their findings that are.
func (r Review) BackTo() (people []string, claimed int) {
	if r.Status == ReviewOpen || !r.ClosedAt.IsZero() {
		return nil, 0
	}
	for _, j := range r.Joined() {
		answer, _ := r.AnswerTo(j.ID)
		if !answer.Claimed() && r.IsOpen(j.Finding) {
			return nil, 0
		}
		if !answer.Claimed() {
			continue
		}
		mine := false
		for _, sub := range r.Standing() {
			if sub.Decision != RequestChanges || !slices.Contains(j.SaidBy, sub.Reviewer) {
				continue
			}
			if mine = true; !slices.Contains(people, sub.Reviewer) {
				people = append(people, sub.Reviewer)
			}
		}
		if mine {
			claimed++
		}
	}
	return people, claimed
}

// IsBackTo reports whether a person has to say whether what is claimed fixed in a review is.
func (s ReviewSummary) IsBackTo(person string) bool {
	return slices.ContainsFunc(s.BackTo, func(name string) bool { return samePerson(name, person) })
}

// AnswerConfirmed is typed by who objected, of what is claimed fixed or gone: it is. It is recorded as their own answer of that kind.
const AnswerConfirmed AnswerKind = "confirmed"

// Confirmation returns what is recorded of a typed answer: of AnswerConfirmed the claim in the words of who objected.
func (r Review) Confirmation(a Answer) (Answer, error) {
	if a.Kind != AnswerConfirmed {
		return a, nil
	}
	claim, _ := r.AnswerTo(a.Finding)
	if !claim.Claimed() {
		return a, &InputError{fmt.Sprintf("%s is not claimed fixed", a.Finding)}
	}
	a.Kind, a.Commit = claim.Kind, claim.Commit
	if j, _ := r.Finding(a.Finding); !r.confirms(a) {
		return a, &InputError{fmt.Sprintf("%s can confirm it, who objected; you are %s", strings.Join(j.SaidBy, ", "), a.Actor)}
	}
	return a, nil
}

// samePerson compares names by their addresses, whatever the session; what has none is compared whole.
func samePerson(a, b string) bool {
	mine, other := gitstore.ParseIdentity(a).Email, gitstore.ParseIdentity(b).Email
	return a == b || mine != "" && strings.EqualFold(mine, other)
}
