package loop

import (
	"fmt"
	"slices"
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

// ParseReview reads a reviewer's answer in any of the formats that readers names.
// nonce is what the answer's block must be tagged with; a block that is tagged with
// it is all that counts; what is said against its pass beside it is a warning. With ""
// no such block is expected.
//
// What cannot be read is NEEDS_FIX with the text as the summary, and a warning that
// says what was expected; it is never a pass. Of several verdicts in one format the
// last counts, of several formats the worst.
func ParseReview(text string, nonce string) Report {
	log := &parseLog{}
	clean, whole := cleanInput(text, log)
	report := parseReview(strings.Map(printable, clean), whole, nonce, log)
	report.Text = ownWords(clean, nonce)
	return report
}

// answer is a reviewer's answer while it is read.
type answer struct {
	nonce   string
	md      mdText
	lines   []readLine // those of md, and what they are
	found   []candidate
	read    []int // lines that a report was made of
	broken  bool  // what meant to be a report could not be read
	refused bool  // the words beside a pass refuse
	tallied bool  // it counts critical findings
	log     *parseLog
}

// candidate is a report that stands in an answer, on the lines [from, to].
type candidate struct {
	Report
	from, to int
	titled   bool   // a heading or a label in bold states it
	unread   string // the field of an object that may hold faults and is not known
}

// readers are the formats of a review in the order in which they are tried. What a
// final one reads is all that counts.
var readers = []struct {
	read  func(*answer) []candidate
	final bool
}{
	{read: readTagged, final: true},
	{read: readJSON},
	{read: readMarkdownReview},
}

func parseReview(text string, whole bool, nonce string, log *parseLog) Report {
	if strings.TrimSpace(text) == "" {
		log.add("empty answer")
		return finish(Report{Verdict: NeedsFix, Format: formatUnreadable}, mdText{}, log)
	}
	a := &answer{nonce: nonce, md: readMarkdown(text), log: log}
	a.md.unclosed = a.md.unclosed || !whole
	a.lines = classify(a.md)
	for _, r := range readers {
		if a.found = append(a.found, r.read(a)...); r.final && len(a.found) > 0 {
			break
		}
	}
	picked := worst(a.found, log)
	if picked.Format == "" {
		return unreadable(text, a.md, log)
	}
	report := a.explained(a.weighed(picked), text)
	rest := a.rest()
	if report.Format != formatMarkdown {
		rest = splitMarkdown(report.Summary)
	}
	report = finish(report, rest, log)
	if len(report.Requests) == 0 && !report.Effective.Passed() && (a.refused || !picked.Verdict.Passed()) {
		report.Requests = append(report.Requests, firstWords(rest, a.rest(), a.besideVerdicts())...)
	}
	return report
}

// rest is the text without the lines that a report was made of.
func (a *answer) rest() mdText {
	rest := mdText{lines: slices.Clone(a.md.lines), unclosed: a.md.unclosed}
	for _, i := range a.read {
		rest.lines[i].kind = lineTaken
	}
	return rest
}

// besideVerdicts is what verdicts have behind them on their line: "NEEDS_FIX — it leaks".
func (a *answer) besideVerdicts() mdText {
	var said []string
	for _, l := range a.lines {
		if _, reason, ok := strings.Cut(strings.NewReplacer(" – ", " — ", " - ", " — ", ": ", " — ").Replace(l.rest), " — "); ok && l.role == roleVerdict && !startsWithNumber(reason) {
			said = append(said, reason)
		}
	}
	return splitMarkdown(strings.Join(said, "\n"))
}

// startsWithNumber tells a count of findings from a reason.
func startsWithNumber(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// explained gives a report that refuses for no reason the text as its summary: else
// nobody could tell what is wrong.
func (a *answer) explained(report Report, text string) Report {
	first, last := a.md.span()
	if first < last && report.Summary == "" && len(report.Findings) == 0 && !report.Verdict.Passed() && report.Format != formatTagged {
		report.Summary = cutBytes(strings.TrimSpace(text), maxSummary)
	}
	return report
}

// worst picks the candidate whose effective verdict is the worst, of equal ones the last.
func worst(found []candidate, log *parseLog) candidate {
	var picked candidate
	rank := -1
	differ := false
	for i, c := range found {
		n := verdictRank(EffectiveVerdict(c.Verdict, c.Findings, false))
		differ = differ || i > 0 && n != rank
		if n >= rank {
			picked, rank = c, n
		}
	}
	if differ {
		log.add(fmt.Sprintf("the answer holds %d reports that disagree: the worst counts", len(found)))
	}
	return picked
}

// weighed takes a pass back that the rest of the answer puts in doubt.
func (a *answer) weighed(c candidate) Report {
	report := c.Report
	if report.Format == "" {
		return report
	}
	if report.Verdict == "" {
		a.log.add("no verdict line: expected \"### Verdict: PASS\" or another verdict; taken as NEEDS_FIX")
		report.Verdict = NeedsFix
	}
	if a.md.unclosed && report.Format != formatTagged {
		a.log.add("the answer is cut off, or a code fence or comment in it is not closed: the rest was not read")
	}
	if report.Verdict.Passed() && report.Format != formatMarkdown {
		report.Findings = append(report.Findings, criticalIn(report.Summary)...)
	}
	if !EffectiveVerdict(report.Verdict, report.Findings, false).Passed() {
		return report
	}
	if why := a.doubt(c); why != "" {
		a.log.add(fmt.Sprintf("stated %s, but %s: taken as NEEDS_FIX", report.Verdict, why))
		report.Verdict = NeedsFix
	} else if said := a.against(c); said != "" {
		a.log.add(fmt.Sprintf("the block says %s, but the words beside it say %s: the block counts", report.Verdict, said))
	}
	return report
}

// against is what the words beside a block that passes say against it; "" when it is
// nothing. Findings without a verdict are its reasons, unless one is critical.
func (a *answer) against(block candidate) string {
	if block.Format != formatTagged {
		return ""
	}
	beside := *a
	beside.found, beside.read, beside.log = nil, nil, &parseLog{}
	for _, r := range readers {
		if !r.final {
			beside.found = append(beside.found, r.read(&beside)...)
		}
	}
	said := worst(beside.found, beside.log)
	effective := EffectiveVerdict(said.Verdict, said.Findings, false)
	switch {
	case !effective.Passed() && (said.Verdict != "" || effective == CriticalFail):
		return string(effective)
	case readRequests(a.md, reading{}).refused:
		return "that the change must not go in"
	}
	return ""
}

// criticalIn are the critical findings in a summary.
func criticalIn(summary string) []Finding {
	a := &answer{md: splitMarkdown(summary), log: &parseLog{}}
	a.lines = classify(a.md)
	findings, _ := a.markdownFindings()
	return slices.DeleteFunc(findings, func(f Finding) bool { return f.Severity != Critical })
}

// doubt is why a pass is none; "" when it is one. A block with the nonce is believed
// as far as it goes.
func (a *answer) doubt(c candidate) string {
	words := splitMarkdown(c.Summary)
	if c.Format != formatTagged {
		words.lines = append(words.lines, a.rest().lines...)
	}
	switch {
	case c.unread != "":
		return fmt.Sprintf("its field %q could not be read", c.unread)
	case readRequests(words, reading{}).refused:
		a.refused = true
		return "the words beside it say that the change must not go in"
	case c.Format == formatTagged:
	case a.broken || a.md.unclosed:
		return "a part of the answer could not be read"
	case a.tallied:
		return "critical findings are counted and not given"
	case a.nonce != "" && !c.titled && a.speaks(0, c.from) && a.speaks(c.to+1, len(a.lines)):
		return "it stands in the middle of an answer without the block that was asked for"
	}
	return ""
}

// speaks reports whether the author says something in the lines [from, to).
func (a *answer) speaks(from, to int) bool {
	return slices.ContainsFunc(a.md.lines[from:max(from, to)], func(l mdLine) bool { return !l.silent() })
}

// isAnswer reports whether the lines [from, to] are what the author answers, and not
// a part of a sentence or what a sentence tells of. A title may stand below any line.
func (a *answer) isAnswer(from, to int, titled bool) bool {
	above := from - 1
	for above > 0 && a.md.lines[above].blank() {
		above--
	}
	if above >= 0 {
		l := a.md.lines[above]
		level, _ := l.headingOrBold()
		told := l.kind == lineText && level == 0 && endsInColon(l.text) && !announces(l.text)
		joined := above == from-1 && level == 0 && (l.kind == lineQuote || l.kind == lineText && !endsSentence(l.text))
		if told || !titled && joined && !announces(l.text) {
			return false
		}
	}
	below := to + 1
	for below < len(a.md.lines)-1 && a.md.lines[below].blank() {
		below++
	}
	if below >= len(a.md.lines) || titled && below > to+1 {
		return true
	}
	l := a.md.lines[below]
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(l.text))
	return l.kind != lineText || !unicode.IsLower(first) || labelled(l.text) != ""
}

// endsSentence reports whether what stands below text begins anew: text ends in a
// stop, is an item or has a label.
func endsSentence(text string) bool {
	_, _, listed := cutBullet(text)
	last := lastRune(strings.TrimRightFunc(text, func(r rune) bool { return isDecor(r) || strings.ContainsRune(")\"'", r) }))
	return listed || strings.ContainsRune(".!?…", last) || labelled(text) != "" || strings.TrimSpace(text) == ""
}

// answerWords and answerNouns are the words of a line after which the answer comes:
// "Here is my review of the change:", "BEGIN_JSON".
var (
	answerWords = tableOf(`here is are my the this final full complete of as in and below follows following requested i structured change changes commit patch pr begin_json`)
	answerNouns = tableOf(`review report verdict result results answer json output summary decision conclusion assessment response begin_json`)
)

func announces(text string) bool {
	words := wordsOf(text)
	return hasWord(words, answerNouns) && !slices.ContainsFunc(words, func(w string) bool { return !answerWords.has(w) && !answerNouns.has(w) })
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

// ownWords is an answer as it is kept for others: as it was written, but without the
// nonce, which would make it an answer again. Of a longer one the middle is left out.
// What would steer a terminal is made visible where it is shown: see safetext.
func ownWords(text, nonce string) string {
	if nonce != "" {
		text = strings.ReplaceAll(text, nonce, "")
	}
	return cutMiddle(strings.TrimSpace(text), maxText)
}
