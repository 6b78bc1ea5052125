package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
)

// Newest is the newest submission of a reviewer; ok is false without one.
func (r Review) Newest(reviewer string) (sub Submission, ok bool) {
	for _, sub := range slices.Backward(r.Submissions) {
		if sub.Reviewer == reviewer {
			return sub, true
		}
	}
	return Submission{}, false
}

// Sent reports whether reviewer's submission of that key is recorded; none is without one.
func (r Review) Sent(reviewer, key string) bool {
	return key != "" && slices.ContainsFunc(r.Submissions, func(s Submission) bool { return s.Key == key && s.Reviewer == reviewer })
}

// Looked is the farthest that anybody has looked who answered; "" while nobody has.
func (r Review) Looked() Looked {
	farthest := Looked("")
	for _, sub := range r.Standing() {
		if sub.Outcome != OutcomeNothing {
			farthest = farthest.farther(sub.Looked)
		}
	}
	return farthest
}

// Approver is somebody whose approval of a review stands.
type Approver struct {
	By       string      `json:"by"`          // the name under which it was given
	Recorder string      `json:"recorded_by"` // the identity that recorded it
	Writer   string      `json:"writer"`      // whose log it is in
	Event    gitstore.ID `json:"event"`
}

// approvers are the people whose approval stands.
func (r Review) approvers() []Approver {
	var all []Approver
	for _, sub := range r.Standing() {
		if sub.Decision == Approve {
			all = append(all, Approver{sub.Reviewer, sub.Recorder, sub.Writer, sub.Event})
		}
	}
	return all
}

// Quorum is how many agents must conclude for the same reason that a change does not pass for that to count.
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

// Standing are the submissions that count, oldest first: the newest of each
// reviewer. Comments alone take no verdict of their reviewer back.
func (r Review) Standing() []Submission {
	var standing []Submission
	for _, s := range r.Submissions {
		i := slices.IndexFunc(standing, func(o Submission) bool { return o.Reviewer == s.Reviewer })
		switch {
		case i < 0:
			standing = append(standing, s)
		case s.Outcome != OutcomeCommented || standing[i].Outcome == OutcomeCommented:
			standing = append(slices.Delete(standing, i, i+1), s)
		}
	}
	return standing
}

// Findings are those of all submissions, in order, with the comments of people: see Joined.
func (r Review) Findings() []reply.Finding {
	var all []reply.Finding
	for _, j := range r.Joined() {
		all = append(all, j.Finding)
	}
	return all
}

// Comments are those of all submissions, in order.
func (r Review) Comments() []Comment {
	var all []Comment
	for _, s := range r.Submissions {
		all = append(all, s.Comments...)
	}
	return all
}

// answered reports whether an agent has answered on tree. People may answer again.
func (r Review) answered(agent string, tree gitstore.ID) bool {
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool { return s.Decision == "" && s.Reviewer == agent && s.Tree == tree })
}

// Waiting are the reviewers who were asked and have not answered, and then the judge.
func (r Review) Waiting() []string {
	waiting := slices.DeleteFunc(r.Request.Reviewers(), r.hasAnswered)
	if r.awaitsJudge() {
		waiting = append(waiting, JudgeTurn(r.Request.Judge))
	}
	return waiting
}

// Verdicts are the submissions that stand and say more than a comment.
func (r Review) Verdicts() []Submission {
	return slices.DeleteFunc(r.Standing(), func(s Submission) bool { return s.Outcome == OutcomeCommented || s.Outcome == OutcomeNothing })
}
