// Package strictjson decodes JSON that somebody else wrote: what two readers could take for
// different things is an error.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Decode decodes one JSON value and refuses what encoding/json lets pass:
// keys that are equal but for their case (another reader would take the other
// one), invalid UTF-8 and bytes after the value.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("invalid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := uniqueKeys(dec, 0); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("bytes after the JSON value")
	}
	if err := CheckKeys(data, v); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// CheckKeys refuses a key of the outermost object that is one of v's but for its
// case: encoding/json would take it, and another reader would not.
func CheckKeys(data []byte, v any) error {
	t := reflect.TypeOf(v).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		for key := range keys {
			if key != name && strings.EqualFold(key, name) {
				return fmt.Errorf("key %q is not %q", key, name)
			}
		}
	}
	return nil
}

// Words are what an error says to those who wrote the JSON and know nothing of Go.
func Words(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return "there is nothing in it"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON has no end"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is no JSON: %v, byte %d", err, syntax.Offset)
	case errors.As(err, &kind):
		wanted := map[reflect.Kind]string{reflect.String: "a text", reflect.Slice: "a list", reflect.Int: "a whole number", reflect.Struct: "an object"}[kind.Type.Kind()]
		return strings.TrimSuffix(fmt.Sprintf("%s is wanted, not %s: %s", wanted, kind.Value, kind.Field), ": ")
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// MaxDepth is far above anything that we write.
const MaxDepth = 64

// uniqueKeys reads one value from dec and checks the keys of every object in it.
func uniqueKeys(dec *json.Decoder, depth int) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	open, isDelim := token.(json.Delim)
	if !isDelim {
		return nil
	}
	if depth > MaxDepth {
		return errors.New("nested too deeply")
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			if err := uniqueKey(dec, seen); err != nil {
				return err
			}
		}
		if err := uniqueKeys(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing delimiter
	return err
}

func uniqueKey(dec *json.Decoder, seen map[string]bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	key := strings.ToLower(strings.ToUpper(fmt.Sprint(token))) // as encoding/json folds: "ſ" is an "s" too
	if seen[key] {
		return fmt.Errorf("duplicate key %q", key)
	}
	seen[key] = true
	return nil
}
