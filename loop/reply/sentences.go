package reply

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
)

// joinWrapped joins lines that are wrapped.
func joinWrapped(lines []string) []string {
	var joined []string
	start := 0
	for i := 1; i <= len(lines); i++ {
		if i < len(lines) && !breaksAfter(lines[i-1], lines[i]) {
			continue
		}
		joined = append(joined, strings.Join(lines[start:i], " "))
		start = i
	}
	return joined
}

// breaksAfter reports whether next, the line below line, begins something new.
func breaksAfter(line, next string) bool {
	ends := strings.ContainsRune(".!?:;。！？", lastRune(strings.TrimRight(line, "*_)\"'` ")))
	return !goesOn(line) && (ends || isLabelled(next) || beginsOrder(next))
}

// beginsOrder: "Add tests", "Then rename it". Within a sentence no verb begins so.
func beginsOrder(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	words := wordsOf(prose.Cut(line, 200))
	return unicode.IsUpper(first) && (hasWord(words[:min(1, len(words))], pleaseWords) || verbAt(words, skipLead(words)))
}

// isLabelled: "coverage: 65%", "src/a.ts:12 — never runs".
func isLabelled(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	if path, ok := strings.CutSuffix(first, ":"); ok {
		return path != "" && rest != ""
	}
	_, number, _ := strings.Cut(first, ":")
	dashed := strings.HasPrefix(rest, "— ") || strings.HasPrefix(rest, "– ") || strings.HasPrefix(rest, "- ")
	return rest != "" && isPathWord(first) && (dashed || number != "" && isNumber(number))
}

// isPlaced reports whether a line begins with a place and says something of it.
func isPlaced(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return isLabelled(line) && isPathWord(strings.TrimSuffix(first, ":"))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// connectives are words after which a sentence goes on.
var connectives = prose.WordSet(`a an the this that these those and or nor but of in on at to for from by with without as than if when that which
	who whose where not no must should need needs have has please is are was were be it its your our their my every each all any some both into like see file files`)

// goesOn reports whether a line cannot be the end of a sentence.
func goesOn(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ",") || connectives.Has(strings.ToLower(line[strings.LastIndexAny(line, " \t")+1:]))
}

func endsInColon(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") || strings.HasSuffix(text, "：")
}

// sentencesOf splits text where a stop is followed by white space, and at line
// ends. What stands in code spans, quotation marks and parentheses is not split;
// neither are paths, versions and abbreviations.
func sentencesOf(text string) []string {
	var list []string
	for line := range strings.SplitSeq(text, "\n") {
		inside := shielded(line)
		start := 0
		for i, r := range line {
			if inside[i] || i < start {
				continue
			}
			if end := stopAt(line, i, r); end > 0 {
				list = append(list, strings.TrimSpace(line[start:end]))
				start = end
			}
		}
		if rest := strings.TrimSpace(line[start:]); rest != "" {
			list = append(list, rest)
		}
	}
	return list
}

// stopAt is where a sentence ends whose stop is r, at i; 0 when it does not end there.
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

// shielded marks the bytes of line that stand in code spans, quotation marks,
// parentheses or the address of a link.
func shielded(line string) []bool {
	inside := make([]bool, len(line))
	for _, s := range prose.Spans(line, spanMarks) {
		fill(inside[s.From : s.To-s.Mark])
	}
	var stack []int
	for i := 0; i < len(line); i++ {
		switch {
		case inside[i]:
		case line[i] == '(':
			stack = append(stack, i)
		case line[i] == ')' && len(stack) > 0:
			if open := stack[len(stack)-1]; len(stack) == 1 {
				fill(inside[open:i])
			}
			stack = stack[:len(stack)-1]
		}
	}
	return inside
}

func fill(b []bool) {
	for i := range b {
		b[i] = true
	}
}

// unshielded are the places [from, to) of marks in text, outside of what shielded marks.
func unshielded(text string, marks ...string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		inside := shielded(text)
		for i := range len(text) {
			for _, mark := range marks {
				if !inside[i] && strings.HasPrefix(text[i:], mark) && !yield(i, i+len(mark)) {
					return
				}
			}
		}
	}
}

// withoutEmphasis takes off text the emphasis that is around the whole of it.
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
	return strings.Contains(word, "/") && place.HasExtension(file) || place.HasExtension(file) && file != word
}

// clausesIn are text, and what stands in it behind each colon and dash, of the first twenty.
func clausesIn(text string) []string {
	list := []string{text}
	for _, to := range unshielded(text, ": ", ":** ", ":__ ", " — ", " – ", " - ", " → ", ", but ", ", just ") {
		if list = append(list, text[to:]); len(list) > 20 {
			break
		}
	}
	return list
}

// clausesOf are the parts of a sentence between commas, colons, dashes and stops.
func clausesOf(sentence string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(sentence, " - ", "—"), func(r rune) bool { return strings.ContainsRune("—–,:;!.…()", r) })
}
