package strictjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the allowed nesting, far above anything that we write.
const MaxDepth = 64

// Scan reads one JSON value, without storing it, and passes the keys of the outermost object,
// unquoted, with their raw values to field, unless it is nil. It rejects what encoding/json
// rejects for an any, keys of one object that differ only in case, invalid UTF-8, bytes after
// the value and more than MaxDepth levels.
func Scan(text string, field func(key, value string)) error {
	_, err := ScanKeys(text, field)
	return err
}

// ScanKeys is Scan, and also reports whether all keys of all objects are plain: without an
// escape, a capital or a letter beyond ASCII. A plain key cannot differ from ours in case only.
func ScanKeys(text string, field func(key, value string)) (plain bool, err error) {
	if !utf8.ValidString(text) {
		return false, errors.New("invalid UTF-8")
	}
	s := scanner{text: text, keys: make([]string, 0, 32)}
	if s.skipSpace(); s.at == len(text) {
		return false, io.EOF
	}
	if err := wellFormed([]byte(text)); err != nil {
		return false, err
	}
	err = s.value(0, field)
	return err == nil && !s.odd, err
}

// wellFormed returns an error for a text that is not one JSON value, io.ErrUnexpectedEOF for one that is cut off.
func wellFormed(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	switch words := err.Error(); {
	case words == "unexpected end of JSON input":
		return io.ErrUnexpectedEOF
	case strings.HasSuffix(words, "after top-level value"):
		return errors.New("bytes after the JSON value")
	}
	return err
}

// scanner is the position in a well-formed text.
type scanner struct {
	text string
	at   int
	keys []string // of the enclosing objects, see plainKey
	odd  bool     // a key that is not plain was read
}

func (s *scanner) skipSpace() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// value reads the value at the position. field receives the keys of an object, unless it is nil.
func (s *scanner) value(depth int, field func(key, value string)) error {
	switch s.text[s.at] {
	case '"':
		s.quoted()
		return nil
	case '{', '[':
		return s.entries(depth, field)
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n,]}", s.text[s.at]) < 0 {
		s.at++
	}
	word := s.text[start:s.at]
	if word == "true" || word == "false" || len(word) <= 300 && !strings.ContainsAny(word, "eE") {
		return nil
	}
	_, err := strconv.ParseFloat(word, 64) // a number that may be too large
	return err
}

// entries reads the object or list at the position.
func (s *scanner) entries(depth int, field func(key, value string)) error {
	if depth > MaxDepth {
		return errors.New("nested too deeply")
	}
	isObject, first := s.text[s.at] == '{', len(s.keys)
	for {
		s.at++ // the bracket or the comma
		if s.skipSpace(); strings.IndexByte("]}", s.text[s.at]) >= 0 {
			break
		}
		key := ""
		if isObject {
			key = s.quoted()
			s.keys = append(s.keys, s.plainKey(key))
			s.skipSpace()
			s.at++ // the colon
			s.skipSpace()
		}
		start := s.at
		if err := s.value(depth+1, nil); err != nil {
			return err
		}
		if isObject && field != nil {
			field(unquoted(key), s.text[start:s.at])
		}
		if s.skipSpace(); s.text[s.at] != ',' {
			break
		}
	}
	s.at++
	keys := s.keys[first:]
	slices.SortFunc(keys, compareKeys)
	for i, key := range keys[min(1, len(keys)):] {
		if compareKeys(key, keys[i]) == 0 {
			return fmt.Errorf("duplicate key %q", key)
		}
	}
	s.keys = s.keys[:first]
	return nil
}

// quoted reads a string, and returns its raw text.
func (s *scanner) quoted() string {
	start := s.at
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.text[start:s.at]
}

// unquoted returns the text of a raw string.
func unquoted(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(quoted), &text) // which is well-formed
	return text
}

// plainKey returns a raw key without escapes, for compareKeys.
func (s *scanner) plainKey(quoted string) string {
	isForeign := func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf }
	isCapital := func(r rune) bool { return r >= 'A' && r <= 'Z' }
	key := quoted[1 : len(quoted)-1]
	foreign := strings.ContainsFunc(key, isForeign)
	s.odd = s.odd || foreign || strings.ContainsFunc(key, isCapital)
	if foreign {
		return strings.ToLower(strings.ToUpper(unquoted(quoted))) // for encoding/json "ſ" is an "s" too
	}
	return key
}

// compareKeys compares without the case of ASCII letters, and allocates nothing.
func compareKeys(a, b string) int {
	for i := range min(len(a), len(b)) {
		if order := cmp.Compare(lower(a[i]), lower(b[i])); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
