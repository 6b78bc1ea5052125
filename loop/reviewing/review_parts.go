package reviewing

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/spend"
)

// reviewParts has a reviewer examine the change, part by part if it is too large for one, and joins the answers. The
// checks count beside the verdict.
func reviewParts(ctx context.Context, reviewer role.Reviewer, change Change, asked Question,
	progress checking.Progress) (role.ReviewAnswer, error) {
	var answers []role.ReviewAnswer
	var made []spend.Call
	prompt := asked.Prompt
	prompt.Checks, prompt.Census, prompt.Files, prompt.Parts = asked.Checks, change.Census, change.Files, len(change.Parts)
	for i, part := range change.Parts {
		where := fmt.Sprintf("part %d of %d", i+1, len(change.Parts))
		if len(change.Parts) > 1 {
			progress.Step("review", where)
		}
		prompt.Part, prompt.Number, prompt.Nonce = part, i+1, checking.NewNonce()
		subject, rest := change.Subject, change.Rest
		if i > 0 {
			subject, rest = record.Subject{}, nil
		}
		answer, err := reviewer.Review(ctx, role.ReviewJob{
			Subject: subject, Patch: part.Patch, Rest: rest, Tree: change.Tree, Files: change.Files, Checks: asked.Checks,
			Dir: asked.dir, Prompt: prompt.Text, Nonce: prompt.Nonce, Block: true, Transcript: asked.Transcript,
			OnLine: progress.Line,
		})
		made = append(made, answer.Calls...)
		answer.Calls = made
		if err != nil {
			return answer, err
		}
		if answer.Told = prompt.Told.Used; answer.Failure != nil {
			if len(change.Parts) > 1 {
				answer.Failure.Detail = where + ": " + answer.Failure.Detail
			}
			return answer, nil
		}
		r := &answer.Report
		r.Effective = reply.EffectiveVerdict(r.Verdict, r.Findings, record.CheckRun{Results: asked.Checks}.Failed())
		answers = append(answers, answer)
		prompt.Earlier = append(prompt.Earlier, reply.Words{By: where, Text: prose.CutMiddle(summaryOf(*r), earlierBytes)})
	}
	joined := joinAnswers(answers)
	joined.Calls = made
	return joined, nil
}

// earlierBytes is the maximum length of an earlier part's summary in a prompt.
const earlierBytes = 2 << 10

// summaryOf returns a report in a few lines.
func summaryOf(r reply.Report) string {
	lines := []string{string(r.Effective), r.Summary}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("- %s %s: %s", f.Severity, f.Place(), prose.OneLine(f.Issue)))
	}
	return strings.Join(lines, "\n")
}

// joinAnswers joins the answers to all parts.
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
	last := answers[len(answers)-1]
	return role.ReviewAnswer{Report: reply.Join(reports), Raw: strings.Join(raw, "\n\n"), Usage: last.Usage,
		Told: last.Told}
}

// BoundVerdict lowers the verdict if the reviewer was not shown everything.
func BoundVerdict(r *reply.Report, c record.Census) {
	if r.Effective == reply.Pass && c.Unseen() {
		r.Effective = reply.PassWithNotes
	}
	r.Approved = r.Approved && !c.Partial()
}
