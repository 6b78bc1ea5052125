package loop

import (
	"slices"
	"strings"
	"unicode"
)

// requests are what a reviewer asked for: the findings, then what it asked for
// beside them, each once.
func requests(findings []Finding, asked []string) []string {
	list := []string{}
	seen := map[string]bool{}
	add := func(key, text string) {
		if key = requestKey(key); key != "" && !seen[key] {
			seen[key] = true
			list = append(list, text)
		}
	}
	for _, f := range findings {
		text := f.Issue
		if f.File != "" {
			text = f.Place() + ": " + text
		}
		add(text, text)
		seen[requestKey(f.Issue)] = true
	}
	for _, text := range asked {
		add(text, text)
	}
	return list
}

// requestKey is the letters and digits of a request, which is what makes two the same.
func requestKey(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// requestsIn are the list items of md that ask for something, in the order in which they stand.
func requestsIn(md mdText) []string {
	var asked []string
	skipping := 0 // level of the heading whose section asks for nothing
	for i, l := range md.lines {
		if level, title := l.headingOrBold(); level > 0 {
			if skipping == 0 || level <= skipping {
				skipping = 0
				if asksNothing(title) {
					skipping = level
				}
			}
			continue
		}
		indent, item, ok := cutBullet(l.text)
		if l.kind != lineText || skipping > 0 || !ok {
			continue
		}
		if text, asks := askOf(item); asks {
			asked = append(asked, text+md.continued(i+1, indent))
		}
	}
	return asked
}

// asksNothing reports whether the section below title lists what was asked before,
// what is met, or praise.
func asksNothing(title string) bool {
	title = strings.ToLower(title)
	words := []string{"requirement", "what's good", "what’s good", "what is good", "strength", "positive", "previous", "resolved", "addressed", "fixed", "done criteria"}
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(title, w) })
}

// continued are the lines from i that belong to the list item above them, which is
// indented by indent.
func (md mdText) continued(i, indent int) string {
	var b strings.Builder
	for ; i < len(md.lines); i++ {
		l := md.lines[i]
		_, _, isItem := cutBullet(l.text)
		if l.kind != lineText || l.blank() || isItem || indentOf(l.text) <= indent {
			break
		}
		b.WriteString(" " + strings.TrimSpace(l.text))
	}
	return b.String()
}

// sentencesAsking are the sentences of md that ask for something, for answers that are prose.
func sentencesAsking(md mdText) []string {
	var asked []string
	for _, l := range md.lines {
		if level, _ := l.headingOrBold(); l.kind != lineText || level > 0 {
			continue
		}
		for _, sentence := range sentences(l.text) {
			if text, asks := askOf(sentence); asks {
				asked = append(asked, text)
			}
		}
	}
	return asked
}

// sentences splits a line where a stop is followed by white space, and before "but".
func sentences(line string) []string {
	line = strings.ReplaceAll(line, ", but ", "; ")
	var list []string
	start := 0
	for i := 0; i+1 < len(line); i++ {
		if strings.IndexByte(".!?;", line[i]) >= 0 && (line[i+1] == ' ' || line[i+1] == '\t') {
			list = append(list, line[start:i])
			start = i + 1
		}
	}
	list = append(list, strings.TrimRight(strings.TrimSpace(line[start:]), ".!;"))
	return list
}

// askVerbs begin a sentence that asks for something.
var askVerbs = map[string]bool{
	"add": true, "avoid": true, "bump": true, "change": true, "check": true, "clarify": true, "clean": true, "correct": true,
	"cover": true, "create": true, "delete": true, "document": true, "drop": true, "ensure": true, "escape": true, "extract": true,
	"fix": true, "guard": true, "handle": true, "implement": true, "improve": true, "include": true, "increase": true, "make": true,
	"move": true, "provide": true, "reduce": true, "refactor": true, "remove": true, "rename": true, "replace": true, "rerun": true,
	"resolve": true, "restore": true, "revert": true, "rewrite": true, "run": true, "sanitise": true, "sanitize": true,
	"simplify": true, "split": true, "update": true, "use": true, "validate": true, "verify": true, "wrap": true, "write": true,
	"missing": true,
}

// askPhrases make a request of a sentence wherever they stand.
var askPhrases = []string{" please ", " need to ", " needs to ", " must ", " should ", " have to ", " has to "}

// notAsking are phrases with the words of a request that are none.
var notAsking = []string{" no need to ", " not need to ", " nothing needs to ", " not have to ", " should be fine ", " should be ok "}

// askOf reads an item or a sentence: what it asks for, and whether it asks at all.
// A ticked box does not, one that is not ticked does; a template does not.
func askOf(item string) (text string, asks bool) {
	item = strings.TrimSpace(item)
	if f, value := readField(item); f != noField && isPlaceholder(value) {
		return "", false
	}
	lower := strings.ToLower(item)
	if strings.HasPrefix(lower, "[x]") {
		return "", false
	}
	if box, ok := strings.CutPrefix(item, "[ ]"); ok {
		box = strings.TrimSpace(box)
		return box, box != ""
	}
	words := " " + requestKey(item) + " "
	first, _, _ := strings.Cut(words[1:], " ")
	contains := func(phrase string) bool { return strings.Contains(words, phrase) }
	if first == "" || slices.ContainsFunc(notAsking, contains) {
		return "", false
	}
	return item, askVerbs[first] || slices.ContainsFunc(askPhrases, contains)
}
