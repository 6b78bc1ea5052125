package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/track"
)

// A review by several agents is a panel. Their findings are joined, their conclusions are counted by the quorum
// of the request, and a judge may rule on each finding. All of that follows from the events alone, so every clone
// comes to the same result.

// Joined is a finding with everybody who reported it. In a panel, equal findings of several agents are one Joined
// with the worst severity.
type Joined struct {
	reply.Finding
	SaidBy []string `json:"said_by"`
	// its ids in other submissions; an answer to one of the ids is an answer to all
	Same []string `json:"same,omitempty"`
	// ids of others' findings that may be the same; each needs its own answer
	Similar []string `json:"similar,omitempty"`
	// fewer than the quorum reported it or something similar, or confirmed it
	Disputed bool     `json:"disputed,omitempty"`
	Judged   *Ruling  `json:"judged,omitempty"` // the judge's ruling on it
	place    track.At // the submission and finding that its text comes from
}

// ruling returns the judge's ruling on a finding, or nil.
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

// sameIDs returns all ids of the finding that has id.
func (r Review) sameIDs(id string) []string {
	for _, group := range r.same {
		if slices.Contains(group, id) {
			return group
		}
	}
	return []string{id}
}

// join finds out which findings of several agents are the same, and which may be. It goes through the agents in the
// order in which they were asked, not in which they answered.
func (r *Review) join() {
	r.panel, r.same, r.alike = nil, nil, nil
	subs := slices.DeleteFunc(r.InOrder(), func(i int) bool {
		return r.Submissions[i].Decision != "" || len(r.Submissions[i].Report.Findings) == 0
	})
	if len(subs) < 2 {
		return
	}
	lists := each.Of(subs, func(i int) []reply.Finding { return r.Submissions[i].Report.Findings })
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

func (r Review) said(at track.At) reply.Finding {
	return r.Submissions[at.List].Report.Findings[at.Index]
}

// askedAt returns the index of a reviewer among those asked. Reviewers who were not asked by name, such as people,
// come after them.
func (r Review) askedAt(reviewer string) int {
	asked := r.Request.Reviewers()
	if at := slices.Index(asked, reviewer); at >= 0 {
		return at
	}
	return len(asked)
}

// InOrder returns the indexes of the submissions in the order in which their reviewers were asked.
func (r Review) InOrder() []int {
	order := make([]int, len(r.Submissions))
	for i := range order {
		order[i] = i
	}
	at := func(i int) int { return r.askedAt(r.Submissions[i].Reviewer) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	return order
}

// Joined returns the findings of all submissions and the comments of people, in order. A finding that several agents
// report is listed once.
func (r Review) Joined() []Joined {
	joined := make([]Joined, 0, len(r.Submissions))
	inPanel := map[track.At]bool{}
	for _, group := range r.panel {
		joined = append(joined, r.joinGroup(group))
		maps.Copy(inPanel, each.Set(group))
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
		return cmp.Or(cmp.Compare(slices.Index(order, a.place.List), slices.Index(order, b.place.List)),
			cmp.Compare(a.place.Index, b.place.Index))
	})
	quorum := r.quorumCounts()
	for i := range joined {
		j := &joined[i]
		for _, at := range r.alike[j.place] {
			j.Similar = each.Once(j.Similar, r.said(at).ID)
		}
		j.Judged = r.ruling(j.ID)
		j.Disputed = len(r.agree(*j)) < quorum && r.Submissions[j.place.List].Decision == ""
	}
	return joined
}

// agree returns who reported the finding or something similar, and the judge if it confirmed the finding.
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

// JoinedRequest is something asked for besides the findings, in the words of the reviewer who was asked first, with
// all who ask for it.
type JoinedRequest struct {
	Text   string   `json:"request"`
	SaidBy []string `json:"said_by"`
}

// Requests returns what the submissions ask for besides their findings, in the order in which the reviewers were
// asked. Requests that mean the same are listed once.
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
			j.SaidBy = each.Once(j.SaidBy, r.Submissions[order[at.List]].Reviewer)
		}
		joined = append(joined, j)
	}
	return joined
}

// SaidFirst returns the findings to show with a submission. A finding of several agents belongs to the one who was
// asked first.
func (r Review) SaidFirst(submission int) []Joined {
	return slices.DeleteFunc(r.Joined(), func(j Joined) bool {
		return j.place.List != submission || j.place.Index >= len(r.Submissions[submission].Report.Findings)
	})
}

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

// Finding returns the joined finding with an id.
func (r Review) Finding(id string) (f Joined, ok bool) {
	return each.First(r.Joined(), func(j Joined) bool { return j.ID == id || slices.Contains(j.Same, id) })
}

// minFindingID is the minimum number of characters that name a finding.
const minFindingID = 4

// FindFinding returns the id of the finding that word names, and the joined finding. word is the id, or the beginning
// of one with at least minFindingID characters; the letter and the hyphen at the beginning may be missing. It returns a
// *NotFoundError if word names none or several.
func (r Review) FindFinding(word string) (id string, f Joined, err error) {
	missing := &NotFoundError{What: "finding", ID: word, Where: "in review " + r.ID}
	for _, j := range r.Joined() {
		for _, known := range append([]string{j.ID}, j.Same...) {
			_, digits, _ := strings.Cut(known, "-")
			switch {
			case known == word:
				return known, j, nil
			case known == id: // two reviewers reported it
			case len(word) >= minFindingID && (strings.HasPrefix(known, word) || strings.HasPrefix(digits, word)):
				missing.Among = append(missing.Among, Meant{What: "finding", ID: known, Title: j.Issue})
				id, f = known, j
			}
		}
	}
	if len(missing.Among) == 0 && len(word) < minFindingID {
		missing.Where += fmt.Sprintf("; type at least %d characters of its id", minFindingID)
	}
	if len(missing.Among) != 1 {
		return "", Joined{}, missing
	}
	return id, f, nil
}

// Unruled returns the findings that the judge has to rule on: those of agents that nobody has answered. A failing
// check is a fact and needs no ruling.
func (r Review) Unruled() []Joined {
	if r.Request.Judge == "" {
		return nil
	}
	return slices.DeleteFunc(r.Joined(), func(j Joined) bool {
		_, answered := r.AnswerTo(j.ID)
		return answered || j.Judged != nil || strings.HasPrefix(j.Rule, RuleOfCheck) ||
			r.Submissions[j.place.List].Decision != ""
	})
}
