package reply

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
)

// jsonObject reads the fields of an object by their exact names and keeps the first error.
// encoding/json alone would also accept "Success" for "success".
type jsonObject struct {
	fields map[string]json.RawMessage
	asked  []string
	err    error
}

func readObject(data []byte) *jsonObject {
	o := &jsonObject{}
	o.err = strictjson.Decode(data, &o.fields)
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

// object returns a field's object, an empty one if it is missing.
func (o *jsonObject) object(key string) *jsonObject {
	if raw := o.raw(key); raw != nil {
		return readObject(raw)
	}
	return &jsonObject{}
}

func (o *jsonObject) decode(key string, raw json.RawMessage, v any) {
	if err := json.Unmarshal(raw, v); err != nil && o.err == nil {
		o.err = fmt.Errorf("field %q: %w", key, err)
	}
}

// text returns a field's text, "" if it is missing.
func (o *jsonObject) text(key string) string {
	var s string
	if raw := o.raw(key); raw != nil {
		o.decode(key, raw, &s)
	}
	return strings.TrimSpace(s)
}

// first returns the first text that is not empty among keys.
func (o *jsonObject) first(keys ...string) string {
	found := ""
	for _, key := range keys {
		found = cmp.Or(found, o.text(key))
	}
	return found
}

// stated reads a verdict in words of a program; only one of passing passes, and a word that is not known refuses.
func (o *jsonObject) stated(key, passing, refusing string, log *markdown.Warnings) Verdict {
	switch word := strings.ToLower(o.text(key)); {
	case slices.Contains(strings.Split(passing, ", "), word):
		return Pass
	case !slices.Contains(strings.Split(refusing, ", "), word):
		log.Add(fmt.Sprintf("%s %q is not known: taken as NEEDS_FIX", key, prose.Cut(word, 80)))
	}
	return NeedsFix
}

// truth returns a required boolean: "true" in quotes is an error.
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

// findings reads each element of a list; the error names what could not be read.
func (o *jsonObject) findings(key, what string, read func([]byte, *markdown.Warnings) (Finding, error),
	log *markdown.Warnings) []Finding {
	var findings []Finding
	for _, raw := range o.list(key) {
		f, err := read(raw, log)
		if err != nil {
			o.err = fmt.Errorf("read %s: %w", what, err)
			break
		}
		findings = append(findings, f)
	}
	return findings
}

// number returns a number from 1; otherwise 0, because a place does not affect the verdict.
func (o *jsonObject) number(key string) int {
	s := strings.Trim(string(o.raw(key)), `"`)
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 1 && n < 1<<30 {
		return int(n)
	}
	return 0
}

// report returns r and the object's error. A field that no reader asked for and that has words stays with a pass as a
// note. A text without a space, such as "low" or a file's name, is no remark.
func (o *jsonObject) report(r Report) (Report, error) {
	if !r.Verdict.Passed() {
		return r, o.done()
	}
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		value := strings.TrimSpace(string(o.fields[key]))
		var compact bytes.Buffer
		remark := json.Compact(&compact, o.fields[key]) == nil && bytes.ContainsRune(compact.Bytes(), ' ')
		if !slices.Contains(o.asked, key) && remark && !isNone(value) {
			r.Findings = append(r.Findings, Finding{Severity: Note, Issue: prose.Cut(key+": "+value, maxSummary)})
		}
	}
	return r, o.done()
}

// done returns the first error, or an error for a field that differs from a requested one
// only in case.
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
