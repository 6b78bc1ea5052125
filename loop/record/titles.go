package record

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// SubmissionTitle summarizes a submission for the subject of its event.
func SubmissionTitle(sub Submission) string {
	sub.asComment() // as in the fold, so that the title counts what show counts
	if sub.Outcome == OutcomeNothing {
		return "nothing to review"
	}
	if sub.Decision != "" {
		return fmt.Sprintf("%s by %s, %s", sub.Decision, sub.Reviewer, prose.Count(len(sub.Comments), "comment"))
	}
	sub.Report.Effective = lookedBy(sub.Reviewer, sub.Report.Format).Of(sub.Report.Effective)
	return fmt.Sprintf("%s by %s, %s", sub.Report.Says(), sub.By(sub.Reviewer), sub.Report.Gist())
}

// SaysPass reports whether e completes a run and its title calls the result a pass. Older programs wrote that even if
// only rules had looked, which the event itself does not show.
func (e Event) SaysPass() bool {
	return e.Type == EventRunCompleted.Name && strings.HasSuffix(e.Title, ": "+ResultPass)
}

// WithResult returns e with the actual result of its run in the title. SaysPass must be true of e.
func (e Event) WithResult(result string) Event {
	e.Title = strings.TrimSuffix(e.Title, ResultPass) + result
	return e
}
