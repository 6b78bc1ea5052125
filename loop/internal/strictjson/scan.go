package strictjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxDepth is the allowed nesting, far above anything that we write.
	MaxDepth = 64

	manyKeys   = 16                             // number of an object's keys that are compared one by one
	safeNumber = 300                            // a number with fewer digits and no exponent cannot be too large
	cutShort   = "unexpected end of JSON input" // the text of encoding/json's error
)

// Scan reads one JSON value in one pass, without storing it, and passes the keys of the
// outermost object, unquoted, with their raw values to field. It rejects what encoding/json
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
	s := scanner{text: text}
	s.skipSpace()
	if s.at == len(text) {
		return false, io.EOF
	}
	if err := s.value(0, field); err != nil {
		return false, err
	}
	if s.skipSpace(); s.at < len(text) {
		return false, errors.New("bytes after the JSON value")
	}
	return !s.odd, nil
}

// scanner is the position in a text, and the keys of the enclosing objects.
type scanner struct {
	text  string
	at    int
	keys  [2 * manyKeys]string
	count int  // number of keys
	odd   bool // a key that is not plain was read
}

func (s *scanner) skipSpace() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next returns the next byte, 0 at the end. A NUL byte is never valid in JSON.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// skip skips c if it is the next byte, and reports whether it was.
func (s *scanner) skip(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// value reads the value that begins at the position. field receives the keys of an object,
// unless it is nil.
func (s *scanner) value(depth int, field func(key, value string)) error {
	switch c := s.next(); {
	case c == '"':
		_, err := s.quoted()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c != '{' && c != '[':
		return s.literal()
	case depth > MaxDepth:
		return errors.New("nested too deeply")
	case c == '[':
		return s.list(depth)
	}
	return s.object(depth, field)
}

func (s *scanner) literal() error {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.at:], word) {
			s.at += len(word)
			return nil
		}
	}
	return s.broken()
}

func (s *scanner) list(depth int) error {
	s.at++
	if s.skipSpace(); s.skip(']') {
		return nil
	}
	for {
		s.skipSpace()
		if err := s.value(depth+1, nil); err != nil {
			return err
		}
		if s.skipSpace(); s.skip(']') {
			return nil
		}
		if !s.skip(',') {
			return s.broken()
		}
	}
}

func (s *scanner) object(depth int, field func(key, value string)) error {
	s.at++
	if s.skipSpace(); s.skip('}') {
		return nil
	}
	keys := keySet{s: s, first: s.count}
	defer func() { s.count = keys.first }()
	for {
		s.skipSpace()
		key, err := s.key(&keys)
		if err != nil {
			return err
		}
		start := s.at
		if err := s.value(depth+1, nil); err != nil {
			return err
		}
		if field != nil {
			field(unquoted(key), s.text[start:s.at])
		}
		if s.skipSpace(); s.skip('}') {
			return nil
		}
		if !s.skip(',') {
			return s.broken()
		}
	}
}

// key reads a key up to its value, and returns its raw text.
func (s *scanner) key(keys *keySet) (string, error) {
	if s.next() != '"' {
		return "", s.broken()
	}
	key, err := s.quoted()
	if err == nil {
		err = keys.add(key)
	}
	if err != nil {
		return "", err
	}
	if s.skipSpace(); !s.skip(':') {
		return "", s.broken()
	}
	s.skipSpace()
	return key, nil
}

// quoted reads a string, and returns its raw text.
func (s *scanner) quoted() (string, error) {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[start:s.at], nil
		case c < ' ':
			return "", s.broken()
		case c == '\\':
			s.at++
			if !s.escape() {
				return "", s.broken()
			}
		}
	}
	return "", s.broken()
}

// escape moves to the last byte of an escape sequence, and reports whether the sequence is valid.
func (s *scanner) escape() bool {
	switch s.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			s.at++
			if c := s.next(); (c < '0' || c > '9') && (c|' ' < 'a' || c|' ' > 'f') {
				return false
			}
		}
		return true
	}
	return false
}

// number reads a number, and rejects one that is too large for a float64.
func (s *scanner) number() error {
	start := s.at
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return s.broken()
	}
	if s.skip('.') && !s.digits() {
		return s.broken()
	}
	exponent := s.skip('e') || s.skip('E')
	if exponent {
		_ = s.skip('+') || s.skip('-')
		if !s.digits() {
			return s.broken()
		}
	}
	if !exponent && s.at-start < safeNumber {
		return nil
	}
	var f float64
	return json.Unmarshal([]byte(s.text[start:s.at]), &f)
}

// digits skips digits, and reports whether there was at least one.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// broken returns encoding/json's error for a text that is invalid at the position.
func (s *scanner) broken() error {
	if s.at >= len(s.text) {
		return io.ErrUnexpectedEOF
	}
	var raw json.RawMessage
	err := json.Unmarshal([]byte(s.text), &raw)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) && syntax.Offset == int64(len(s.text)) &&
		syntax.Error() == cutShort {
		return io.ErrUnexpectedEOF
	}
	return cmp.Or(err, fmt.Errorf("no JSON at byte %d", s.at))
}

// keySet is the keys of one object: a few in the scanner, more in a map.
type keySet struct {
	s     *scanner
	first int // index of its first key in the scanner
	many  map[string]bool
}

// add rejects a key that is in the set already, as encoding/json compares keys: "ſ" is an "s" too.
func (k *keySet) add(quoted string) error {
	s, key, foreign := k.s, quoted[1:len(quoted)-1], false
	for i := range len(key) {
		foreign = foreign || key[i] == '\\' || key[i] >= utf8.RuneSelf
		s.odd = s.odd || foreign || key[i] >= 'A' && key[i] <= 'Z'
	}
	if foreign {
		key = strings.ToLower(strings.ToUpper(unquoted(quoted)))
	}
	few := s.keys[k.first:s.count]
	if slices.ContainsFunc(few, func(known string) bool { return strings.EqualFold(known, key) }) {
		return fmt.Errorf("duplicate key %q", key)
	}
	if s.count < len(s.keys) && len(few) < manyKeys {
		s.keys[s.count] = key
		s.count++
		return nil
	}
	if k.many == nil {
		k.many = map[string]bool{}
	}
	if key = strings.ToLower(key); k.many[key] {
		return fmt.Errorf("duplicate key %q", key)
	}
	k.many[key] = true
	return nil
}

// unquoted returns the text of a raw string.
func unquoted(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(quoted), &text) // it was validated when it was read
	return text
}
