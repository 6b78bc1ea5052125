package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// isPlaced reports whether a line begins with a place and a remark about it: "src/a.ts:12 — never runs".
func isPlaced(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	return rest != "" && strings.Contains(first, ":") && isPathWord(strings.TrimSuffix(first, ":"))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// connectives are words that cannot end a sentence.
var connectives = prose.WordSet(
	`a an the this that and or but of in on at to for from by with is are was were be not no must should need`)

// goesOn reports whether a line cannot be the end of a sentence.
func goesOn(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ",") || connectives.Has(strings.ToLower(line[strings.LastIndexAny(line, " \t")+1:]))
}

func endsInColon(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") || strings.HasSuffix(text, "：")
}

// sentencesOf splits text at line ends and after a stop followed by white space, except in code spans, quotation
// marks and parentheses. Paths, versions and abbreviations contain no such stop.
func sentencesOf(text string) []string {
	var list []string
	for line := range strings.SplitSeq(text, "\n") {
		spans := prose.Spans(line, spanMarks)
		start, depth := 0, 0
		for i, r := range line {
			switch r {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			}
			for len(spans) > 0 && spans[0].To <= i {
				spans = spans[1:]
			}
			end := stopAt(line, i, r)
			if i < start || end == 0 || depth > 0 || len(spans) > 0 && spans[0].From <= i && i < spans[0].To-spans[0].Mark {
				continue
			}
			list = append(list, strings.TrimSpace(line[start:end]))
			start = end
		}
		if rest := strings.TrimSpace(line[start:]); rest != "" {
			list = append(list, rest)
		}
	}
	return list
}

// stopAt returns the end of a sentence whose stop is r, at i; 0 if the sentence does not end there.
func stopAt(line string, i int, r rune) int {
	end := i + utf8.RuneLen(r)
	switch r {
	case '。', '！', '？':
		return end
	case '.', '!', '?', '…', ';':
	default:
		return 0
	}
	end += len(line[end:]) - len(strings.TrimLeft(line[end:], ".!?…*_)\"'”"))
	next := strings.TrimLeft(line[end:], " \t")
	first, _ := utf8.DecodeRuneInString(next)
	if len(next) == len(line[end:]) && next != "" || r == '.' && unicode.IsLower(first) { // "e.g. this"
		return 0
	}
	return end
}

// withoutEmphasis removes emphasis around the whole of text.
func withoutEmphasis(text string) string {
	for _, mark := range []string{"***", "**", "__", "*", "_"} {
		inner, ok := strings.CutPrefix(text, mark)
		if end, closed := strings.CutSuffix(inner, mark); ok && closed && !strings.Contains(end, mark[:1]) {
			text = end
		}
	}
	return text
}

// isPathWord reports whether word names a file.
func isPathWord(word string) bool {
	file, _, _ := strings.Cut(word, ":")
	return place.HasExtension(file) && (strings.Contains(word, "/") || file != word)
}

// clausesIn returns text, and the text after each colon and dash in it, at most about twenty.
func clausesIn(text string) []string {
	list := []string{text}
	for i := range text {
		for _, mark := range []string{": ", ":** ", ":__ ", " — ", " – ", " - ", " → ", ", but ", ", just "} {
			if strings.HasPrefix(text[i:], mark) && len(list) <= 20 {
				list = append(list, text[i+len(mark):])
			}
		}
	}
	return list
}

// clausesOf splits a sentence at commas, colons, dashes, parentheses and stops.
func clausesOf(sentence string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(sentence, " - ", "—"), func(r rune) bool {
		return strings.ContainsRune("—–,:;!.…()", r)
	})
}
