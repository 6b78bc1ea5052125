package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonObject reads the fields of an object by their exact names and keeps the
// first error. encoding/json alone would also take "Success" for "success".
type jsonObject struct {
	fields map[string]json.RawMessage
	asked  []string
	err    error
}

func readObject(data []byte) *jsonObject {
	o := &jsonObject{}
	o.err = decodeStrict(data, &o.fields)
	if o.err == nil && o.fields == nil {
		o.err = errors.New("null is no object")
	}
	return o
}

func (o *jsonObject) raw(key string) json.RawMessage {
	o.asked = append(o.asked, key)
	if raw := o.fields[key]; string(raw) != "null" {
		return raw
	}
	return nil
}

func (o *jsonObject) decode(key string, raw json.RawMessage, v any) {
	if err := json.Unmarshal(raw, v); err != nil && o.err == nil {
		o.err = fmt.Errorf("field %q: %w", key, err)
	}
}

// text is "" for a field that is missing.
func (o *jsonObject) text(key string) string {
	var s string
	if raw := o.raw(key); raw != nil {
		o.decode(key, raw, &s)
	}
	return strings.TrimSpace(s)
}

// truth is a boolean that must be there: "true" in quotes is not true.
func (o *jsonObject) truth(key string) bool {
	var b bool
	raw := o.raw(key)
	if raw == nil && o.err == nil {
		o.err = fmt.Errorf("field %q is missing", key)
		return false
	}
	o.decode(key, raw, &b)
	return b && o.err == nil
}

func (o *jsonObject) list(key string) []json.RawMessage {
	var list []json.RawMessage
	if raw := o.raw(key); raw != nil {
		o.decode(key, raw, &list)
	}
	return list
}

// number is 0 for what is no number from 1: a place does not decide anything.
func (o *jsonObject) number(key string) int {
	s := strings.Trim(string(o.raw(key)), `"`)
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 1 && n < 1<<30 {
		return int(n)
	}
	return 0
}

// done reports the first error, or a field that is one of those asked for but
// for its case.
func (o *jsonObject) done() error {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		for _, asked := range o.asked {
			if o.err == nil && key != asked && strings.EqualFold(key, asked) {
				o.err = fmt.Errorf("field %q should be %q", key, asked)
			}
		}
	}
	return o.err
}

// jsonSpan is an object that stands by itself in a text.
type jsonSpan struct {
	data  string
	valid bool
	whole bool // the text holds nothing else
}

// jsonSpans finds the objects at the top level of what the author says: in plain
// text and in fences of JSON or of no language. One inside an array or inside
// another object is part of that and stands for nothing itself.
func jsonSpans(md mdText) []jsonSpan {
	text := strings.TrimSpace(md.jsonText())
	var spans []jsonSpan
	for i := 0; i < len(text); {
		if !startsJSON(text[i:]) {
			i++
			continue
		}
		end := i + valueEnd(text[i:])
		if text[i] == '{' {
			data := text[i:end]
			spans = append(spans, jsonSpan{data: data, valid: json.Valid([]byte(data)), whole: len(data) == len(text)})
		}
		i = end
	}
	return spans
}

// jsonText leaves out quotations, comments, code in other languages and fences
// that hold more than JSON, which are examples.
func (md mdText) jsonText() string {
	var b strings.Builder
	for i := 0; i < len(md.lines); i++ {
		switch l := md.lines[i]; l.kind {
		case lineText:
			b.WriteString(l.text + "\n")
		case lineFence:
			code := md.codeBelow(i)
			if mayHoldJSON(l.info) && strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(code), "BEGIN_JSON\n"), "{") {
				b.WriteString(code)
			}
			i += strings.Count(code, "\n")
		}
	}
	return b.String()
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
	return strings.HasPrefix(language, "json") || wrapsText(language)
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
