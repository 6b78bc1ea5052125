package loop

import (
	"context"
	"fmt"
	"strings"

	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// reviewParts has a reviewer look at the change, at one part after the other where it is
// too large for one, and joins what it says of them. begin is told of each of several.
func reviewParts(ctx context.Context, reviewer Reviewer, job ReviewJob, begin func(part string)) (ReviewAnswer, error) {
	var answers []ReviewAnswer
	job.Prompt.Census, job.Prompt.Files, job.Prompt.Parts = job.Change.Census, job.Change.Files, len(job.Change.Parts)
	for i, part := range job.Change.Parts {
		where := fmt.Sprintf("part %d of %d", i+1, len(job.Change.Parts))
		if len(job.Change.Parts) > 1 {
			begin(where)
		}
		nonce, err := newNonce()
		if err != nil {
			return ReviewAnswer{}, err
		}
		job.Change.Patch, job.Prompt.Patch, job.Prompt.Nonce = part.Patch, part.Patch, nonce
		job.Prompt.Part, job.Prompt.PartFiles, job.Prompt.PartLines = i+1, part.Files, part.Lines
		answer, err := reviewer.Review(ctx, job)
		if err != nil {
			return answer, err
		}
		if answer.Failure != nil {
			if len(job.Change.Parts) > 1 {
				answer.Failure.Detail = where + ": " + answer.Failure.Detail
			}
			return answer, nil
		}
		answers = append(answers, answer)
	}
	return joinAnswers(answers), nil
}

// joinAnswers is what the answers to all parts come to.
func joinAnswers(answers []ReviewAnswer) ReviewAnswer {
	if len(answers) == 1 {
		return answers[0]
	}
	var reports []reply.Report
	var raw []string
	for i, a := range answers {
		reports = append(reports, a.Report)
		if a.Raw != "" {
			raw = append(raw, reply.PartTitle(i, len(answers))+"\n"+a.Raw)
		}
	}
	return ReviewAnswer{Report: reply.Join(reports), Raw: strings.Join(raw, "\n\n")}
}

// see bounds the verdict by what the reviewer was shown: it passed what it saw.
func see(r *reply.Report, c record.Census) {
	if r.Effective == reply.Pass && c.Unseen() {
		r.Effective = reply.PassWithNotes
	}
	r.Approved = r.Approved && !c.Partial()
}
