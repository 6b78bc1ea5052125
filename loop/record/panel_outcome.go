package record

import (
	"cmp"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
)

// Opinion is what one reviewer concludes, leaving out the findings that the judge refuted.
type Opinion struct {
	Reviewer string        `json:"reviewer"`
	Verdict  reply.Verdict `json:"verdict,omitempty"` // "" for comments alone, and if there was nothing to review
	Outcome  Outcome       `json:"outcome"`
	Stated   reply.Verdict `json:"stated,omitempty"`     // the verdict before the judge, if that changed it
	Unread   bool          `json:"unreadable,omitempty"` // the answer could not be read
	person   bool
}

// Opinions returns the conclusions of the reviewers whose submissions count, in the order in which they were asked.
func (r Review) Opinions() []Opinion {
	all := each.Of(r.Standing(), r.opinion)
	slices.SortStableFunc(all, func(a, b Opinion) int { return cmp.Compare(r.askedAt(a.Reviewer), r.askedAt(b.Reviewer)) })
	return all
}

func (r Review) opinion(sub Submission) Opinion {
	o := Opinion{Reviewer: sub.Reviewer, Verdict: sub.Report.Effective, Outcome: sub.Outcome, person: sub.byPerson(),
		Unread: sub.Report.Unreadable()}
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
	case failing || slices.ContainsFunc(left, blames) || len(left) > 0 && !had ||
		len(reply.RequestsBeside(sub.Report.Requests, sub.Report.Findings)) > 0:
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

// Outvoted reports whether agents fail the change, but too few of them for the same reason.
func (r Review) Outvoted() bool {
	against := func(o Opinion) bool { return !o.person && o.Outcome == OutcomeFailed }
	readable := func(o Opinion) bool { return against(o) && !o.Unread }
	return slices.ContainsFunc(r.Opinions(), readable) && !slices.ContainsFunc(r.counted(), against)
}

// counted returns the opinions as they count: if too few agents share the reason of a failure, that agent's opinion
// counts as a pass with notes. No agent outvotes an answer that could not be read: nobody knows what it says. A person
// who approves answers it.
func (r Review) counted() []Opinion {
	all := r.Opinions()
	if len(r.Approvers()) > 0 {
		all = slices.DeleteFunc(all, func(o Opinion) bool { return o.Unread })
	}
	upheld := r.upheld(all)
	for i := range all {
		if o := &all[i]; !o.person && !o.Unread && o.Outcome == OutcomeFailed && !upheld[o.Reviewer] {
			o.Verdict, o.Outcome = reply.PassWithNotes, OutcomePassed
		}
	}
	return all
}

// upheld returns the agents whose reason to fail the change is shared by at least a quorum of agents. Agents share a
// reason if they report the same or a similar finding; a judge who confirms it counts as one more. Requests that are
// not findings cannot be compared, so an agent that makes one supports every other agent's reason.
func (r Review) upheld(opinions []Opinion) map[string]bool {
	quorum, upheld := r.quorumCounts(), map[string]bool{}
	failing, vague := []string{JudgeTurn(r.Request.Judge)}, []string(nil)
	for _, o := range opinions {
		if !o.person && !o.Unread && o.Outcome == OutcomeFailed {
			failing = append(failing, o.Reviewer)
		}
	}
	if quorum == 1 {
		return each.Set(failing)
	}
	var reasons [][]string
	var found []string
	for _, j := range r.Joined() {
		if j.Severity == reply.Note || j.Judged != nil && j.Judged.Kind == Refuted {
			continue
		}
		reasons, found = append(reasons, r.agree(j)), append(found, j.SaidBy...)
	}
	for _, sub := range r.Standing() {
		asks := len(reply.RequestsBeside(sub.Report.Requests, sub.Report.Findings)) > 0
		if slices.Contains(failing, sub.Reviewer) && (asks || !slices.Contains(found, sub.Reviewer)) {
			vague = append(vague, sub.Reviewer)
		}
	}
	for _, reason := range append(reasons, nil) {
		who := each.Set(append(reason, vague...))
		maps.DeleteFunc(who, func(name string, _ bool) bool { return !slices.Contains(failing, name) })
		if len(who) >= quorum {
			maps.Copy(upheld, who)
		}
	}
	return upheld
}

// Outcome returns the worst outcome that counts, or "" before the first submission: see Carrying.
func (r Review) Outcome() Outcome {
	worst := Outcome("")
	for _, o := range r.counted() {
		if worst == "" || outcomeRank[o.Outcome] > outcomeRank[worst] {
			worst = o.Outcome
		}
	}
	if len(r.refusing) > 0 && (worst == OutcomePassed || worst == OutcomePartial) {
		return OutcomeFailed
	}
	return worst
}

// Verdict returns the worst effective verdict that counts, or "". With a quorum of N it is the worst verdict that N
// agents agree on or exceed. A person who only commented gave no verdict.
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
	worst := slices.MinFunc(all, worstFirst)
	if len(r.refusing) > 0 && worst.Passed() {
		return reply.NeedsFix
	}
	return worst
}

// Unreadable reports whether the verdict rests only on answers that could not be parsed.
func (r Review) Unreadable() bool {
	return len(r.refusing) == 0 && r.Verdict() == reply.NeedsFix &&
		!slices.ContainsFunc(r.counted(), func(o Opinion) bool { return o.Outcome == OutcomeFailed && !o.Unread })
}

// Undecided reports whether agents fail the change, too few of them for the same reason, and the verdict rests on an
// answer that could not be parsed.
func (r Review) Undecided() bool {
	return r.Unreadable() && slices.ContainsFunc(r.Opinions(), func(o Opinion) bool {
		return !o.person && !o.Unread && o.Outcome == OutcomeFailed
	})
}

// Disagree reports whether some reviewers pass the change and others fail it.
func (r Review) Disagree() bool {
	passes, fails := false, false
	for _, o := range r.Opinions() {
		passes, fails = passes || o.Verdict.Passed(), fails || o.Outcome == OutcomeFailed && !o.Unread
	}
	return passes && fails
}

// givenUp reports whether a reviewer could not be run and will not be retried automatically.
func (r Review) givenUp(turn string) bool {
	failed := each.Where(r.Failures, func(f Failure) bool { return f.Reviewer == turn })
	return len(failed) > 0 && !slices.ContainsFunc(failed, func(f Failure) bool { return !f.RetryAt.IsZero() })
}

// Absent returns the reviewers who could not be run and are not needed to complete the review, because as many as
// the quorum have answered. A person retries them with git runr work --retry.
func (r Review) Absent() []string {
	waiting := r.Waiting()
	awaited := slices.ContainsFunc(waiting, func(name string) bool { return !r.givenUp(name) })
	if awaited || each.Count(r.Request.Reviewers(), r.hasAnswered) < r.Quorum() {
		return nil
	}
	return waiting
}

// Complete reports whether everybody has answered except those who are absent.
func (r Review) Complete() bool { return len(r.Waiting()) == len(r.Absent()) }

// Pending returns the reviewers who have neither answered nor failed.
func (r Review) Pending() []string {
	return slices.DeleteFunc(r.Waiting(), func(name string) bool {
		return slices.ContainsFunc(r.Failures, func(f Failure) bool { return f.Reviewer == name })
	})
}

func (r Review) hasAnswered(name string) bool {
	if name == Human {
		return r.peopleAnswered()
	}
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool { return s.Reviewer == name })
}

// byPerson reports whether a submission comes from a person and is not an agent's remarks.
func (s Submission) byPerson() bool {
	return s.Decision != "" && s.Report.Format != reply.FormatRemarks
}

// awaitsJudge reports whether it is the judge's turn: all agents have answered or finally failed, and there is a
// finding to rule on.
func (r Review) awaitsJudge() bool {
	awaited := func(name string) bool { return name != Human && !r.hasAnswered(name) && !r.givenUp(name) }
	return r.Request.Judge != "" && len(r.Submissions) > 0 &&
		!slices.ContainsFunc(r.Request.Reviewers(), awaited) && len(r.Unruled()) > 0
}
