package loop

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The values of Report.Format.
const (
	formatTagged      = "tagged"       // the block that ReviewOutputInstructions asks for
	formatVerdictJSON = "verdict_json" // the same object without its tag
	formatMarkdown    = "markdown"     // seed 004
	formatReviewJSON  = "review_json"  // seed 002
	formatChangesJSON = "changes_json" // runr
	formatCodexJSON   = "codex_json"
	formatUnreadable  = "unreadable"
)

// maxSummary is how much of an unreadable answer is kept, in bytes.
const maxSummary = 4000

// ParseReview reads a reviewer's answer in any of the formats that design section 4
// names. nonce is what the answer's block must be tagged with; a block that is
// tagged with it is all that counts. With "" no such block is expected.
//
// What cannot be read is NEEDS_FIX with the text as the summary, and a warning that
// says what was expected; it is never a pass. Of several verdicts in one format the
// last counts, of several formats the worst.
func ParseReview(text string, nonce string) Report {
	report := parseReview(text, nonce)
	report.keepWords(text)
	return report
}

func parseReview(text string, nonce string) Report {
	log := &parseLog{}
	text, whole := cleanInput(text, log)
	text = strings.Map(printable, text)
	if strings.TrimSpace(text) == "" {
		log.add("empty answer")
		return finish(Report{Verdict: NeedsFix, Format: formatUnreadable}, mdText{}, log)
	}
	md := readMarkdown(text)
	md.unclosed = md.unclosed || !whole
	if report, ok := readTagged(md, nonce, log); ok {
		return finish(report, splitMarkdown(report.Summary), log)
	}
	if nonce != "" {
		log.add("no block tagged with this review's nonce: other formats were tried")
	}
	reports, broken := jsonReports(md, log)
	prose, rest, readable := readMarkdownReview(md, log)
	if readable && (prose.Verdict != "" || len(reports) == 0 || hasCritical(prose)) {
		reports = append(reports, prose)
	}
	report := worst(reports, log)
	if report.Format == "" {
		return unreadable(text, md, log)
	}
	if report.Format != formatMarkdown {
		rest = splitMarkdown(report.Summary)
	}
	report = closed(report, broken, md.unclosed, log)
	if first, last := md.span(); first < last && report.Summary == "" && len(report.Findings) == 0 && !report.Verdict.Passed() {
		report.Summary = cutBytes(strings.TrimSpace(text), maxSummary) // else nobody could tell what is wrong
	}
	return finish(report, rest, log)
}

func hasCritical(r Report) bool { return EffectiveVerdict(Pass, r.Findings, false) == CriticalFail }

// worst picks the report whose effective verdict is the worst, of equal ones the last.
func worst(reports []Report, log *parseLog) Report {
	var picked Report
	rank := -1
	differ := false
	for i, r := range reports {
		n := verdictRank(EffectiveVerdict(r.Verdict, r.Findings, false))
		differ = differ || i > 0 && n != rank
		if n >= rank {
			picked, rank = r, n
		}
	}
	if differ {
		log.add(fmt.Sprintf("the answer holds %d reports that disagree: the worst counts", len(reports)))
	}
	return picked
}

// closed takes a pass back from an answer of which a part could not be read: what
// is hidden there may say otherwise.
func closed(report Report, broken, unclosed bool, log *parseLog) Report {
	if report.Verdict == "" {
		log.add("no verdict line: expected \"### Verdict: PASS\" or another verdict; taken as NEEDS_FIX")
		report.Verdict = NeedsFix
	}
	if unclosed {
		log.add("the answer is cut off, or a code fence or comment in it is not closed: the rest was not read")
	}
	if report.Verdict.Passed() && (broken || unclosed) {
		log.add(fmt.Sprintf("stated %s, but a part of the answer could not be read: taken as NEEDS_FIX", report.Verdict))
		report.Verdict = NeedsFix
	}
	return report
}

// finish works out what follows from the verdict, the findings and rest, the text
// outside the findings. It leaves no slice nil.
func finish(report Report, rest mdText, log *parseLog) Report {
	if report.Findings == nil {
		report.Findings = []Finding{}
	}
	identify(report.Findings)
	report.Effective = EffectiveVerdict(report.Verdict, report.Findings, false)
	read := readRequests(rest, reading{refusing: !report.Effective.Passed(), beside: len(report.Findings) > 0})
	report.Approved = report.Effective.Passed() || report.Format == formatUnreadable && read.given() && !rest.unclosed
	report.Requests = requests(report.Findings, read.asked())
	report.Warnings = log.all()
	return report
}

// unreadable keeps the words of an answer in no known format, for people and for
// the next prompt.
func unreadable(text string, md mdText, log *parseLog) Report {
	log.add("no verdict could be read: expected a \"### Verdict:\" line or a JSON report")
	text = strings.TrimSpace(text)
	report := Report{Verdict: NeedsFix, Format: formatUnreadable, Summary: cutBytes(text, maxSummary)}
	return finish(report, md, log)
}

// printable shows control characters as what cannot be read. A lone carriage
// return is one: it must not end a quotation.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return utf8.RuneError
	}
	return r
}
