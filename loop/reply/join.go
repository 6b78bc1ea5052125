package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// PartTitle heads what was said of part i, from 0, of n.
func PartTitle(i, n int) string { return fmt.Sprintf("Part %d of %d:", i+1, n) }

// Join is what the reports on all parts of a change come to: the worst verdict,
// everything that was found, each thing once, and all that was said.
func Join(reports []Report) Report {
	rank := func(r Report) int { // of two that are as bad the one counts that asks for something
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

// newFindings are those of more that are not in known, at the same place.
func newFindings(known, more []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(more), func(f Finding) bool {
		return slices.ContainsFunc(known, func(k Finding) bool { return k.File == f.File && k.Line == f.Line && k.Issue == f.Issue })
	})
}
