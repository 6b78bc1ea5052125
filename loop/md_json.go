package loop

import (
	"encoding/json"
	"slices"
	"strings"
)

// jsonSpan is an object that stands by itself in a text, on the lines [from, to].
type jsonSpan struct {
	data     string
	valid    bool
	whole    bool // the text holds nothing else
	alone    bool // nothing else stands on its lines, and they are in no list
	from, to int
}

// jsonSpans finds the objects at the top level of what the author says: in plain
// text and in fences of JSON or of no language. One inside an array or inside
// another object is part of that and stands for nothing itself.
func jsonSpans(md mdText) []jsonSpan {
	text, at := md.jsonText()
	var spans []jsonSpan
	for i := 0; i < len(text); {
		if !startsJSON(text[i:]) {
			i++
			continue
		}
		end := i + valueEnd(text[i:])
		if text[i] == '{' {
			span := jsonSpan{data: text[i:end], from: lineAt(at, i), to: lineAt(at, end-1)}
			span.valid = json.Valid([]byte(span.data))
			span.whole = len(span.data) == len(strings.TrimSpace(text))
			span.alone = standsAlone(text, i, end)
			spans = append(spans, md.fenced(span))
		}
		i = end
	}
	return spans
}

// standsAlone reports whether nothing stands on the lines of text[from:to] beside
// it, and it is not indented as code or as a part of a list is.
func standsAlone(text string, from, to int) bool {
	before := strings.TrimRight(text[:from], " \t")
	after := strings.TrimLeft(text[to:], " \t")
	indent := indentOf(text[len(before):from])
	return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || after[0] == '\n') && indent < 4
}

// fenced widens a span to the fence that it stands in.
func (md mdText) fenced(span jsonSpan) jsonSpan {
	if md.lines[span.from].kind != lineCode {
		return span
	}
	for span.from > 0 && md.lines[span.from].kind == lineCode {
		span.from--
	}
	for span.to < len(md.lines)-1 && md.lines[span.to].kind == lineCode {
		span.to++
	}
	_, _, listed := cutBullet(md.lines[span.from].text)
	span.alone = !listed && indentOf(md.lines[span.from].text) < 2
	return span
}

// lineAt is the line of the byte at i, where starts are those of the lines.
func lineAt(starts []int, i int) int {
	n, found := slices.BinarySearch(starts, i)
	if !found {
		n--
	}
	return n
}

// jsonText leaves out quotations, comments, code in other languages and fences
// that hold more than JSON, which are examples. It has an empty line for each line
// left out; starts says where the lines begin.
func (md mdText) jsonText() (text string, starts []int) {
	var b strings.Builder
	code := false // within a fence that may hold JSON
	for i, l := range md.lines {
		starts = append(starts, b.Len())
		if l.kind == lineFence {
			body := strings.TrimPrefix(strings.TrimSpace(md.codeBelow(i)), "BEGIN_JSON\n")
			code = mayHoldJSON(l.info) && strings.HasPrefix(body, "{")
		}
		if l.kind == lineText || l.kind == lineCode && code {
			b.WriteString(l.text)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n "), starts
}

// codeBelow is the code in the fence that line i opens.
func (md mdText) codeBelow(i int) string {
	var b strings.Builder
	for i++; i < len(md.lines) && md.lines[i].kind == lineCode; i++ {
		b.WriteString(md.lines[i].text + "\n")
	}
	return b.String()
}

func mayHoldJSON(info string) bool {
	language, _, _ := strings.Cut(strings.ToLower(info), " ")
	return strings.HasPrefix(language, "json") || language == ""
}

// startsJSON tells an object or array from the braces and brackets of prose and code.
func startsJSON(s string) bool {
	if s[0] != '{' && s[0] != '[' {
		return false
	}
	next := strings.TrimLeft(s[1:], " \t\n")
	if next == "" {
		return false
	}
	if s[0] == '{' {
		return next[0] == '"' || next[0] == '}'
	}
	return strings.ContainsRune(`{["`, rune(next[0])) || (next[0] >= '0' && next[0] <= '9')
}

// valueEnd is where the value at the start of s ends, well-formed or not; the end
// of s when its brackets are never closed.
func valueEnd(s string) int {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
