package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// mergeTOML appends the server's table to a file, whose other bytes stay as they are.
func mergeTOML(data []byte, t Tool) ([]byte, error) {
	before, err := readTOML(data)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if servers, ok := before[t.keys[0]].(map[string]any); ok && servers[t.keys[1]] != nil {
		if holds(servers[t.keys[1]], asPlain(t.server)) {
			return nil, errRegistered
		}
		return nil, errOtherServer
	}
	if before[t.keys[0]] != nil && !hasTable(data, t.keys[0]) {
		return nil, fmt.Errorf("%q is no table of its own there", t.keys[0]) // an inline one takes no more
	}
	var table bytes.Buffer
	enc := toml.NewEncoder(&table)
	enc.Indent = ""
	if err := enc.Encode(map[string]any{t.keys[0]: map[string]any{t.keys[1]: t.server}}); err != nil {
		return nil, err
	}
	_, body, _ := strings.Cut(table.String(), "["+strings.Join(t.keys[:], ".")+"]")
	merged := bytes.Clone(bytes.TrimRight(data, "\n"))
	if len(merged) > 0 {
		merged = append(merged, "\n\n"...)
	}
	merged = append(merged, "["+strings.Join(t.keys[:], ".")+"]"+body...)
	after, err := readTOML(merged)
	if err != nil || !onlyAdded(before, after, t) {
		return nil, errors.New("it does not take another table")
	}
	return merged, nil
}

// hasTable reports whether a line opens the table called name, or one below it.
func hasTable(data []byte, name string) bool {
	for line := range bytes.Lines(data) {
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("["+name))
		if ok && len(rest) > 0 && (rest[0] == ']' || rest[0] == '.') {
			return true
		}
	}
	return false
}

func readTOML(data []byte) (map[string]any, error) {
	var v map[string]any
	err := toml.Unmarshal(data, &v)
	return v, err
}

// mergeJSON puts the server into a file's object, whose other bytes stay as they are.
func mergeJSON(data []byte, t Tool) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	before, err := readJSON(data)
	if err != nil {
		return nil, fmt.Errorf("it is not plain JSON: %w", err)
	}
	at, err := objectAt(data, bytes.IndexByte(data, '{'))
	if err != nil {
		return nil, err
	}
	var value any = map[string]any{t.keys[1]: t.server}
	key, unit := t.keys[0], indentOf(at.lead(data))
	if m, ok := at.member(t.keys[0]); ok {
		if at, err = objectAt(data, m.start); err != nil {
			return nil, fmt.Errorf("%q: %w", t.keys[0], err)
		}
		if m, ok := at.member(t.keys[1]); ok {
			var have any
			if json.Unmarshal(data[m.start:m.end], &have) == nil && holds(have, asPlain(t.server)) {
				return nil, errRegistered
			}
			return nil, errOtherServer
		}
		key, value = t.keys[1], t.server
	}
	merged, err := at.insert(data, key, value, unit)
	if err != nil {
		return nil, err
	}
	after, err := readJSON(merged)
	if err != nil || !onlyAdded(before, after, t) {
		return nil, errors.New("it does not take another entry") // a key that is there twice, say
	}
	return merged, nil
}

func readJSON(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errors.New("it holds no object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	return v, nil
}

// onlyAdded reports whether after is before with the server and no more.
func onlyAdded(before, after map[string]any, t Tool) bool {
	servers, ok := after[t.keys[0]].(map[string]any)
	if !ok || !holds(servers[t.keys[1]], asPlain(t.server)) {
		return false
	}
	delete(servers, t.keys[1])
	if _, had := before[t.keys[0]]; !had && len(servers) == 0 {
		delete(after, t.keys[0])
	}
	return len(before) == 0 && len(after) == 0 || reflect.DeepEqual(before, after)
}

// jsonObject is where an object of a text is: its braces and the values of its members.
type jsonObject struct {
	open, close int
	members     []jsonMember
}

type jsonMember struct {
	key        string
	start, end int // of the value
}

// objectAt reads the object whose brace is at open.
func objectAt(data []byte, open int) (jsonObject, error) {
	object := jsonObject{open: open}
	if open < 0 || data[open] != '{' {
		return object, errors.New("it is not an object")
	}
	dec := json.NewDecoder(bytes.NewReader(data[open:]))
	if _, err := dec.Token(); err != nil {
		return object, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return object, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return object, err
		}
		end := open + int(dec.InputOffset())
		object.members = append(object.members, jsonMember{key: fmt.Sprint(key), start: end - len(value), end: end})
	}
	_, err := dec.Token()
	object.close = open + int(dec.InputOffset()) - 1
	return object, err
}

func (o jsonObject) member(key string) (jsonMember, bool) {
	for _, m := range o.members {
		if m.key == key {
			return m, true
		}
	}
	return jsonMember{}, false
}

// lead is the white space before the first member; "" in an empty object.
func (o jsonObject) lead(data []byte) string {
	if len(o.members) == 0 {
		return ""
	}
	rest := string(data[o.open+1:])
	return rest[:len(rest)-len(strings.TrimLeft(rest, " \t\r\n"))]
}

// indentOf is what lead puts before a line, two spaces where it says nothing.
func indentOf(lead string) string {
	if i := strings.LastIndexByte(lead, '\n'); i >= 0 && lead[i+1:] != "" {
		return lead[i+1:]
	}
	return "  "
}

// insert adds a member at the end of the object, in the way that its members are
// written; unit is one step of indentation.
func (o jsonObject) insert(data []byte, key string, value any, unit string) ([]byte, error) {
	outer := lineIndent(data, o.open)
	before, after := data[:o.open+1], data[o.close:]
	comma, lead, tail := "", "\n"+outer+unit, "\n"+outer
	if n := len(o.members); n > 0 {
		end := o.members[n-1].end
		before, after = data[:end], data[end:]
		comma, lead, tail = ",", o.lead(data), ""
	}
	body, err := json.Marshal(value)
	sep := ":"
	if i := strings.LastIndexByte(lead, '\n'); i >= 0 {
		body, err = json.MarshalIndent(value, lead[i+1:], unit)
		sep = ": "
		if strings.Contains(lead, "\r\n") {
			body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
		}
	}
	if err != nil {
		return nil, err
	}
	added := fmt.Sprintf("%s%s%q%s%s%s", comma, lead, key, sep, body, tail)
	return slices.Concat(before, []byte(added), after), nil
}

// lineIndent is the white space at the beginning of the line of at.
func lineIndent(data []byte, at int) string {
	line := string(data[bytes.LastIndexByte(data[:at], '\n')+1 : at])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// Tool is an agent tool that can be told of the server that git runr mcp is.
type Tool struct {
	name string // of the tool and of its program
	path string // of its configuration, absolute
	top  string // a directory that path must not leave through links; "" for the user's own files
	keys [2]string
	// server is what stands under the keys. Its fields are in the order of the file.
	server any
	merge  func(data []byte, t Tool) (merged []byte, err error)
}

// errRegistered ends a plan that has nothing to write.
var errRegistered = errors.New("registered already")

// errOtherServer refuses a file that has something else under our name.
var errOtherServer = errors.New("it has another server called runr")

// asPlain is v as JSON gives it back: maps, lists and strings.
func asPlain(v any) any {
	body, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var plain any
	_ = json.Unmarshal(body, &plain) // which has just been made
	return plain
}

// holds reports whether have says all that want says; a user may have added to it.
func holds(have, want any) bool {
	object, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range want.(map[string]any) {
		if !reflect.DeepEqual(object[key], value) {
			return false
		}
	}
	return true
}
