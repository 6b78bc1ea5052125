package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// PartTitle returns the heading for the report on part i, counted from 0, of n.
func PartTitle(i, n int) string { return fmt.Sprintf("Part %d of %d:", i+1, n) }

// Join combines the reports on all parts of a change: the worst verdict, all findings
// without duplicates, and all texts.
func Join(reports []Report) Report {
	rank := func(r Report) int { // of two equally bad reports, a readable one counts
		if r.Unreadable() {
			return 2 * VerdictRank(r.Effective)
		}
		return 2*VerdictRank(r.Effective) + 1
	}
	worst := slices.MaxFunc(reports, func(a, b Report) int { return rank(a) - rank(b) })
	r := Report{
		Verdict: worst.Verdict, Effective: worst.Effective, Format: worst.Format,
		Findings: []Finding{}, Warnings: []string{}, Approved: true,
	}
	var asked, summaries, texts []string
	for i, part := range reports {
		title := PartTitle(i, len(reports))
		r.Findings = append(r.Findings, newFindings(r.Findings, part.Findings)...)
		asked = append(asked, part.Requests...)
		for _, w := range part.Warnings {
			r.Warnings = append(r.Warnings, strings.ToLower(title[:1])+title[1:]+" "+w)
		}
		r.Approved = r.Approved && part.Approved
		if part.Summary != "" {
			summaries = append(summaries, title+"\n"+part.Summary)
		}
		if text := prose.CutMiddle(part.Text, MaxText/len(reports)-len(title)-2); text != "" {
			texts = append(texts, title+"\n"+text)
		}
	}
	Identify(r.Findings)
	r.Requests = Requests(r.Findings, asked)
	r.Summary, r.Text = strings.Join(summaries, "\n\n"), strings.Join(texts, "\n\n")
	return r
}

// newFindings returns the findings of more that are not in known, with the same place and issue.
func newFindings(known, more []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(more), func(f Finding) bool {
		return slices.ContainsFunc(known, func(k Finding) bool {
			return k.File == f.File && k.Line == f.Line && k.Issue == f.Issue
		})
	})
}
