package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
)

// redactJSON removes secrets from every string value of one JSON document.
func redactJSON(body []byte, redact func(string) string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	return json.Marshal(redactValue(doc, redact))
}

// isID reports whether s is an id of ours or of git's. Ids contain no secrets, and skipping them avoids the slow start
// of the secret scanner.
func isID(s string) bool {
	hex := (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
	return hex || record.ValidID(s) || record.ValidID(strings.TrimPrefix(s, "runr/"))
}

func redactValue(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		if isID(v) {
			return v
		}
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redactValue(v[i], redact)
		}
	case map[string]any:
		for k := range v {
			v[k] = redactValue(v[k], redact)
		}
	}
	return v
}

// redacted returns free text as it will be recorded.
func (s *Store) redacted(text string) string {
	if s.Redact != nil {
		text = s.Redact(text)
	}
	if masked := s.masked.Load(); masked != nil {
		text = masked.Replace(text)
	}
	return text
}

func (s *Store) redacts() bool { return s.Redact != nil || s.masked.Load() != nil }

// Mask redacts texts from now on wherever they occur in a record. They were copied from the user's files.
func (s *Store) Mask(texts []string) {
	if len(texts) == 0 {
		return
	}
	pairs := []string{}
	for _, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, text, "[redacted:copied]")
	}
	s.masked.Store(strings.NewReplacer(pairs...))
}
