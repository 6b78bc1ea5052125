package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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

// joinAnswers is what the answers to all parts come to: the worst verdict, everything that
// was found, each thing once, and all that was said.
func joinAnswers(answers []ReviewAnswer) ReviewAnswer {
	if len(answers) == 1 {
		return answers[0]
	}
	worst := slices.MaxFunc(answers, func(a, b ReviewAnswer) int {
		return cmp.Or(cmp.Compare(verdictRank(a.Report.Effective), verdictRank(b.Report.Effective)), unreadableLast(a, b))
	})
	joined := ReviewAnswer{Report: Report{
		Verdict: worst.Report.Verdict, Effective: worst.Report.Effective, Format: worst.Report.Format,
		Findings: []Finding{}, Warnings: []string{}, Approved: true,
	}}
	r := &joined.Report
	var asked, summaries, texts, raw []string
	for i, a := range answers {
		where := fmt.Sprintf("Part %d of %d:", i+1, len(answers))
		under := func(list []string, text string) []string {
			if text == "" {
				return list
			}
			return append(list, where+"\n"+text)
		}
		r.Findings = append(r.Findings, newFindings(r.Findings, a.Report.Findings)...)
		asked = append(asked, a.Report.Requests...)
		for _, w := range a.Report.Warnings {
			r.Warnings = append(r.Warnings, strings.ToLower(where[:1])+where[1:]+" "+w)
		}
		r.Approved = r.Approved && a.Report.Approved
		summaries, raw = under(summaries, a.Report.Summary), under(raw, a.Raw)
		texts = under(texts, cutMiddle(a.Report.Text, maxText/len(answers)-len(where)-2))
	}
	identify(r.Findings)
	r.Requests = requests(r.Findings, asked)
	r.Summary, r.Text, joined.Raw = strings.Join(summaries, "\n\n"), strings.Join(texts, "\n\n"), strings.Join(raw, "\n\n")
	return joined
}

// unreadableLast orders an answer that asks for something above one that nobody can read.
func unreadableLast(a, b ReviewAnswer) int {
	switch au, bu := a.Report.unreadable(), b.Report.unreadable(); {
	case au && !bu:
		return -1
	case bu && !au:
		return 1
	}
	return 0
}

// newFindings are those of more that are not in known, at the same place.
func newFindings(known, more []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(more), func(f Finding) bool {
		return slices.ContainsFunc(known, func(k Finding) bool { return k.File == f.File && k.Line == f.Line && k.Issue == f.Issue })
	})
}

// see bounds the verdict by what the reviewer was shown: it passed what it saw.
func (r *Report) see(c Census) {
	if r.Effective == Pass && c.unseen() {
		r.Effective = PassWithNotes
	}
	r.Approved = r.Approved && !c.Partial()
}
