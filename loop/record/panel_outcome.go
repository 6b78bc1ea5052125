package record

import (
	"cmp"
	"slices"

	"github.com/git-runr/git-runr/loop/reply"
)

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
	o := Opinion{Reviewer: sub.Reviewer, Verdict: sub.Report.Effective, Outcome: sub.Outcome, person: sub.byPerson()}
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
	if o.Verdict = sub.Looked.Of(o.Verdict); o.Stated == o.Verdict {
		o.Stated = ""
	}
	return o
}

// Outvoted reports whether agents conclude that the change does not pass, and too few of them for the same reason.
func (r Review) Outvoted() bool {
	against := func(o Opinion) bool { return !o.person && o.Outcome == OutcomeFailed }
	return slices.ContainsFunc(r.Opinions(), against) && !slices.ContainsFunc(r.counted(), against)
}

// counted returns the opinions that count: that of an agent whose reason too few share is a pass with notes.
func (r Review) counted() []Opinion {
	all := r.Opinions()
	upheld := r.upheld(all)
	for i := range all {
		if o := &all[i]; !o.person && o.Outcome == OutcomeFailed && !upheld[o.Reviewer] {
			o.Verdict, o.Outcome = reply.PassWithNotes, OutcomePassed
		}
	}
	return all
}

// upheld returns the agents that fail the change for a reason that as many of them as the quorum have: a finding
// that they all have, or one that is similar; a judge that confirms it is one of them. What an agent asks for in other words than findings is compared with
// nothing, and so counts as the reason of each of the others.
func (r Review) upheld(opinions []Opinion) map[string]bool {
	quorum, upheld := r.quorumCounts(), map[string]bool{}
	failing, vague := []string{JudgeTurn(r.Request.Judge)}, []string(nil)
	for _, o := range opinions {
		if !o.person && o.Outcome == OutcomeFailed {
			failing = append(failing, o.Reviewer)
			upheld[o.Reviewer] = true
		}
	}
	if quorum == 1 {
		return upheld
	}
	reasons, found := [][]string{}, map[string]bool{}
	for _, j := range r.Joined() {
		if j.Severity == reply.Note || j.Judged != nil && j.Judged.Kind == Refuted {
			continue
		}
		reasons = append(reasons, r.agree(j))
		for _, name := range j.SaidBy {
			found[name] = true
		}
	}
	for _, sub := range r.Standing() {
		asks := len(reply.RequestsBeside(sub.Report.Requests, sub.Report.Findings)) > 0
		if slices.Contains(failing, sub.Reviewer) && (asks || !found[sub.Reviewer]) {
			vague = append(vague, sub.Reviewer)
		}
	}
	clear(upheld)
	for _, who := range append(reasons, nil) {
		who = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(append(who, vague...)))), func(name string) bool {
			return !slices.Contains(failing, name)
		})
		if len(who) >= quorum {
			for _, name := range who {
				upheld[name] = true
			}
		}
	}
	return upheld
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

// Unreadable reports whether the review's verdict is of answers that nobody could read.
func (r Review) Unreadable() bool {
	return r.Verdict() == reply.NeedsFix && !slices.ContainsFunc(r.Verdicts(), func(sub Submission) bool {
		return !sub.Report.Effective.Passed() && !sub.Report.Unreadable()
	})
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
		return s.Reviewer == name || name == Human && s.byPerson()
	})
}

// byPerson reports whether a submission is a person's word, not an agent's remarks.
func (s Submission) byPerson() bool {
	return s.Decision != "" && s.Report.Format != reply.FormatRemarks
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
