package loop

import (
	"context"
	"fmt"
	"strings"

	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/role"
)

// reviewParts has a reviewer look at the change, at one part after the other where it is
// too large for one, and joins what it says of them. A verdict counts beside the checks.
func reviewParts(ctx context.Context, reviewer role.Reviewer, change Change, asked question, progress Progress) (role.ReviewAnswer, error) {
	var answers []role.ReviewAnswer
	var made []record.Call
	prompt := asked.prompt
	prompt.Checks, prompt.Census, prompt.Files, prompt.Parts = asked.checks, change.Census, change.Files, len(change.Parts)
	for i, part := range change.Parts {
		where := fmt.Sprintf("part %d of %d", i+1, len(change.Parts))
		if len(change.Parts) > 1 {
			progress.Step("review", where)
		}
		nonce, err := newNonce()
		if err != nil {
			return role.ReviewAnswer{}, err
		}
		prompt.Patch, prompt.Nonce, prompt.Part, prompt.PartFiles, prompt.PartLines = part.Patch, nonce, i+1, part.Files, part.Lines
		answer, err := reviewer.Review(ctx, role.ReviewJob{
			Patch: part.Patch, Tree: change.Tree, Files: change.Files, Checks: asked.checks, Dir: asked.dir,
			Prompt: prompt.Text, Nonce: nonce, Transcript: asked.transcript, OnLine: progress.Line,
		})
		made = append(made, answer.Calls...)
		answer.Calls = made
		if err != nil {
			return answer, err
		}
		if answer.Failure != nil {
			if len(change.Parts) > 1 {
				answer.Failure.Detail = where + ": " + answer.Failure.Detail
			}
			return answer, nil
		}
		r := &answer.Report
		r.Effective = reply.EffectiveVerdict(r.Verdict, r.Findings, record.CheckRun{Results: asked.checks}.Failed())
		answers = append(answers, answer)
	}
	joined := joinAnswers(answers)
	joined.Calls = made
	return joined, nil
}

// joinAnswers is what the answers to all parts come to.
func joinAnswers(answers []role.ReviewAnswer) role.ReviewAnswer {
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
	return role.ReviewAnswer{Report: reply.Join(reports), Raw: strings.Join(raw, "\n\n")}
}

// see bounds the verdict by what the reviewer was shown: it passed what it saw.
func see(r *reply.Report, c record.Census) {
	if r.Effective == reply.Pass && c.Unseen() {
		r.Effective = reply.PassWithNotes
	}
	r.Approved = r.Approved && !c.Partial()
}
