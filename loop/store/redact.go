package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
)

// redactJSON removes secrets from every string value of one JSON document.
func redactJSON(body []byte, redact func(string) string) ([]byte, error) {
	doc, err := record.DecodeTexts(body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(record.EachText(doc, "", func(text, _ string) string {
		if isID(text) {
			return text
		}
		return redact(text)
	}))
}

// isID reports whether s is an id of ours or of git's. Ids contain no secrets, and skipping them avoids the slow start
// of the secret scanner.
func isID(s string) bool {
	hex := (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
	return hex || record.ValidID(s) || record.ValidID(strings.TrimPrefix(s, "runr/"))
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
