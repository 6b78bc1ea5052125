package record

import (
	"reflect"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// checkedPayload is the payload of a whole review of one commit in which rules and checks found nothing. Almost
// every commit has one, so it stores only what cannot be derived.
type checkedPayload struct {
	Title   string        `json:"title,omitempty"`
	Base    gitstore.ID   `json:"base"`
	Commit  gitstore.ID   `json:"commit"`
	Branch  string        `json:"branch,omitempty"`
	Author  string        `json:"author,omitempty"` // the commit's author; "": whoever recorded the event
	Follows string        `json:"follows,omitempty"`
	Change  string        `json:"change,omitempty"`
	Files   int           `json:"files"`
	Lines   int           `json:"lines"`
	Census  *Census       `json:"census,omitempty"` // if something other than exactly these files and lines was shown
	Checks  []CheckResult `json:"checks,omitempty"`
	Skipped []string      `json:"not_checked,omitempty"`
	Summary string        `json:"summary,omitempty"` // of the checks' results
}

// EventReviewChecked opens a review and resolves it.
var EventReviewChecked = newEventType("review_checked", false, func(e Event, p checkedPayload) (gitstore.ID, string) {
	return submissionNote(e, p.submission())
})

// FoundNothing reports whether a submission to request can be recorded as EventReviewChecked: only
// rules looked, at a whole commit, and neither they nor the checks found anything to act on.
func FoundNothing(request ReviewRequest, sub Submission) bool {
	return request.ByRulesAlone() && sub.Reviewer == Builtin && sub.Outcome == OutcomePassed &&
		LookedRules.Of(sub.Report.Effective) == reply.Checked && sub.Report.Effective != reply.PassWithNotes &&
		len(sub.Report.Findings)+len(sub.Report.Requests) == 0 && !CheckRun{Results: sub.Checks}.Failed()
}

// ByRulesAlone reports whether a request asks only for rules to look at one whole commit.
func (r ReviewRequest) ByRulesAlone() bool {
	return r.Subject.Kind == SubjectCommit && r.Subject.Commit != "" && r.Subject.Tree == r.Subject.Commit &&
		r.Reviewer == Builtin && len(r.Others) == 0 && r.Message == "" && r.Run == "" && r.Panel == Panel{} && !r.Part()
}

func NewChecked(request ReviewRequest, sub Submission) checkedPayload {
	subject := request.Subject
	p := checkedPayload{
		Title: change.CutTitle(subject.Title), Base: subject.Base, Commit: subject.Commit, Branch: subject.Branch,
		Author: subject.Author, Follows: request.Follows, Files: sub.Census.Files, Lines: sub.Census.Lines,
		Checks: WithoutOutput(sub.Checks), Skipped: sub.SkippedBy,
	}
	if !reflect.DeepEqual(sub.Census, p.census()) {
		p.Census = &sub.Census
	}
	if len(sub.Checks) > 0 {
		p.Summary = sub.Report.Summary
	}
	return p
}

func (p checkedPayload) census() Census {
	if p.Census != nil {
		return *p.Census
	}
	return Census{Files: p.Files, Lines: p.Lines, SentFiles: p.Files, SentLines: p.Lines}
}

// request returns the request that e implies.
func (p checkedPayload) request(e Event) ReviewRequest {
	subject := Subject{
		Kind: SubjectCommit, Spec: p.Commit.Short(), Title: change.CutTitle(p.Title), Base: p.Base, Commit: p.Commit,
		Tree: p.Commit, Branch: p.Branch, Author: change.CutTitle(p.Author),
	}
	if p.Author == "" {
		subject.Author = e.Actor
	}
	return ReviewRequest{Subject: subject, Reviewer: Builtin, Follows: p.Follows}
}

// submission returns the answer that the payload implies.
func (p checkedPayload) submission() Submission {
	report := EmptyReport()
	report.Format, report.Verdict, report.Effective, report.Summary = "builtin", reply.Checked, reply.Checked, p.Summary
	if p.Summary == "" {
		report.Summary = "no problem in " + prose.Count(p.census().SentFiles, "file")
	}
	return Submission{
		Reviewer: Builtin, Looked: LookedRules, Report: report, Outcome: OutcomePassed, Commit: p.Commit, Tree: p.Commit,
		Change: p.Change, Census: p.census(), Checks: p.Checks, SkippedBy: p.Skipped,
	}
}

// FoundNothingNote is the resolution note of a review that only rules looked at.
const FoundNothingNote = "rules found nothing"

// AnsweredNote begins the resolution note of a review whose findings all have an answer.
const AnsweredNote = "every finding is answered"

// PassedNote begins the resolution note of a review that passed without notes.
const PassedNote = "passed without notes"
