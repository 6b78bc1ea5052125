// Package strictjson decodes JSON that somebody else wrote: what two readers could take for
// different things is an error.
package strictjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// Decode decodes one JSON value and refuses what encoding/json lets pass:
// keys that are equal but for their case (another reader would take the other
// one), invalid UTF-8 and bytes after the value.
func Decode(data []byte, v any) error {
	if err := CheckKeys(data, v); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// CheckKeys is Scan, and refuses a key of the outermost object that is one of v's but
// for its case: encoding/json would take it, and another reader would not.
func CheckKeys(data []byte, v any) error {
	names, isStruct := namesOf(reflect.TypeOf(v).Elem())
	var odd error
	err := Scan(string(data), func(key, _ string) { odd = cmp.Or(odd, OddKey(key, names)) })
	if err == nil && isStruct && data[0] != '{' { // also where v would take something else
		var object map[string]json.RawMessage
		err = json.Unmarshal(data, &object)
	}
	return cmp.Or(err, odd)
}

// OddKey is the error of a key that is one of names but for its case.
func OddKey(key string, names []string) error {
	for _, name := range names {
		if key != name && strings.EqualFold(key, name) {
			return fmt.Errorf("key %q is not %q", key, name)
		}
	}
	return nil
}

// known are the names of the types that were decoded, as encoding/json keeps them too.
var known sync.Map // reflect.Type → []string

// namesOf are the keys that encoding/json takes for the fields of a struct.
func namesOf(t reflect.Type) (names []string, isStruct bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	if names, ok := known.Load(t); ok {
		return names.([]string), true
	}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	known.Store(t, names)
	return names, true
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
