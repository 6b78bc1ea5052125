package loop

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readMarkdownReview reads seed 004's report. The verdict is empty when no line
// states one. rest is md without the lines that are findings. ok is false when
// there is neither verdict nor finding.
func readMarkdownReview(md mdText, log *parseLog) (report Report, rest mdText, ok bool) {
	report = Report{Format: formatMarkdown, Verdict: lastVerdict(md, log)}
	report.Findings, rest = markdownFindings(md, log)
	if s := md.sections(func(title string) bool { return titleIs(title, "summary") }, true); len(s) > 0 {
		report.Summary = cutBytes(md.text(s[0]), maxSummary)
	}
	return report, rest, report.Verdict != "" || len(report.Findings) > 0
}

// lastVerdict is the last verdict that md states; empty when there is none.
func lastVerdict(md mdText, log *parseLog) Verdict {
	var last Verdict
	differ := false
	for i, l := range md.lines {
		value, ok := verdictLine(l)
		if !ok {
			continue
		}
		if value == "" {
			value = md.textBelow(i)
		}
		verdict, warning := readVerdict(value)
		if warning != "" {
			log.add(warning)
		}
		if verdict == "" {
			log.add("a verdict line is a template and states no verdict")
			continue
		}
		differ = differ || last != "" && verdict != last
		last = verdict
	}
	if differ {
		log.add(fmt.Sprintf("the answer states different verdicts: the last one, %s, counts", last))
	}
	return last
}

// verdictLine reads "### Verdict: X", "**Verdict:** X", "Verdict: X" and "### Final
// verdict — X". The value is empty when it stands on a line below.
func verdictLine(l mdLine) (value string, ok bool) {
	if l.kind != lineText || indentOf(l.text) > 3 {
		return "", false
	}
	level, s := headingOf(l.text)
	if level > 0 {
		_, s, _ = cutBullet(s)
	} else if _, text, listed := cutBullet(l.text); !listed {
		s = text
	}
	_, isBold := boldOnly(l.text)
	s = strings.TrimLeftFunc(s, isDecor)
	for _, word := range []string{"final ", "overall ", "review "} {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			s = s[len(word):]
		}
	}
	if !titleIs(s, "verdict") {
		return "", false
	}
	return verdictValue(s[len("verdict"):], level > 0 || isBold)
}

// verdictValue reads what follows the word "Verdict". Only a heading may do without a colon.
func verdictValue(s string, heading bool) (value string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "(") { // "(round 2)"
		if _, after, closed := strings.Cut(s, ")"); closed {
			s = after
		}
	}
	if value, ok := cutColon(s); ok {
		return value, true
	}
	if !heading {
		return "", false
	}
	s = strings.TrimLeftFunc(s, func(r rune) bool { return isDecor(r) || strings.ContainsRune("-–—", r) })
	_, _, known := cutVerdict(verdictWords(s))
	return s, s == "" || known || isTemplate(s)
}

// textBelow is the first line below i that is not blank, "" when that is no plain text.
func (md mdText) textBelow(i int) string {
	for _, l := range md.lines[i+1:] {
		if l.blank() {
			continue
		}
		if level, _ := headingOf(l.text); l.kind != lineText || level > 0 {
			return ""
		}
		return strings.TrimSpace(l.text)
	}
	return ""
}

// markdownFindings reads the findings of md. Those under a "Findings" heading count;
// outside of one, structured findings count when there is no other, and a critical
// one always does: where a reviewer put it is no reason to miss it.
func markdownFindings(md mdText, log *parseLog) (findings []Finding, rest mdText) {
	rest = mdText{lines: slices.Clone(md.lines)}
	inside, outside := findingScopes(md)
	found := readFindings(md, inside, modeLoose, log)
	if len(found) == 0 {
		if found = readFindings(md, inside, modePlain, log); len(found) > 0 {
			log.add("the findings have no severity: taken as warnings")
		}
	}
	stray := readFindings(md, outside, modeStructured, log)
	if len(found) == 0 && len(stray) == 0 {
		stray = readFindings(md, outside, modeTagged, log)
	}
	if len(found) > 0 {
		all := len(stray)
		stray = slices.DeleteFunc(stray, func(f foundFinding) bool { return f.Severity != Critical })
		if all > 0 {
			log.add(fmt.Sprintf("findings outside the Findings section: %d, of which only critical ones are taken", all))
		}
	}
	for _, f := range append(found, stray...) {
		findings = append(findings, f.Finding)
		for _, i := range f.lines {
			rest.lines[i].kind = lineTaken
		}
	}
	return findings, rest
}

// findingScopes marks the lines in sections of findings, and those outside that are
// not about something else either.
func findingScopes(md mdText) (inside, outside []bool) {
	inside, outside = make([]bool, len(md.lines)), make([]bool, len(md.lines))
	for i := range outside {
		outside[i] = true
	}
	mark := func(scope []bool, value bool, wanted func(string) bool) {
		for _, s := range md.sections(wanted, false) {
			for i := s.from; i < s.to; i++ {
				scope[i] = value
			}
		}
	}
	isFindings := func(title string) bool {
		_, title, _ = cutBullet(title)
		return titleIs(trimDecor(title), "findings")
	}
	mark(inside, true, isFindings)
	mark(outside, false, isFindings)
	mark(outside, false, func(title string) bool {
		return asksNothing(title) || titleIs(title, "example", "output format", "earlier")
	})
	return inside, outside
}

// isNone reports whether text says that there is nothing: "None", "N/A", "0",
// "No critical issues found".
func isNone(text string) bool {
	words := strings.Fields(requestKey(text))
	if len(words) == 0 {
		return true
	}
	switch key := strings.Join(words, " "); {
	case key == "n a", key == "na", key == "nil", key == "nothing to report", isNumber(key):
		return true
	case words[0] == "none", words[0] == "nothing":
		return len(words) <= 2
	case words[0] == "no" || words[0] == "zero" || words[0] == "0":
		return saysNoIssues(words[1:])
	}
	return false
}

func saysNoIssues(words []string) bool {
	nouns := []string{"issue", "finding", "problem", "concern", "warning", "error", "comment", "note", "blocker"}
	for i, w := range words {
		if i > 2 {
			return false
		}
		if slices.Contains(nouns, strings.TrimSuffix(w, "s")) {
			return len(words)-i <= 3
		}
	}
	return false
}

func isNumber(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) && utf8.ValidString(s)
}
