package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/track"
)

// A review that several agents were asked for is a panel. What they found is joined, what
// they conclude is counted by the quorum of the request, and a judge may look at each
// finding after them. All of that follows from the events alone: who folds them elsewhere
// comes to the same.

// Joined is a finding with those who said it: of a panel all who said the same of one place, with the worst severity.
type Joined struct {
	reply.Finding
	SaidBy   []string `json:"said_by"`
	Same     []string `json:"same,omitempty"`     // its other ids, in the answers of others: an answer to one is to all
	Similar  []string `json:"similar,omitempty"`  // ids of findings of others that may be the same; each is to be dealt with
	Disputed bool     `json:"disputed,omitempty"` // fewer than the quorum said or confirmed it, or something similar
	Judged   *Ruling  `json:"judged,omitempty"`   // what the judge says of it
	place    track.At // of the words, in the order of submissions
}

// ruling is what the judge says of a finding; nil where that is nothing yet.
func (r Review) ruling(finding string) *Ruling {
	ids := r.sameIDs(finding)
	for _, j := range r.Judgements {
		for i := range j.Rulings {
			if slices.Contains(ids, j.Rulings[i].Finding) {
				return &j.Rulings[i]
			}
		}
	}
	return nil
}

// sameIDs are the ids that the finding of an id has.
func (r Review) sameIDs(id string) []string {
	for _, group := range r.same {
		if slices.Contains(group, id) {
			return group
		}
	}
	return []string{id}
}

// join finds out which findings of several agents are the same, and which may be. They are taken in the order
// in which they were asked, whoever was the quickest.
func (r *Review) join() {
	r.panel, r.same, r.alike = nil, nil, nil
	subs := slices.DeleteFunc(r.InOrder(), func(i int) bool {
		return r.Submissions[i].Decision != "" || len(r.Submissions[i].Report.Findings) == 0
	})
	if len(subs) < 2 {
		return
	}
	var lists [][]reply.Finding
	for _, i := range subs {
		lists = append(lists, r.Submissions[i].Report.Findings)
	}
	for _, group := range track.Same(lists) {
		var ids []string
		for i := range group {
			f := lists[group[i].List][group[i].Index]
			group[i].List = subs[group[i].List]
			ids = append(ids, f.ID)
		}
		r.panel = append(r.panel, group)
		if ids = slices.Compact(ids); len(ids) > 1 {
			r.same = append(r.same, ids)
		}
	}
	r.alike = map[track.At][]track.At{}
	for _, a := range r.panel {
		for _, b := range r.panel {
			if a[0].List != b[0].List && track.Alike(r.said(a[0]), r.said(b[0])) {
				r.alike[a[0]] = append(r.alike[a[0]], b...)
			}
		}
	}
}

// said is the finding at one place in the submissions.
func (r Review) said(at track.At) reply.Finding {
	return r.Submissions[at.List].Report.Findings[at.Index]
}

// askedAt is the place of a reviewer among those who were asked; whoever was not asked by
// name, as people are not, comes after them.
func (r Review) askedAt(reviewer string) int {
	asked := r.Request.Reviewers()
	if at := slices.Index(asked, reviewer); at >= 0 {
		return at
	}
	return len(asked)
}

// InOrder are the places of the submissions in the order in which their reviewers were asked.
func (r Review) InOrder() []int {
	order := make([]int, len(r.Submissions))
	for i := range order {
		order[i] = i
	}
	at := func(i int) int { return r.askedAt(r.Submissions[i].Reviewer) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	return order
}

// Joined are the findings of all submissions with the comments of people, in order, what
// several agents say of one place once.
func (r Review) Joined() []Joined {
	joined := make([]Joined, 0, len(r.Submissions))
	inPanel := map[track.At]bool{}
	for _, group := range r.panel {
		joined = append(joined, r.joinGroup(group))
		for _, at := range group {
			inPanel[at] = true
		}
	}
	for i, sub := range r.Submissions {
		for j, f := range sub.Findings() {
			if at := (track.At{List: i, Index: j}); !inPanel[at] {
				joined = append(joined, Joined{Finding: f, SaidBy: []string{sub.Reviewer}, place: at})
			}
		}
	}
	order := r.InOrder()
	slices.SortStableFunc(joined, func(a, b Joined) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.place.List), slices.Index(order, b.place.List)), cmp.Compare(a.place.Index, b.place.Index))
	})
	quorum := r.quorumCounts()
	for i := range joined {
		j := &joined[i]
		for _, at := range r.alike[j.place] {
			if id := r.said(at).ID; !slices.Contains(j.Similar, id) {
				j.Similar = append(j.Similar, id)
			}
		}
		j.Judged = r.ruling(j.ID)
		j.Disputed = len(r.agree(*j)) < quorum && r.Submissions[j.place.List].Decision == ""
	}
	return joined
}

// agree returns those who say a finding or something similar, and the judge that confirms it.
func (r Review) agree(j Joined) []string {
	who := slices.Clone(j.SaidBy)
	for _, at := range r.alike[j.place] {
		who = append(who, r.Submissions[at.List].Reviewer)
	}
	if j.Judged != nil && j.Judged.Kind == Confirmed {
		who = append(who, JudgeTurn(r.Request.Judge))
	}
	slices.Sort(who)
	return slices.Compact(who)
}

// JoinedRequest is what is asked for beside the findings, in the words of who was asked
// first, with all who ask for it.
type JoinedRequest struct {
	Text   string   `json:"request"`
	SaidBy []string `json:"said_by"`
}

// Requests are what the submissions ask for and no finding says, what means the same once, in
// the order in which the reviewers were asked.
func (r Review) Requests() []JoinedRequest {
	order, findings := r.InOrder(), r.Findings()
	lists := make([][]reply.Finding, len(order))
	for i, at := range order {
		sub := r.Submissions[at]
		for _, text := range reply.RequestsBeside(sub.Requests(), slices.Concat(sub.Findings(), findings)) {
			f := reply.Finding{Issue: text}
			f.ID = reply.FindingID(f)
			lists[i] = append(lists[i], f)
		}
	}
	joined := []JoinedRequest{}
	for _, group := range track.Same(lists) {
		j := JoinedRequest{Text: lists[group[0].List][group[0].Index].Issue}
		for _, at := range group {
			if who := r.Submissions[order[at.List]].Reviewer; !slices.Contains(j.SaidBy, who) {
				j.SaidBy = append(j.SaidBy, who)
			}
		}
		joined = append(joined, j)
	}
	return joined
}

// SaidFirst are the findings that are shown with the submission of that place: of those that
// several say, those of who was asked first.
func (r Review) SaidFirst(submission int) []Joined {
	return slices.DeleteFunc(r.Joined(), func(j Joined) bool {
		return j.place.List != submission || j.place.Index >= len(r.Submissions[submission].Report.Findings)
	})
}

// joinGroup is one finding of several agents.
func (r Review) joinGroup(group []track.At) Joined {
	j := Joined{Finding: r.said(group[0]), place: group[0]}
	for _, at := range group {
		if f := r.said(at); reply.SeverityRank(f.Severity) < reply.SeverityRank(j.Severity) {
			j.Finding = f
		}
	}
	for _, at := range group {
		f := r.said(at)
		j.SaidBy = append(j.SaidBy, r.Submissions[at.List].Reviewer)
		if j.Fix == "" {
			j.Fix = f.Fix
		}
		if f.ID != j.ID && !slices.Contains(j.Same, f.ID) {
			j.Same = append(j.Same, f.ID)
		}
	}
	return j
}

// Finding is that of an id, as it is joined with others; ok is false where there is none.
func (r Review) Finding(id string) (f Joined, ok bool) {
	for _, j := range r.Joined() {
		if j.ID == id || slices.Contains(j.Same, id) {
			return j, true
		}
	}
	return f, false
}

// Unruled are the findings that the judge is to rule on: those of agents that nobody has
// answered. That a check fails is not to be judged.
func (r Review) Unruled() []Joined {
	if r.Request.Judge == "" {
		return nil
	}
	return slices.DeleteFunc(r.Joined(), func(j Joined) bool {
		_, answered := r.AnswerTo(j.ID)
		return answered || j.Judged != nil || strings.HasPrefix(j.Rule, RuleOfCheck) || r.Submissions[j.place.List].Decision != ""
	})
}
