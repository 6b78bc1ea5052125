package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// readMarkdownReview reads a report in Markdown: verdict lines and findings, in a section
// or not. The verdict is empty if no line states one.
func readMarkdownReview(a *answer) []candidate {
	stated := a.worstVerdict()
	findings, sectioned := a.markdownFindings()
	report := Report{Format: formatMarkdown, Verdict: stated.Verdict, Findings: findings}
	if stated.unclear && !HasSeverity(findings, Critical) && !HasSeverity(findings, Warning) {
		report.Format = FormatUnreadable
	}
	if s := a.md.Sections(titled("summary"), true); len(s) > 0 {
		report.Summary = prose.Cut(a.md.Text(s[0]), maxSummary)
	}
	faulty := HasSeverity(findings, Warning) || sectioned && len(findings) > 0
	if stated.Verdict == "" && !HasSeverity(findings, Critical) && (!faulty || len(a.found) > 0) {
		return nil // notes alone are prose; beside another report only a critical finding counts
	}
	return []candidate{{Report: report, from: stated.from, to: stated.to}}
}

// statedVerdict is a verdict and the lines [from, to] that state it.
type statedVerdict struct {
	Verdict
	from, to int
	unclear  bool // it neither passes nor refuses
}

// worstVerdict returns the worst verdict that the answer states, the last of equally bad
// ones. It is empty if there is none.
func (a *answer) worstVerdict() (worst statedVerdict) {
	for i, l := range a.lines {
		if l.role != roleVerdict {
			continue
		}
		value, end := l.rest, i
		if value == "" {
			value, end = textBelow(a.md, i)
		}
		verdict, unclear := readVerdict(value)
		switch {
		case verdict == "":
			a.log.Add("a verdict line is a template and states no verdict")
			continue
		case verdict.Passed() && (!l.asked || end > i || l.Torn || !a.isAnswer(i, end, true)):
			a.log.Add("a verdict in a form that was not asked for, or in the middle of other words, was ignored")
			continue
		case unclear:
			a.log.Add(unclearVerdict(value))
		}
		stated := statedVerdict{verdict, i, end, unclear}
		if worst.Verdict != "" && worst.Verdict != verdict {
			a.log.Add(fmt.Sprintf("the answer states different verdicts, %s and %s: the worst counts", worst.Verdict, verdict))
		}
		if worst.Verdict == "" || VerdictRank(verdict) >= VerdictRank(worst.Verdict) {
			worst = stated
		}
	}
	return worst
}

// textBelow returns the first line below i that is not blank, and its number; "" and i if
// that line is not plain text.
func textBelow(md markdown.Text, i int) (text string, at int) {
	for at := i + 1; at < len(md.Lines); at++ {
		l := md.Lines[at]
		if l.Blank() {
			continue
		}
		if level, _ := markdown.HeadingOf(l.Text); l.Kind != markdown.LineText || level > 0 {
			break
		}
		return strings.TrimSpace(l.Text), at
	}
	return "", i
}

// markdownFindings reads the findings of the answer: those under a "Findings" heading. If
// there are any, only critical ones count elsewhere, because a misplaced critical finding
// must not be missed.
func (a *answer) markdownFindings() (findings []Finding, sectioned bool) {
	scope := findingScopes(a.md)
	r := &findingReader{log: a.log}
	r.read(a.lines, scope)
	a.tallied, a.read = r.tallied > 0, append(a.read, r.other...)
	inside := each.Where(r.found, func(f foundFinding) bool { return f.inside })
	strays := each.Where(r.found, func(f foundFinding) bool { return !f.inside })
	if len(inside) == 0 {
		plain := &findingReader{log: a.log, plain: true}
		plain.read(a.lines, scope)
		if inside = plain.found; len(inside) > 0 {
			a.log.Add("the findings have no severity: taken as warnings")
		}
	}
	if len(inside) > 0 && len(strays) > 0 {
		a.log.Add(fmt.Sprintf("findings outside the Findings section: %d, of which only critical ones are taken",
			len(strays)))
		strays = slices.DeleteFunc(strays, func(f foundFinding) bool { return f.Severity != Critical })
	}
	for _, f := range append(inside, strays...) {
		findings = append(findings, f.Finding)
		a.read = append(a.read, f.lines...)
	}
	return findings, len(inside) > 0
}

func findingScopes(md markdown.Text) []findingScope {
	scope := make([]findingScope, len(md.Lines))
	mark := func(value findingScope, wanted func(string) bool) {
		for _, s := range md.Sections(wanted, false) {
			if value == scopeOut {
				s.To = asideEnd(md, s)
			}
			for i := s.From; i < s.To; i++ {
				scope[i] = value
			}
		}
	}
	mark(scopeOut, func(title string) bool {
		return asksNothing(title) || markdown.TitleIs(title, "example", "output format", "earlier")
	})
	mark(scopeIn, func(title string) bool {
		_, title, _ = markdown.CutBullet(title)
		return markdown.TitleIs(markdown.TrimDecor(title), "findings")
	})
	return scope
}

// asideEnd returns the end of a section about something else. Below a line that is not a
// heading it is the end of the paragraph or list.
func asideEnd(md markdown.Text, s markdown.Section) int {
	title := md.Lines[s.From-1]
	if level, _ := title.HeadingOrBold(); level > 0 {
		return s.To
	}
	if !endsInColon(title.Text) {
		return s.From
	}
	for i := s.From; i < s.To; i++ {
		_, _, listed := markdown.CutBullet(md.Lines[i].Text)
		if i > s.From+1 && md.Lines[i-1].Blank() && !listed && markdown.IndentOf(md.Lines[i].Text) == 0 {
			return i
		}
	}
	return s.To
}
