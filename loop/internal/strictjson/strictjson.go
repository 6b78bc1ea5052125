// Package strictjson decodes JSON from others. JSON that two readers could understand
// differently is an error.
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

// Decode decodes one JSON value and rejects what encoding/json accepts: keys that differ only
// in case (another reader might use the other one), invalid UTF-8 and bytes after the value.
func Decode(data []byte, v any) error {
	if err := CheckKeys(data, v); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// CheckKeys is Scan, and rejects a key of the outermost object that differs from one of v's
// only in case: encoding/json would accept it, and another reader would not.
func CheckKeys(data []byte, v any) error {
	names, isStruct := namesOf(reflect.TypeOf(v).Elem())
	var odd error
	err := Scan(string(data), func(key, _ string) { odd = cmp.Or(odd, OddKey(key, names)) })
	if err == nil && isStruct && data[0] != '{' { // even if v's own UnmarshalJSON would accept it
		var object map[string]json.RawMessage
		err = json.Unmarshal(data, &object)
	}
	return cmp.Or(err, odd)
}

// OddKey returns an error for a key that differs from one of names only in case.
func OddKey(key string, names []string) error {
	for _, name := range names {
		if key != name && strings.EqualFold(key, name) {
			return fmt.Errorf("key %q is not %q", key, name)
		}
	}
	return nil
}

// known caches the names of decoded types, as encoding/json does.
var known sync.Map // reflect.Type → []string

// namesOf returns the keys that encoding/json uses for the fields of a struct.
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

// Words returns the text of an error for people who wrote the JSON and do not know Go.
func Words(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not JSON: %v, byte %d", err, syntax.Offset)
	case errors.As(err, &kind):
		wanted := map[reflect.Kind]string{reflect.String: "a text", reflect.Slice: "a list", reflect.Int: "a whole number",
			reflect.Struct: "an object"}[kind.Type.Kind()]
		return strings.TrimPrefix(fmt.Sprintf("%s must be %s, not %s", kind.Field, wanted, kind.Value), " ")
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}
