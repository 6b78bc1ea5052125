package reply

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// SeverityWords are the words for a severity, written without gaps. What must be fixed
// before the change may go in is critical, as is P0. P1 is a warning; P2 and below are notes,
// as codex defines them. The worst level of incident scales is SEV1 or SEV0.
var SeverityWords = map[string]Severity{
	"critical": Critical, "blocker": Critical, "blocking": Critical, "severe": Critical, "fatal": Critical, "严重": Critical,
	"重大": Critical, "致命的": Critical, "kritisch": Critical, "crítico": Critical, "crítica": Critical, "critique": Critical,
	"mustfix": Critical, "p0": Critical, "sev0": Critical, "sev1": Critical,
	"warning": Warning, "警告": Warning, "warnung": Warning, "advertencia": Warning, "avertissement": Warning,
	"warn": Warning, "error": Warning, "high": Warning, "major": Warning, "medium": Warning, "shouldfix": Warning,
	"todo":     Warning,
	"moderate": Warning, "important": Warning, "techdebt": Warning, "p1": Warning, "sev2": Warning,
	"note": Note, "low": Note, "minor": Note, "info": Note, "informational": Note, "nit": Note, "nitpick": Note,
	"nicetohave": Note,
	"trivial":    Note, "suggestion": Note, "skippable": Note, "nonblocking": Note, "p2": Note, "p3": Note, "p4": Note,
	"sev3": Note, "sev4": Note, "sev5": Note,
}

// markNouns may accompany such a word: "High severity", "Critical security issues".
var markNouns = prose.WordSet(
	`sev severity priority issue finding problem bug item concern comment risk badge potential security`)

// asideWords are severity words that often label a mere remark: outside a section of
// findings they do not count.
var asideWords = prose.WordSet(`note info informational suggestion`)

// severityMark is a severity label on a text: "Critical", "**HIGH**", "P1", "issue
// (blocking)".
type severityMark struct {
	severity Severity
	word     string // the severity word, in lower case and singular
	count    int    // "Critical issues (2)"; 0: no count
}

// maxMark is the longest text that can be a mark, in bytes.
const maxMark = 80

// readMark reads a text that is a severity mark and nothing else.
func readMark(text string) (m severityMark, ok bool) {
	if len(text) > maxMark {
		return severityMark{}, false
	}
	label, remark, _ := strings.Cut(text, "(")
	m, ok = readLabel(label)
	if !ok {
		return severityMark{}, false
	}
	remark, rest, _ := strings.Cut(remark, ")")
	if strings.ContainsFunc(rest, unicode.IsLetter) {
		return severityMark{}, false
	}
	for part := range strings.SplitSeq(remark, ",") {
		decoration, known := readLabel(part)
		switch {
		case isNumber(strings.TrimSpace(part)) && remark != "":
			m.count = markdown.Number(strings.TrimSpace(part))
		case !known || decoration.word == "":
		case m.word == "", decoration.severity == Critical, decoration.word == "nonblocking" && m.severity != Critical:
			m.severity, m.word = decoration.severity, decoration.word
		}
	}
	if m.word == "" && remark != "" && markdown.TitleIs(markdown.TrimDecor(label), "issue") {
		m.severity, m.word = Warning, "issue" // "issue (security)"
	}
	return m, m.word != ""
}

// readLabel reads the words of a mark. If they are nouns only, word is empty.
func readLabel(text string) (m severityMark, ok bool) {
	words := prose.Words(strings.ReplaceAll(strings.ToLower(htmlTag().ReplaceAllString(text, " ")), "severity", "sev"))
	for i := 0; i < len(words); {
		n, word := severityAt(words[i:])
		if n == 0 && !markNouns.Has(strings.TrimSuffix(words[i], "s")) {
			return severityMark{}, false
		}
		if severity := SeverityWords[word]; n > 0 && (m.word == "" || SeverityRank(severity) < SeverityRank(m.severity)) {
			m.severity, m.word = severity, word
		}
		i += max(n, 1)
	}
	return m, len(words) > 0
}

var htmlTag = lazyre.Compile(`<[^>]*>`)

// tallyWords may occur in a line that counts findings.
var tallyWords = prose.WordSet(`found total and`)

// criticalTally reads a line that only counts findings, with numbers before or after the
// severities, and returns the number of critical ones.
func criticalTally(item string) (critical int, ok bool) {
	for sign, severity := range severitySigns {
		item = strings.ReplaceAll(item, string(sign), " "+string(severity)+" ")
	}
	words := prose.Words(prose.Cut(item, 4*maxMark))
	if len(item) > 4*maxMark || !slices.ContainsFunc(words, func(w string) bool { return w[0] <= '9' && isNumber(w) }) {
		return 0, false
	}
	number, severity, behind, counted := -1, Severity(""), false, false
	for i := 0; i < len(words); {
		n, word := severityAt(words[i:])
		switch {
		case n > 0:
			severity, counted = SeverityWords[word], true
			if behind = behind || number < 0; !behind && severity == Critical {
				critical += number
			}
		case isNumber(words[i]):
			if number = markdown.Number(words[i]); behind && severity == Critical {
				critical += number
			}
		case !tallyWords.Has(words[i]) && !markNouns.Has(strings.TrimSuffix(words[i], "s")):
			return 0, false
		}
		i += max(n, 1)
	}
	return critical, counted
}

// severityAt returns the severity word at the start of words, and how many words it spans.
func severityAt(words []string) (n int, word string) {
	for n := min(3, len(words)); n > 0; n-- {
		word := strings.Join(words[:n], "")
		for _, w := range []string{word, strings.TrimSuffix(word, "s")} {
			if _, ok := SeverityWords[w]; ok {
				return n, w
			}
		}
	}
	return 0, ""
}

// aloneMark reads a line that is a severity mark only and is decorated as one: in bold, with
// an emoji, a picture or a colon. Of several labels between bars, as bots write them, the
// worst counts.
func aloneMark(item string) (m severityMark, ok bool) {
	s := withoutPictures(item)
	if m, ok := readMark(s); ok {
		trimmed := strings.TrimSpace(s)
		return m, trimmed != markdown.TrimDecor(trimmed) || strings.HasSuffix(trimmed, ":") || strings.HasPrefix(trimmed, "[")
	}
	parts := strings.Split(s, " | ")
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if len(parts) < 2 || len(part) > maxMark || part == markdown.TrimDecor(part) {
			return severityMark{}, false
		}
		if other, named := readMark(part); named && (!ok || SeverityRank(other.severity) < SeverityRank(m.severity)) {
			m, ok = other, true
		}
	}
	return m, ok
}

// cutNumber cuts the number of a finding off an item: "Finding 1: ", "#1 ", "C1. ".
func cutNumber(item string) (rest string, ok bool) {
	s := strings.TrimLeftFunc(item, markdown.IsDecor)
	word, after, _ := strings.Cut(prose.Cut(s, maxMark), " ")
	named := faultNouns.Has(strings.ToLower(word))
	if named {
		word, _, _ = strings.Cut(after, " ")
	}
	label := strings.TrimLeft(strings.TrimRight(word, ".:)"), "#")
	digits := strings.TrimLeft(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	_, isMark := SeverityWords[strings.ToLower(label)]
	if digits == "" || !isNumber(digits) || len(label) > 4 || isMark || word == digits && !named {
		return item, false
	}
	return trimSeparator(s[strings.Index(s, word)+len(word):]), true
}

// cutMark cuts the severity mark off an item: at its start, after the place at its start, or
// at its end.
func cutMark(item string) (m severityMark, rest string, ok bool) {
	box, s := cutBox(withoutPictures(item))
	if box == doneTick {
		return severityMark{}, "", false
	}
	s, numbered := cutNumber(s)
	if m, rest, ok := leadingMark(s); ok {
		return m, rest, true
	}
	if p, after := place.Cut(s); p.Line > 0 {
		if m, rest, ok := leadingMark(after); ok {
			return m, p.String() + " " + rest, true
		}
	}
	if m, rest, ok := endingMark(s); ok && (numbered || saysFault(rest)) {
		return m, rest, true
	}
	return severityMark{}, "", false
}

// cutSign cuts a severity emoji off the start of an item.
func cutSign(item string) (m severityMark, rest string, ok bool) {
	box, s := cutBox(withoutPictures(item))
	s, _ = cutNumber(s)
	s = strings.TrimLeftFunc(s, func(r rune) bool { return isLoose(r) || strings.ContainsRune("*_", r) })
	sign, n := utf8.DecodeRuneInString(s)
	severity, known := severitySigns[sign]
	if !known || box == doneTick || severity == Note {
		return severityMark{}, "", false
	}
	rest = strings.TrimLeftFunc(s[n:], isLoose)
	return severityMark{severity: severity, word: string(sign)}, rest,
		len(wordsOf(rest)) > 0 && !strings.HasPrefix(rest, "=")
}

// saysFault reports whether text names a place or a fault, and is not merely a title.
func saysFault(text string) bool { return namesPlace(text) || hasFault(wordsOf(text)) }

// severitySigns are the emoji that agents use for a severity. Those for a note often mean
// that all is well, so they are read only where findings are counted.
var severitySigns = map[rune]Severity{'🔴': Critical, '🛑': Critical, '🚨': Critical, '🟠': Warning, '🟡': Warning,
	'🟢': Note, '🔵': Note, '⚪': Note}

// leadingMark reads "[HIGH] text", "(critical) text", "**Critical:** text",
// "**HIGH** - text", "`critical` text", "Critical — text", "issue (blocking): text", "CRITICAL a.go:1 text".
func leadingMark(item string) (m severityMark, rest string, ok bool) {
	s := strings.TrimLeftFunc(item, markdown.IsDecor)
	emphasis := item[:len(item)-len(s)]
	for _, pair := range [][2]string{{"[", "]"}, {"(", ")"}, {"【", "】"}} {
		inner, opened := strings.CutPrefix(prose.Cut(s, maxMark+6), pair[0])
		if inner, _, closed := strings.Cut(inner, pair[1]); opened && closed {
			first, _, _ := strings.Cut(inner, ",")
			m, ok := readMark(first)
			return m, trimSeparator(s[len(pair[0]+inner+pair[1]):]), ok
		}
	}
	head := prose.Cut(s, maxMark)
	for _, sep := range []string{":", "：", "**", "__", " - ", " – ", " — ", "—", " | ", "*", "_", "`"} {
		label, after, found := strings.Cut(head, sep)
		closes := strings.Trim(sep, "*_`") == ""
		if !found || closes && !(strings.Contains(emphasis, sep) && (len(sep) > 1 || tagsLine(label, after))) {
			continue
		}
		if m, ok := readMark(label); ok {
			return m, trimSeparator(s[len(label)+len(sep):]), true
		}
	}
	word := head[:len(head)-len(strings.TrimLeftFunc(head, unicode.IsLetter))]
	capitals := len(word) > 2 && word == strings.ToUpper(word)
	if m, ok := readMark(word); ok && (capitals || strings.IndexAny(head, ",;!") == len(word)) && namesPlace(head) {
		return m, trimSeparator(strings.TrimLeft(s[len(word):], ",;!`")), true
	}
	return severityMark{}, "", false
}

// codeWords are severity words that are common in code. aboutWords follow a severity word
// that is part of a sentence: "`high` and `low` are swapped", "*critical* path".
var (
	codeWords  = prose.WordSet(`error errors warning warnings warn fatal blocking note notes info todo suggestion`)
	aboutWords = prose.WordSet(
		`and or is are was were has have be been as in to for of level levels severity field flag parameter path paths section sections`)
)

// tagsLine reports whether a code span or italic word at the start of a line labels the rest,
// and is neither a name in the code nor part of a sentence.
func tagsLine(span, after string) bool {
	named := strings.ContainsFunc(span, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && r != '-'
	})
	words := wordsOf(after)
	defined := strings.HasPrefix(strings.TrimSpace(after), "=")
	return !named && !defined && !codeWords.Has(strings.ToLower(span)) && len(words) > 0 && !aboutWords.Has(words[0])
}

// endingMark reads "text [critical]", "text (Severity: High)", "text — Critical".
func endingMark(item string) (m severityMark, rest string, ok bool) {
	s := strings.TrimRightFunc(item, func(r rune) bool { return markdown.IsDecor(r) || r == '.' })
	tail := s[len(prose.Cut(s, max(0, len(s)-maxMark))):]
	for _, sep := range []string{"[", "(", " — ", " – ", " - "} {
		at := strings.LastIndex(tail, sep)
		if at < 0 {
			continue
		}
		label := strings.TrimRight(tail[at+len(sep):], "])")
		if m, ok := readMark(label); ok {
			return m, strings.TrimRight(s[:len(s)-len(tail)+at], " "), true
		}
	}
	return severityMark{}, "", false
}

// markIn reads the value of a severity field with further text: "Critical — text", "text
// (critical)".
func markIn(value string) (m severityMark, issue string, ok bool) {
	if m, issue, ok = leadingMark(value); ok {
		return m, issue, true
	}
	m, issue, ok = endingMark(value)
	return m, issue, ok && !isNone(issue)
}

// toldByTag matches the HTML attributes that are read: `<img alt="High">`, `<finding severity='critical'>`.
var toldByTag = lazyre.Compile(`\b(?:alt|severity)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// withoutPictures replaces pictures at the start of an item, in HTML or Markdown, by their
// alternative text in brackets, and drops the tags beside them.
func withoutPictures(item string) string {
	s := strings.TrimLeftFunc(item, markdown.IsDecor)
	var words string
	for range 8 {
		end := strings.IndexByte(prose.Cut(s, 400), '>')
		switch alt, _, picture := place.CutLink(strings.TrimPrefix(prose.Cut(s, 400), "!")); {
		case strings.HasPrefix(s, "![") && picture:
			words += "[" + alt + "] "
			s = s[strings.IndexByte(s, ')')+1:]
		case strings.HasPrefix(s, "<") && end > 0:
			for _, told := range toldByTag().FindAllStringSubmatch(s[:end], -1) {
				words += "[" + told[1] + told[2] + "] "
			}
			s = s[end+1:]
			if at := strings.LastIndex(s, "</"); at >= 0 && strings.HasSuffix(s, ">") {
				s = s[:at]
			}
		case words == "":
			return item
		default:
			return words + s
		}
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	return item
}

// namesPlace reports whether text names a file, a line of a file, or an identifier in
// backticks.
func namesPlace(text string) bool {
	return strings.Contains(text, "`") || slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		file, _, _ := strings.Cut(strings.Trim(word, "*_\"'()[],;:."), ":")
		return place.HasExtension(file) && strings.ContainsFunc(path.Ext(file), unicode.IsLetter)
	})
}

func trimSeparator(s string) string {
	s = strings.TrimLeft(s, " \t*_:：—–-|")
	if _, after, closed := strings.Cut(s, ">"); closed && strings.HasPrefix(s, "</") {
		return trimSeparator(after)
	}
	return strings.TrimSpace(s)
}

// legendWords say how a fault is handled, without describing one.
var legendWords = prose.WordSet(
	`a an the it its this that they these is are be to for of in on at by as with and or not no must should may can could will might need needs
	have has fix fixed fixes fixing resolve resolved address addressed block blocks blocking stop stops prevent prevents hold holds merge merged merging release released
	releases ship shipping shipped commit commits land landing deploy deployed before after until first when if later next soon now immediately possible required optional
	nice worth saying noting consider considered considering ignore ignored wait waits only cosmetic style stylistic informational information issue issues problem problems
	finding findings change changes severity priority means action wanted review reviewer reviewers author`)

// defines reports whether text, after a severity, only explains what that severity means for
// the change.
func defines(text string) bool {
	words := wordsOf(text)
	for i := 0; i < len(words); {
		n, _ := severityAt(words[i:])
		if n == 0 && !legendWords.Has(words[i]) {
			return false
		}
		i += max(n, 1)
	}
	return !namesPlace(text)
}

// keyWords are words in the title of a legend.
var keyWords = prose.WordSet(
	`key legend scale level levels guide definition definitions meaning meanings rubric rating ratings classification`)

// isKeyTitle reports whether a line is the title of a legend: "Severity levels:", "Legend".
func isKeyTitle(text string) bool {
	words := wordsOf(text)
	isFault := func(w string) bool { return faultNouns.Has(strings.TrimSuffix(w, "s")) }
	if len(words) > 6 || slices.ContainsFunc(words, isFault) {
		return false
	}
	keys := 0
	about := false
	for _, w := range words {
		about = about || strings.HasPrefix(w, "severit") || strings.HasPrefix(w, "priorit")
		if keyWords.Has(w) {
			keys++
		}
	}
	return keys > 0 && (about || len(words) == 1) || keys > 1
}

// readSeverity reads the value of a severity field: "Critical (must fix — blocks commit)",
// "**HIGH**", "P1", "token logged (critical)". Of several ("Low/Medium") the worst counts.
// An unknown one counts as a warning.
func readSeverity(value string) (severity Severity, known bool) {
	if named := severitiesIn(value); len(named) > 0 {
		return slices.MinFunc(named, func(a, b Severity) int { return SeverityRank(a) - SeverityRank(b) }), true
	}
	if m, _, ok := markIn(value); ok {
		return m.severity, true
	}
	return Warning, false
}

// severitiesIn returns the severities that value begins with or lists as alternatives.
func severitiesIn(value string) []Severity {
	var named []Severity
	for _, part := range alternatives(value) {
		part = strings.TrimLeftFunc(part, func(r rune) bool { return markdown.IsDecor(r) || r == '[' || r == '(' })
		rest := strings.TrimLeftFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' })
		m, ok := readMark(strings.TrimSuffix(part, rest))
		if !ok {
			m, ok = readMark(part)
		}
		if ok {
			named = append(named, m.severity)
		}
	}
	return named
}

// severityOf is readSeverity with a logged warning for an unknown value.
func severityOf(value string, log *markdown.Warnings) Severity {
	severity, known := readSeverity(value)
	if !known {
		log.Add(fmt.Sprintf("severity %q is not known: taken as a warning", prose.Cut(value, 80)))
	}
	return severity
}
