package record

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/people"
)

// Invited says which people a review asks, and how many answers it waits for. The zero value asks everybody for one
// answer.
type Invited struct {
	People    []string `json:"people,omitempty"`    // "Name <address>"; none: anybody
	Each      bool     `json:"each,omitempty"`      // wait for an answer from each of People, not only the first
	Approvals []Quota  `json:"approvals,omitempty"` // approvals required in addition
}

// Quota is a required number of approvals by certain people.
type Quota struct {
	People []string `json:"people,omitempty"` // "Name <address>"; none: anybody who did not write the change
	Need   int      `json:"need"`
}

// Asks reports whether the request asks a person. A request without names asks everybody.
func (v Invited) Asks(person string) bool { return len(v.People) == 0 || hasPerson(v.People, person) }

func hasPerson(all []string, person string) bool {
	return slices.ContainsFunc(all, func(p string) bool { return SameActor(p, person) })
}

// WaitsFor returns Waiting with "human" replaced by the names of the people who are still asked.
func (s ReviewSummary) WaitsFor() []string {
	if at := slices.Index(s.Waiting, Human); at >= 0 && len(s.StillAsked) > 0 {
		return slices.Replace(slices.Clone(s.Waiting), at, at+1, s.StillAsked...)
	}
	return s.Waiting
}

// approving returns the people whose approval counts, without duplicates and without the author and co-authors of the
// change.
func (r Review) approving() (all []string) {
	for _, s := range r.Standing() {
		if s.Decision == Approve && s.Looked != LookedAuthor && !hasPerson(all, s.Reviewer) {
			all = append(all, s.Reviewer)
		}
	}
	return all
}

// Authors returns the author and the co-authors of the change and, if a run asks about its work, who had it written.
func (r Review) Authors() []string {
	wrote := []string{r.Request.Subject.Author}
	if r.Request.Run != "" {
		wrote = append(wrote, r.RequestedBy)
	}
	for _, m := range r.Request.Subject.Messages {
		for _, p := range people.CoAuthors(m.Text) {
			wrote = append(wrote, p.String())
		}
	}
	return wrote
}

// Wrote reports whether an actor is an author or co-author of the change, or may be one by the full name.
func (r Review) Wrote(actor string) bool {
	return slices.ContainsFunc(r.Authors(), func(author string) bool {
		return SameActor(author, actor) ||
			people.MayBeOne(gitstore.ParseIdentity(author), gitstore.ParseIdentity(actor))
	})
}

// Approves reports whether an actor's approval stands and counts: it does not for an author of the change.
func (r Review) Approves(actor string) bool { return hasPerson(r.approving(), actor) }

// Uncounted says why a person's approval does not count, "" if it does: an author gave it, or recorded it in another
// name.
func (r Review) Uncounted(sub Submission) string {
	why := "who wrote a change does not approve it"
	switch {
	case sub.Decision != Approve || r.Approves(sub.Reviewer):
		return ""
	case sub.AuthorRecorded:
		why = fmt.Sprintf("%s, who wrote the change, recorded it in the name of %s", sub.Recorder, Plain(sub.Reviewer))
	}
	return "It does not count as approved: " + why + "."
}

// have returns how many of the approving people count for the quota, at most Need. If the quota names nobody, people
// who may be one person count once, as in the audit of a commit. Named people may have the same name.
func (q Quota) have(approving []string) int {
	var counted []string
	for _, p := range approving {
		known := func(other string) bool {
			return people.MayBeOne(gitstore.ParseIdentity(other), gitstore.ParseIdentity(p))
		}
		if hasPerson(q.People, p) || len(q.People) == 0 && !slices.ContainsFunc(counted, known) {
			counted = append(counted, p)
		}
	}
	return min(len(counted), q.Need)
}

// ApprovedOf returns how many approvals the review has and needs, by the rule that lacks most. need is 0 if the request
// requires no approvals.
func (r Review) ApprovedOf() (have, need int) {
	if !r.Request.Each && len(r.Request.Approvals) == 0 {
		return 0, 0
	}
	approving := r.approving()
	consider := func(has, needs int) {
		if needs-has > need-have || need == 0 {
			have, need = has, needs
		}
	}
	if r.Request.Each {
		consider(Quota{r.Request.People, len(r.Request.People)}.have(approving), len(r.Request.People))
	}
	haveOwners, needOwners := 0, 0
	for _, q := range r.Request.Approvals {
		if len(q.People) == 0 {
			consider(q.have(approving), q.Need)
			continue
		}
		haveOwners, needOwners = haveOwners+q.have(approving), needOwners+q.Need
	}
	if needOwners > 0 {
		consider(haveOwners, needOwners)
	}
	return have, need
}

// personAnswered reports whether one of the people asked has answered. Somebody else's answer is not theirs.
func (r Review) personAnswered() bool {
	if len(r.Request.People) == 0 {
		return slices.ContainsFunc(r.Submissions, Submission.byPerson)
	}
	return slices.ContainsFunc(r.Request.People, func(person string) bool { return !r.silent(person) })
}

// peopleAnswered reports whether the review waits for no person: one of the people asked has answered, or all of them
// if Each is set, and every quota is reached or awaits nobody.
func (r Review) peopleAnswered() bool {
	if !r.personAnswered() || r.Request.Each && slices.ContainsFunc(r.Request.People, r.silent) {
		return false
	}
	if len(r.Request.Approvals) == 0 {
		return true
	}
	approving, refused := r.approving(), r.refused()
	return !slices.ContainsFunc(r.Request.Approvals, func(q Quota) bool {
		return q.have(approving) < q.Need && (!refused || slices.ContainsFunc(q.People, r.silent))
	})
}

// refused reports whether a person's request for changes stands and a finding is open. It is the author's turn then:
// people who have answered, or were not named, approve only what the author does about it.
func (r Review) refused() bool { return len(r.Refusers()) > 0 && len(r.Open()) > 0 }

// silent reports whether a person has submitted nothing. What an author of the change recorded in that name is nothing,
// and so is what somebody recorded there who had spoken before, in the own or in another name.
func (r Review) silent(person string) bool {
	for i, s := range r.Submissions {
		spokeBefore := func(other Submission) bool {
			return SameActor(cmp.Or(other.Recorder, other.Reviewer), s.Recorder) && !SameActor(other.Reviewer, person)
		}
		if s.byPerson() && SameActor(s.Reviewer, person) && !(s.byAnother(person) &&
			(r.Wrote(s.Recorder) || slices.ContainsFunc(r.Submissions[:i], spokeBefore))) {
			return false
		}
	}
	return true
}

// StillAsked returns the people who can still act while the review waits for a person: those of the request who have
// given no verdict and, once no finding is open, those whose approval is missing. Once somebody has answered, these
// include owners whose approval is required, also if others were asked by name.
func (r Review) StillAsked() []string {
	if r.peopleAnswered() {
		return nil
	}
	answered := r.personAnswered()
	asked := slices.Clone(r.Request.People)
	for _, q := range r.Request.Approvals {
		for _, p := range q.People {
			if answered && !hasPerson(asked, p) {
				asked = append(asked, p)
			}
		}
	}
	everybody := r.Request.Each || !answered
	approving, settled := r.approving(), len(r.Open()) == 0
	return slices.DeleteFunc(asked, func(p string) bool {
		newest, _ := r.Newest(p)
		switch silent := r.silent(p); {
		case !silent && newest.Decision == CommentOnly && hasPerson(r.Request.People, p): // it has no verdict
			return false
		case !silent && (!settled || hasPerson(approving, p)):
			return true
		case silent && everybody && hasPerson(r.Request.People, p):
			return false
		}
		return !slices.ContainsFunc(r.Request.Approvals, func(q Quota) bool {
			return q.have(approving) < q.Need && (len(q.People) == 0 || hasPerson(q.People, p))
		})
	})
}

// OwnersMissing returns the owners of changed files whose approval is still required, or one of whose is.
func (r Review) OwnersMissing() (missing []string) {
	approving := r.approving()
	for _, q := range r.Request.Approvals {
		for _, p := range q.People {
			if q.have(approving) < q.Need && !hasPerson(approving, p) {
				missing = each.Once(missing, p)
			}
		}
	}
	return missing
}

// ApprovedWords returns how many of the required approvals a review has, as "approved by 1 of 2". It returns "" if
// nobody has approved yet, or if enough people have.
func (s ReviewSummary) ApprovedWords() string {
	if s.Approved == 0 || s.Approved >= s.ApprovalsNeeded {
		return ""
	}
	return fmt.Sprintf("approved by %d of %d", s.Approved, s.ApprovalsNeeded)
}
