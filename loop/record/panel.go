package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/duration"
	"git-runr/loop/reply"
	"git-runr/loop/spend"
	"git-runr/loop/track"
)

// A review that several agents were asked for is a panel. What they found is joined, what
// they conclude is counted by the quorum of the request, and a judge may look at each
// finding after them. All of that follows from the events alone: who folds them elsewhere
// comes to the same.

// Joined is a finding with those who said it. Of a panel it is what several say of one
// place, in the words of the worst; its id is that of these words.
type Joined struct {
	reply.Finding
	SaidBy   []string `json:"said_by"`
	Same     []string `json:"same,omitempty"`     // its other ids, in the answers of others: an answer to one is to all
	Disputed bool     `json:"disputed,omitempty"` // fewer said it than the quorum
	Judged   *Ruling  `json:"judged,omitempty"`   // what the judge says of it
	place    track.At // of the words, in the order of submissions
}

// Judgement is what a judge says of what a panel found, with the code at hand.
type Judgement struct {
	By       string            `json:"by"`
	Rulings  []Ruling          `json:"rulings"`
	Commit   gitstore.ID       `json:"commit,omitempty"`
	Tree     gitstore.ID       `json:"tree,omitempty"` // that it had
	Duration duration.Duration `json:"duration_ms,omitzero"`
	spend.Spent
	At    time.Time   `json:"at,omitzero"`     // filled in by the fold
	Event gitstore.ID `json:"event,omitempty"` // that records it and keeps its words; filled in by the fold
}

// Ruling is what a judge says of one finding.
type Ruling struct {
	Finding string     `json:"finding"`
	Kind    RulingKind `json:"ruling"`
	Reason  string     `json:"reason,omitempty"`
}

// RulingKind is how a finding fared before the judge.
type RulingKind string

const (
	Confirmed RulingKind = "confirmed"
	Refuted   RulingKind = "refuted" // it is answered so, and does not count for the verdict
	Fixed     RulingKind = "fixed"   // of a verification
	StillOpen RulingKind = "open"    // of a verification
	Unsaid    RulingKind = "unsaid"  // nothing is said of it that can be read: it stands
)

// JudgeTurn names the turn of the judge called name among those that a review waits for. No
// agent's name has a colon.
func JudgeTurn(name string) string { return judgeMark + name }

const judgeMark = "judge:"

// AgentOf is the agent whose turn is called so, and whether it is to judge.
func AgentOf(turn string) (name string, judge bool) { return strings.CutPrefix(turn, judgeMark) }

// Count counts rulings: "1 refuted, 2 confirmed".
func (j Judgement) Count() string { return countRulings(j.Rulings) }

func countRulings(rulings []Ruling) string {
	var parts []string
	for _, kind := range []RulingKind{Refuted, Confirmed, Fixed, StillOpen, Unsaid} {
		n := 0
		for _, r := range rulings {
			if r.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return strings.Join(parts, ", ")
}

func (j Judgement) by() (who actorPayload, held bool) { return actorPayload{Actor: j.By}, false }

// judge takes in what the judge of the review says of what nobody has ruled on before.
func (r *Review) judge(e Event, j Judgement) {
	if j.By != r.Request.Judge {
		return
	}
	j.At, j.Event = e.Timestamp, e.ID
	j.Rulings = slices.DeleteFunc(j.Rulings, func(ruling Ruling) bool { return r.ruling(ruling.Finding) != nil })
	for _, ruling := range j.Rulings {
		if _, answered := r.AnswerTo(ruling.Finding); ruling.Kind == Refuted && !answered {
			r.Answers = append(r.Answers, Answer{Finding: ruling.Finding, Kind: AnswerRefuted, Reason: ruling.Reason, Actor: j.By, At: e.Timestamp})
		}
	}
	r.Judgements = append(r.Judgements, j)
	r.took(j.took(e))
	r.keepFailures(slices.Clone(r.Failures))
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

// join finds out which findings of several agents mean the same. They are taken in the order
// in which they were asked, whoever was the quickest.
func (r *Review) join() {
	r.panel, r.same = nil, nil
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
		j.Disputed = len(j.SaidBy) < quorum && r.Submissions[j.place.List].Decision == ""
		j.Judged = r.ruling(j.ID)
	}
	return joined
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
	said := func(at track.At) reply.Finding { return r.Submissions[at.List].Report.Findings[at.Index] }
	j := Joined{Finding: said(group[0]), place: group[0]}
	for _, at := range group {
		if f := said(at); reply.SeverityRank(f.Severity) < reply.SeverityRank(j.Severity) {
			j.Finding = f
		}
	}
	for _, at := range group {
		f := said(at)
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

// Opinion is what one reviewer concludes, without what the judge refuted.
type Opinion struct {
	Reviewer string        `json:"reviewer"`
	Verdict  reply.Verdict `json:"verdict,omitempty"` // "" of comments alone, and where there was nothing to review
	Outcome  Outcome       `json:"outcome"`
	Stated   reply.Verdict `json:"stated,omitempty"` // as it was before the judge, where that is another
	person   bool
}

// Opinions are what the reviewers whose word stands conclude, in the order in which they were
// asked.
func (r Review) Opinions() []Opinion {
	var all []Opinion
	for _, sub := range r.Standing() {
		all = append(all, r.opinion(sub))
	}
	slices.SortStableFunc(all, func(a, b Opinion) int { return cmp.Compare(r.askedAt(a.Reviewer), r.askedAt(b.Reviewer)) })
	return all
}

func (r Review) opinion(sub Submission) Opinion {
	o := Opinion{Reviewer: sub.Reviewer, Verdict: sub.Report.Effective, Outcome: sub.Outcome, person: sub.Decision != ""}
	if o.Outcome == OutcomeCommented || o.Outcome == OutcomeNothing {
		o.Verdict = ""
	}
	refuted := func(f reply.Finding) bool { ruling := r.ruling(f.ID); return ruling != nil && ruling.Kind == Refuted }
	left := slices.DeleteFunc(slices.Clone(sub.Report.Findings), refuted)
	if o.Outcome != OutcomeFailed || o.person || len(left) == len(sub.Report.Findings) {
		return o
	}
	failing := CheckRun{Results: sub.Checks}.Failed()
	blames := func(f reply.Finding) bool { return f.Severity != reply.Note }
	had := slices.ContainsFunc(sub.Report.Findings, blames)
	o.Stated = o.Verdict
	switch {
	case failing || slices.ContainsFunc(left, blames) || len(left) > 0 && !had || len(reply.RequestsBeside(sub.Report.Requests, sub.Report.Findings)) > 0:
		o.Verdict = reply.EffectiveVerdict(reply.NeedsFix, left, failing)
	case sub.Census.Partial():
		o.Verdict, o.Outcome = reply.PassWithNotes, OutcomePartial
	case len(left) > 0 || sub.Census.Unseen():
		o.Verdict, o.Outcome = reply.PassWithNotes, OutcomePassed
	default:
		o.Verdict, o.Outcome = reply.Pass, OutcomePassed
	}
	if o.Stated == o.Verdict {
		o.Stated = ""
	}
	return o
}

// Quorum is how many agents must conclude that a change does not pass for that to count.
func (r Review) Quorum() int {
	agents := 0
	for _, name := range r.Request.Reviewers() {
		if name != Human {
			agents++
		}
	}
	return max(1, min(r.Request.Quorum, agents))
}

// quorumCounts is the quorum where as many agents have said something, else 1: a few are not
// outvoted by those who did not answer.
func (r Review) quorumCounts() int {
	answered := 0
	for _, o := range r.Opinions() {
		if !o.person && o.Outcome != OutcomeNothing {
			answered++
		}
	}
	if quorum := r.Quorum(); answered >= quorum {
		return quorum
	}
	return 1
}

// Outvoted reports whether agents conclude that the change does not pass, and are too few.
func (r Review) Outvoted() bool {
	against := 0
	for _, o := range r.Opinions() {
		if !o.person && o.Outcome == OutcomeFailed {
			against++
		}
	}
	return 0 < against && against < r.quorumCounts()
}

// counted are the opinions that count: where agents are outvoted, theirs is a pass with notes.
func (r Review) counted() []Opinion {
	all := r.Opinions()
	if !r.Outvoted() {
		return all
	}
	for i := range all {
		if o := &all[i]; !o.person && o.Outcome == OutcomeFailed {
			o.Verdict, o.Outcome = reply.PassWithNotes, OutcomePassed
		}
	}
	return all
}

// Outcome is the worst of what counts; "" while nothing was submitted.
func (r Review) Outcome() Outcome {
	worst := Outcome("")
	for _, o := range r.counted() {
		if worst == "" || outcomeRank[o.Outcome] > outcomeRank[worst] {
			worst = o.Outcome
		}
	}
	return worst
}

// Verdict is the worst effective verdict that counts, but with a quorum of N the worst that N
// agents agree is at least due. A person who only commented gave none.
func (r Review) Verdict() reply.Verdict {
	var people, agents []reply.Verdict
	for _, o := range r.counted() {
		switch {
		case o.Verdict == "":
		case o.person:
			people = append(people, o.Verdict)
		default:
			agents = append(agents, o.Verdict)
		}
	}
	worstFirst := func(a, b reply.Verdict) int { return reply.VerdictRank(b) - reply.VerdictRank(a) }
	slices.SortFunc(agents, worstFirst)
	if at := r.quorumCounts() - 1; at > 0 && at < len(agents) && !agents[at].Passed() {
		agents = agents[at:]
	}
	all := append(people, agents...)
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, worstFirst)
}

// Disagree reports whether some would let the change pass and others not.
func (r Review) Disagree() bool {
	passes, fails := false, false
	for _, o := range r.Opinions() {
		passes, fails = passes || o.Verdict.Passed(), fails || o.Outcome == OutcomeFailed
	}
	return passes && fails
}

// givenUp reports whether a reviewer could not be run and is not tried again by itself.
func (r Review) givenUp(turn string) bool {
	gone := false
	for _, f := range r.Failures {
		if f.Reviewer == turn {
			if !f.RetryAt.IsZero() {
				return false
			}
			gone = true
		}
	}
	return gone
}

// Absent are those who could not be run and without whom the review is complete: as many as
// the quorum have answered. A person asks them again with git runr work --retry.
func (r Review) Absent() []string {
	waiting := r.Waiting()
	for _, name := range waiting {
		if !r.givenUp(name) {
			return nil
		}
	}
	if len(r.answeredBy()) < r.Quorum() {
		return nil
	}
	return waiting
}

// Complete reports whether everybody has answered who can be waited for.
func (r Review) Complete() bool { return len(r.Waiting()) == len(r.Absent()) }

// Pending are those who are still to answer, and have not failed.
func (r Review) Pending() []string {
	return slices.DeleteFunc(r.Waiting(), func(name string) bool {
		return slices.ContainsFunc(r.Failures, func(f Failure) bool { return f.Reviewer == name })
	})
}

// answeredBy are those of the reviewers who have answered.
func (r Review) answeredBy() []string {
	return slices.DeleteFunc(r.Request.Reviewers(), func(name string) bool { return !r.hasAnswered(name) })
}

func (r Review) hasAnswered(name string) bool {
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool {
		return s.Reviewer == name || name == Human && s.Decision != ""
	})
}

// awaitsJudge reports whether it is the judge's turn: the agents have answered or failed for
// good, and there is something to rule on.
func (r Review) awaitsJudge() bool {
	if r.Request.Judge == "" || len(r.Submissions) == 0 {
		return false
	}
	for _, name := range r.Request.Reviewers() {
		if name != Human && !r.hasAnswered(name) && !r.givenUp(name) {
			return false
		}
	}
	return len(r.Unruled()) > 0
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

func judgementNote(e Event, j Judgement) (gitstore.ID, string) {
	var refuted []string
	for _, r := range j.Rulings {
		if r.Kind == Refuted {
			refuted = append(refuted, r.Finding+": "+r.Reason)
		}
	}
	return j.Commit, fmt.Sprintf("review %s judged by %s: %s%s", e.Review, j.By, j.Count(), listNote(refuted))
}
