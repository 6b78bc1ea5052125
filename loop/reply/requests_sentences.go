package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinWrapped joins lines that are wrapped. Below a lead-in a line is an item of
// its own unless the one above it plainly goes on.
func joinWrapped(lines []string, items bool) []string {
	var joined []string
	start := 0
	for i := 1; i <= len(lines); i++ {
		if i < len(lines) && !(items && endsItem(lines[i-1], lines[i])) && !breaksAfter(lines[i-1], lines[i]) {
			continue
		}
		joined = append(joined, strings.Join(lines[start:i], " "))
		start = i
	}
	return joined
}

// endsItem reports whether next is no continuation of a line that is an item.
func endsItem(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(next)
	wrapped := len(line) >= 60 && unicode.IsLower(first)
	return !wrapped && !goesOn(line)
}

// breaksAfter reports whether next, the line below line, begins something new.
func breaksAfter(line, next string) bool {
	switch {
	case goesOn(line):
		return false
	case strings.ContainsRune(".!?:;。！？", lastRune(strings.TrimRight(line, "*_)\"'` "))):
		return true
	}
	if isLabelled(next) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(next)
	return beginsAsking(next) && (unicode.IsUpper(first) || beginsAsking(line))
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
var connectives = tableOf(`a an the this that these those and or nor but of in on at to for from by with without as than if when that which
	who whose where not no must should need needs have has please is are was were be it its your our their my every each all any some both into like see file files`)

// goesOn reports whether a line cannot be the end of a sentence.
func goesOn(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ",") || connectives.has(strings.ToLower(line[strings.LastIndexAny(line, " \t")+1:]))
}

func endsInColon(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") || strings.HasSuffix(text, "：")
}

// abbreviations do not end a sentence, although a full stop follows them.
var abbreviations = tableOf(`e.g i.e eg ie cf vs resp approx incl excl viz al fig sec ch pp ca mr mrs ms dr st z.b d.h bzw u.a usw ggf vgl ex`)

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
			if end := stopAt(line, start, i, r); end > 0 {
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
func stopAt(line string, start, i int, r rune) int {
	end := i + utf8.RuneLen(r)
	switch r {
	case '。', '！', '？':
		return end
	case '.', '!', '?', '…':
	default:
		return 0
	}
	end += len(line[end:]) - len(strings.TrimLeft(line[end:], ".!?…*_)\"'”"))
	next := strings.TrimLeft(line[end:], " \t")
	if len(next) == len(line[end:]) && next != "" || r == '.' && isAbbreviated(line[start:i], next) {
		return 0
	}
	return end
}

// isAbbreviated reports whether the last word of text is one that a full stop
// shortens, before what comes next.
func isAbbreviated(text, next string) bool {
	word := strings.ToLower(strings.TrimLeft(text[strings.LastIndexAny(text, " \t")+1:], "(\"'*_"))
	first, _ := utf8.DecodeRuneInString(next)
	switch word {
	case "etc":
		return unicode.IsLower(first)
	case "no", "nr", "v", "p":
		return unicode.IsDigit(first)
	case "e", "i", "z", "d", "u":
		return len(next) > 1 && next[1] == '.' // "e. g."
	}
	return abbreviations.has(word)
}

// shielded marks the bytes of line that stand in code spans, quotation marks,
// parentheses or the address of a link.
func shielded(line string) []bool {
	inside := make([]bool, len(line))
	for _, mark := range []string{"`", "\""} {
		for from := 0; ; {
			open := strings.Index(line[from:], mark)
			if open < 0 {
				break
			}
			open += from
			length := strings.Index(line[open+1:], mark)
			if length < 0 {
				break
			}
			fill(inside[open : open+1+length])
			from = open + length + 2
		}
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

// parts splits a sentence before "but" and "just" and at semicolons.
func parts(sentence string) []string {
	inside := shielded(sentence)
	var list []string
	start := 0
	for i := range len(sentence) {
		if inside[i] || i < start {
			continue
		}
		for _, mark := range []string{", but ", ", just ", "; ", "；"} {
			if strings.HasPrefix(sentence[i:], mark) {
				list = append(list, sentence[start:i])
				start = i + len(mark)
			}
		}
	}
	return append(list, sentence[start:])
}
