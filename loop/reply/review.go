package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// ParseReview reads a reviewer's answer. Only these can pass a change: the block tagged with nonce,
// "### Verdict: PASS", "**Verdict:** PASS", the object with "success" and the object with "status".
// All other text, including text beside such a pass, can only refuse. If nonce is "", no tagged block
// is expected.
//
// Unreadable text is NEEDS_FIX in the format "unreadable", with the text as the summary. Of several
// verdicts the worst counts.
func ParseReview(text string, nonce string) Report {
	log := &markdown.Warnings{}
	clean, whole := markdown.Clean(text, log)
	report := parseReview(markdown.Printable(clean), whole, nonce, log)
	report.Text = ownWords(clean, nonce)
	return report
}

func parseReview(text string, whole bool, nonce string, log *markdown.Warnings) Report {
	if strings.TrimSpace(text) == "" {
		log.Add("empty answer")
		return finish(Report{Verdict: NeedsFix, Format: FormatUnreadable}, markdown.Text{}, log)
	}
	a := &answer{nonce: nonce, md: markdown.Read(text), log: log}
	a.md.Unclosed = a.md.Unclosed || !whole
	a.lines = classify(a.md)
	blocks := readTagged(a)
	a.found = append(readJSON(a), readMarkdownReview(a)...)
	picked := worst(a.found, log)
	if len(blocks) > 0 {
		picked = worst(blocks, log)
		picked.hear(a.found, log)
	}
	if picked.Findings = append(picked.Findings, newFindings(picked.Findings, a.loose)...); picked.Format == "" {
		if len(a.loose) == 0 {
			return unreadable(text, a.md, log)
		}
		picked.Format = formatFindings
	}
	report := a.explained(a.weighed(picked), text)
	rest := a.rest()
	switch {
	case report.Format == formatMarkdown:
	case report.Format == formatTagged, !EffectiveVerdict(report.Verdict, report.Findings, false).Passed():
		rest = markdown.Split(report.Summary)
	default:
		rest.Lines = slices.Concat(markdown.Split(report.Summary).Lines, rest.Lines)
	}
	report = finish(report, rest, log)
	if report.Format != FormatUnreadable && len(report.Requests) == 0 && !report.Effective.Passed() &&
		(a.refused || !picked.Verdict.Passed()) {
		report.Requests = append(report.Requests, FirstWords(rest, a.rest(), a.besideVerdicts())...)
	}
	return report
}

// hear adds to the tagged block what the text beside it says: critical findings, and a verdict that does not pass.
// Other findings beside it are taken as reasons that the block has already.
func (block *candidate) hear(beside []candidate, log *markdown.Warnings) {
	for _, c := range beside {
		critical := slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Severity != Critical })
		block.Findings = append(block.Findings, newFindings(block.Findings, critical)...)
		if c.Verdict != "" && c.Format != FormatUnreadable && block.Verdict.Passed() && !c.Verdict.Passed() {
			log.Add(fmt.Sprintf("the block says %s, but the words beside it say %s: the worse counts", block.Verdict, c.Verdict))
			block.Verdict = c.Verdict
		}
	}
}

// besideVerdicts returns the remarks after verdicts on their lines: "NEEDS_FIX — it leaks".
func (a *answer) besideVerdicts() markdown.Text {
	var said []string
	for _, l := range a.lines {
		if _, reason, ok := strings.Cut(strings.NewReplacer(" – ", " — ", " - ", " — ", ": ", " — ").Replace(l.rest),
			" — "); ok && l.role == roleVerdict && strings.IndexAny(reason, "0123456789") != 0 { // no count of findings
			said = append(said, reason)
		}
	}
	return markdown.Split(strings.Join(said, "\n"))
}

// explained uses the text as the summary of a report that refuses without a reason, because
// otherwise nobody could tell what is wrong.
func (a *answer) explained(report Report, text string) Report {
	first, last := a.md.Bounds()
	if first < last && report.Summary == "" && len(report.Findings) == 0 && !report.Verdict.Passed() &&
		report.Format != formatTagged {
		report.Summary = prose.Cut(strings.TrimSpace(text), maxSummary)
	}
	return report
}

// worst returns the candidate with the worst effective verdict, the last of equally bad ones.
func worst(found []candidate, log *markdown.Warnings) candidate {
	var picked candidate
	rank := -1
	differ := false
	for i, c := range found {
		n := VerdictRank(EffectiveVerdict(c.Verdict, c.Findings, false))
		differ = differ || i > 0 && n != rank
		if n >= rank {
			picked, rank = c, n
		}
	}
	if differ {
		log.Add(fmt.Sprintf("the answer holds %d reports that disagree: the worst counts", len(found)))
	}
	return picked
}

// weighed turns a pass into NEEDS_FIX if the rest of the answer puts it in doubt.
func (a *answer) weighed(c candidate) Report {
	report := c.Report
	if report.Verdict == "" {
		a.log.Add("no verdict line: expected \"### Verdict: PASS\" or another verdict; taken as NEEDS_FIX")
		report.Verdict = NeedsFix
	}
	if a.md.Unclosed && report.Format != formatTagged {
		a.log.Add("the answer is cut off, or a code fence or comment in it is not closed: the rest was not read")
	}
	if report.Verdict.Passed() && report.Format != formatMarkdown {
		report.Findings = append(report.Findings, criticalIn(report.Summary)...)
	}
	if !EffectiveVerdict(report.Verdict, report.Findings, false).Passed() {
		return report
	}
	if why := a.doubt(c); why != "" {
		a.log.Add(fmt.Sprintf("stated %s, but %s: taken as NEEDS_FIX", report.Verdict, why))
		report.Verdict = NeedsFix
	}
	return report
}

// criticalIn returns the critical findings in a summary.
func criticalIn(summary string) []Finding {
	a := &answer{md: markdown.Split(summary), log: &markdown.Warnings{}}
	a.lines = classify(a.md)
	findings, _ := a.markdownFindings()
	return slices.DeleteFunc(findings, func(f Finding) bool { return f.Severity != Critical })
}

// doubt returns why a pass cannot be accepted; "" if it can.
func (a *answer) doubt(c candidate) string {
	words := markdown.Split(c.Summary)
	words.Lines = append(words.Lines, a.rest().Lines...)
	switch {
	case c.unread != "":
		return fmt.Sprintf("its field %q could not be read", c.unread)
	case readRequests(words, reading{}).refused:
		a.refused = true
		return "the words beside it say that the change must not go in"
	case c.Format == formatTagged:
	case a.broken || a.md.Unclosed:
		return "a part of the answer could not be read"
	case a.tallied:
		return "critical findings are counted and not given"
	case a.nonce != "" && c.Format != formatMarkdown && a.speaks(0, c.from) && a.speaks(c.to+1, len(a.lines)):
		return "it stands in the middle of an answer without the block that was asked for"
	}
	return ""
}

// finish derives the remaining fields from the verdict, the findings and rest, the text
// outside the findings. It leaves no slice nil.
func finish(report Report, rest markdown.Text, log *markdown.Warnings) Report {
	if report.Findings == nil {
		report.Findings = []Finding{}
	}
	report.Effective = EffectiveVerdict(report.Verdict, report.Findings, false)
	read := readRequests(rest, reading{refusing: !report.Effective.Passed(), beside: len(report.Findings) > 0})
	report.Approved = report.Effective.Passed()
	report.Requests = Requests(report.Findings, read.asked())
	if report.Approved && report.Format != formatTagged {
		report.Findings = append(report.Findings, unreadNotes(report, read.unread)...)
		report.Effective = EffectiveVerdict(report.Verdict, report.Findings, false)
	}
	Identify(report.Findings)
	report.Warnings = log.All()
	return report
}

// unreadNotes returns the notes for texts beside a pass. Beside a pass with notes, a request needs no note of its own.
func unreadNotes(r Report, unread []string) []Finding {
	if r.Effective == PassWithNotes {
		asked := each.Set(r.Requests)
		unread = slices.DeleteFunc(unread, func(text string) bool { return asked[plainItem(text)] })
	}
	return each.Of(unread, unreadNote)
}

// unreadNote keeps a text beside a pass that is not known to be harmless, for a person to read.
func unreadNote(text string) Finding {
	f := Finding{Severity: Note, Issue: prose.Cut(text, maxSummary)}
	p, issue := place.Cut(f.Issue)
	if p.File == "" || issue == "" {
		f.At(placeAmong(f.Issue))
		return f
	}
	f.Issue = issue
	f.At(p)
	return f
}

// unreadable returns a report for an answer in no known format; it keeps the words for
// people and for the next prompt.
func unreadable(text string, md markdown.Text, log *markdown.Warnings) Report {
	log.Add("no verdict could be read: expected a \"### Verdict:\" line or a JSON report")
	text = strings.TrimSpace(text)
	report := Report{Verdict: NeedsFix, Format: FormatUnreadable, Summary: prose.Cut(text, maxSummary)}
	return finish(report, md, log)
}

// ownWords returns an answer's text as it is kept for others: without the nonce, which would
// make it an answer again, and without its middle if it is too long. Characters that control
// a terminal are handled on display; see safetext.
func ownWords(text, nonce string) string {
	return prose.CutMiddle(strings.TrimSpace(strings.ReplaceAll(text, nonce, "")), MaxText)
}
