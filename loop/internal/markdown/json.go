package markdown

import (
	"encoding/json"
	"slices"
	"strings"
)

// Span is a JSON object in a text, on the lines [From, To].
type Span struct {
	Data     string
	Valid    bool
	Whole    bool // the text contains nothing else
	Alone    bool // nothing else is on its lines, and they are not in a list
	From, To int
}

// JSON finds the top-level objects in the author's words: in plain text and in fences of JSON
// or of no language. An object inside an array or inside another object is not returned.
func JSON(md Text) []Span {
	text, at := md.jsonText()
	var spans []Span
	for i := 0; i < len(text); {
		if !startsJSON(text[i:]) {
			i++
			continue
		}
		end := i + valueEnd(text[i:])
		if text[i] == '{' {
			span := Span{Data: text[i:end], From: lineAt(at, i), To: lineAt(at, end-1)}
			span.Valid = json.Valid([]byte(span.Data))
			span.Whole = len(span.Data) == len(strings.TrimSpace(text))
			span.Alone = standsAlone(text, i, end) && !md.Lines[span.From].Enclosed
			spans = append(spans, md.fenced(span))
		}
		i = end
	}
	return spans
}

// standsAlone reports whether text[from:to] has its lines for itself, and is not indented like
// code or a part of a list.
func standsAlone(text string, from, to int) bool {
	before := strings.TrimRight(text[:from], " \t")
	after := strings.TrimLeft(text[to:], " \t")
	indent := IndentOf(text[len(before):from])
	return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || after[0] == '\n') && indent < 4
}

// fenced extends a span to the fence around it.
func (md Text) fenced(span Span) Span {
	if md.Lines[span.From].Kind != LineCode {
		return span
	}
	for span.From > 0 && md.Lines[span.From].Kind == LineCode {
		span.From--
	}
	for span.To < len(md.Lines)-1 && md.Lines[span.To].Kind == LineCode {
		span.To++
	}
	span.Alone = md.Lines[span.From].Alone()
	return span
}

// lineAt returns the line of the byte at i; starts are the offsets of the lines.
func lineAt(starts []int, i int) int {
	n, found := slices.BinarySearch(starts, i)
	if !found {
		n--
	}
	return n
}

// jsonText returns the text without quotations, comments, code in other languages and fences
// that contain more than JSON, which are examples. A skipped line becomes an empty one.
// starts are the offsets of the lines.
func (md Text) jsonText() (text string, starts []int) {
	var b strings.Builder
	code := false // in a fence that may contain JSON
	for i, l := range md.Lines {
		if i > 0 && !l.Torn {
			b.WriteByte('\n')
		} else if i > 0 {
			b.WriteByte(' ')
		}
		starts = append(starts, b.Len())
		if l.Kind == LineFence {
			body := strings.TrimPrefix(strings.TrimSpace(md.CodeBelow(i)), "BEGIN_JSON\n")
			code = mayHoldJSON(l.Info) && strings.HasPrefix(body, "{")
		}
		if l.Kind == LineText || l.Kind == LineCode && code {
			b.WriteString(l.Text)
		}
	}
	return strings.TrimRight(b.String(), "\n "), starts
}

// CodeBelow returns the code in the fence that line i opens.
func (md Text) CodeBelow(i int) string {
	var b strings.Builder
	for i++; i < len(md.Lines) && md.Lines[i].Kind == LineCode; i++ {
		b.WriteString(md.Lines[i].Text + "\n")
	}
	return b.String()
}

func mayHoldJSON(info string) bool {
	language, _, _ := strings.Cut(strings.ToLower(info), " ")
	return strings.HasPrefix(language, "json") || language == ""
}

// startsJSON reports whether s begins with an object or array, as opposed to a brace or bracket of prose or code.
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

// valueEnd returns the end of the value at the start of s, well-formed or not; the end of s if
// its brackets are never closed.
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
