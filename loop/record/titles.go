package record

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

func SubmissionTitle(sub Submission) string {
	if sub.Outcome == OutcomeNothing {
		return "nothing to review"
	}
	if sub.Decision != "" {
		return fmt.Sprintf("%s by %s, %s", sub.Decision, sub.Reviewer, prose.Count(len(sub.Comments), "comment"))
	}
	return ReportTitle(sub.Report, sub.Reviewer, sub.By(sub.Reviewer))
}

// SaysPass reports whether e completes a run whose title calls it a pass. Programs before rules were told from
// reviewers wrote that of runs at which rules alone had looked, which the event itself does not say.
func (e Event) SaysPass() bool {
	return e.Type == EventRunCompleted.Name && strings.HasSuffix(e.Title, ": "+ResultPass)
}

// WithResult returns e, which SaysPass, with the result that its run came to.
func (e Event) WithResult(result string) Event {
	e.Title = strings.TrimSuffix(e.Title, ResultPass) + result
	return e
}

// ReportTitle is a report in the subject of the event that records it.
func ReportTitle(r reply.Report, reviewer, by string) string {
	r.Effective = lookedBy(reviewer, r.Format).Of(r.Effective)
	return fmt.Sprintf("%s by %s, %s", r.Says(), by, r.Gist())
}
