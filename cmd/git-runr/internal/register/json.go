package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/git-runr/git-runr/gitstore/each"
)

// entry is one of our entries in a JSON file: a member of an object, or an element of a list.
type entry struct {
	path  []string // names of objects and, for a member, its own name at the end
	list  bool     // path leads to a list that contains value
	value any
	ours  func(any) bool // reports whether a value is one that we write or once wrote
	inner *inner         // for an element to which others may have added; nil: all of it is ours
}

// inner is the part that is ours of a list in an element.
type inner struct {
	name    string         // of the list
	ours    func(any) bool // like entry.ours
	written func(any) bool // reports whether it is unchanged, so that it may be removed
}

// within returns the path of the objects, and the list, around the entry.
func (e entry) within() []string {
	if e.list {
		return e.path
	}
	return e.path[:len(e.path)-1]
}

// byteOrderMark may begin a file, although JSON does not allow it.
const byteOrderMark = "\xef\xbb\xbf"

// isSpace reports whether text is white space in JSON.
func isSpace(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }

// jsonText is a JSON file, which may have comments and trailing commas, as in JSONC.
type jsonText struct {
	mark string // byteOrderMark or nothing
	data []byte // after the mark
	root hujson.Value
}

func readJSON(data []byte) (t jsonText, err error) {
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		t.mark = byteOrderMark
	}
	t.data = data[len(t.mark):]
	if t.root, err = hujson.Parse(t.data); err != nil {
		return t, fmt.Errorf("it cannot be read: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if t.root.Value.Kind() != '{' {
		return t, errors.New("it is not a JSON object")
	}
	return t, nil
}

// pack returns the file's current text. Untouched parts are unchanged.
func (t jsonText) pack() []byte { return append([]byte(t.mark), t.root.Pack()...) }

// says returns the values in data as plain Go values, or nil if it cannot be parsed.
func says(data []byte) any {
	t, err := readJSON(data)
	if err != nil {
		return nil
	}
	return plainValue(t.root)
}

func plainValue(v hujson.Value) (plain any) {
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	_ = dec.Decode(&plain) // of a value that was parsed before
	return plain
}

// slot is a member of an object, or an element of a list, which has no name.
type slot hujson.ObjectMember

// lead returns the white space and comments before the slot.
func (s *slot) lead() *hujson.Extra {
	if s.Name.Value != nil {
		return &s.Name.BeforeExtra
	}
	return &s.Value.BeforeExtra
}

// slotsOf returns the items of an object or a list, and the white space and comments after them.
func slotsOf(v hujson.Value) (slots []slot, tail *hujson.Extra) {
	switch box := v.Value.(type) {
	case *hujson.Object:
		return each.Of(box.Members, func(m hujson.ObjectMember) slot { return slot(m) }), &box.AfterExtra
	case *hujson.Array:
		return each.Of(box.Elements, func(e hujson.Value) slot { return slot{Value: e} }), &box.AfterExtra
	}
	return nil, &hujson.Extra{}
}

// fill replaces the items of an object or a list.
func fill(v hujson.Value, slots []slot) {
	switch box := v.Value.(type) {
	case *hujson.Object:
		box.Members = each.Of(slots, func(s slot) hujson.ObjectMember { return hujson.ObjectMember(s) })
	case *hujson.Array:
		box.Elements = each.Of(slots, func(s slot) hujson.Value { return s.Value })
	}
}

// member returns the index of a name in an object, or -1.
func member(v hujson.Value, name string) int {
	slots, _ := slotsOf(v)
	return slices.IndexFunc(slots, func(s slot) bool {
		return s.Name.Value != nil && s.Name.Value.(hujson.Literal).String() == name
	})
}

// element returns the index of the first item of a list that satisfies fits, or -1.
func element(list hujson.Value, fits func(any) bool) int {
	slots, _ := slotsOf(list)
	return slices.IndexFunc(slots, func(s slot) bool { return fits(plainValue(s.Value)) })
}

// find follows names from the root as far as members with these names exist. It returns the last value, and the number
// of names that led to it.
func (t jsonText) find(path []string) (v hujson.Value, found int) {
	v = t.root
	for i, name := range path {
		at := member(v, name)
		if at < 0 {
			return v, i
		}
		slots, _ := slotsOf(v)
		v = slots[at].Value
	}
	return v, len(path)
}

// addJSON adds e to a file, after the other items of its object or list. It returns errPresent if e is there already.
func addJSON(data []byte, e entry) ([]byte, error) {
	if isSpace(data) {
		data = []byte("{}\n")
	}
	t, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	at, found := t.find(e.path)
	switch kind := at.Value.Kind(); {
	case found == len(e.path) && !e.list:
		return nil, standing(plainValue(at), e)
	case found < len(e.path) && kind != '{' || found == len(e.path) && kind != '[':
		return nil, fmt.Errorf("%q has another type there", strings.Join(e.path[:found], "."))
	case found == len(e.path) && element(at, e.ours) >= 0:
		return nil, errPresent
	}
	value := e.value
	if e.list && found < len(e.path) {
		value = []any{value}
	}
	for i := len(e.path) - 1; i > found; i-- {
		value = map[string]any{e.path[i]: value}
	}
	t.insert(at, e.path[found:], value)
	after := t.pack()
	return after, checkAdded(data, after, e)
}

// standing compares an existing value with e: it returns errPresent if they agree, else an error that says why e cannot
// be added.
func standing(have any, e entry) error {
	switch {
	case e.ours(have) && holds(have, plainOf(e.value)):
		return errPresent
	case e.ours(have):
		return errors.New("the server is registered differently there; first: git runr init --agents --remove")
	}
	return fmt.Errorf("it has another %q", strings.Join(e.path, "."))
}

// checkAdded returns an error if an edit has not just added e to what the file says: a name may occur twice.
func checkAdded(before, after []byte, e entry) error {
	cleared, err := removeJSON(after, e, before)
	said := says(after)
	for _, name := range e.path { // readers use the last of two equal names
		object, _ := said.(map[string]any)
		said = object[name]
	}
	list, _ := said.([]any)
	there := !e.list && e.ours(said) || e.list && slices.ContainsFunc(list, e.ours)
	if err != nil || !there || !reflect.DeepEqual(says(cleared), says(before)) {
		return errors.New("no entry can be added to it")
	}
	return nil
}

// insert adds value to the end of an object, under the first of names, or of a list. It uses lines if the file does.
func (t jsonText) insert(at hujson.Value, names []string, value any) {
	slots, tail := slotsOf(at)
	lead, closing := t.style(at)
	said := bytes.TrimRight(*tail, " \t\r\n") // comments stay where they are
	if blank := (*tail)[len(said):]; len(slots) > 0 || bytes.ContainsRune(blank, '\n') {
		closing = string(blank)
	}
	before := slices.Concat(said, hujson.Extra(lead))
	if len(said) > 0 && lead == "" {
		before = append(said, '\n') // a comment may extend to the end of its line
	}
	added := slot{}
	added.Value, _ = hujson.Parse([]byte(encode(value, lead, t.unit()))) // it was just encoded
	if len(slots) > 0 && slots[len(slots)-1].Value.AfterExtra != nil {
		added.Value.AfterExtra = hujson.Extra{} // a comma, as after the others
	}
	if at.Value.Kind() == '{' {
		added.Name.Value = hujson.String(names[0])
		if lead != "" {
			added.Value.BeforeExtra = hujson.Extra(" ")
		}
	}
	*added.lead(), *tail = before, hujson.Extra(closing)
	fill(at, append(slots, added))
}

// style returns the white space before an item of an object or list, and after a lone item: line ends and indentation
// as in the file, or nothing if it is on one line.
func (t jsonText) style(at hujson.Value) (lead, tail string) {
	eol := "\n"
	if bytes.Contains(t.data, []byte("\r\n")) {
		eol = "\r\n"
	}
	if slots, _ := slotsOf(at); len(slots) > 0 {
		indent, lines := lastLine(*slots[0].lead())
		if !lines {
			return "", ""
		}
		return eol + indent, ""
	}
	line := t.data[bytes.LastIndexByte(t.data[:at.StartOffset], '\n')+1 : at.StartOffset]
	outer := eol + string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	return outer + t.unit(), outer
}

// lastLine returns what is after the last line end in text.
func lastLine(text []byte) (last string, found bool) {
	i := bytes.LastIndexByte(text, '\n')
	return string(text[i+1:]), i >= 0
}

// unit returns the indentation of the file's first member, or two spaces if it has none.
func (t jsonText) unit() string {
	if slots, _ := slotsOf(t.root); len(slots) > 0 {
		if indent, lines := lastLine(*slots[0].lead()); lines && indent != "" {
			return indent
		}
	}
	return "  "
}

// encode returns value in several lines if lead begins one, else on one line.
func encode(value any, lead, unit string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	eol, indent, lines := strings.Cut(lead, "\n")
	if lines {
		enc.SetIndent(indent, unit)
	}
	_ = enc.Encode(value) // strings, lists and maps cannot fail
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", eol+"\n")
}

// removeJSON removes e from a file, and the objects around it that become empty, except those in before, the file's
// content without e. It returns errAbsent if e is not there.
func removeJSON(data []byte, e entry, before []byte) ([]byte, error) {
	if isSpace(data) {
		return nil, errAbsent
	}
	t, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	at, found := t.find(e.within())
	if found < len(e.within()) {
		return nil, errAbsent
	}
	slots, _ := slotsOf(at)
	i := element(at, e.ours)
	if !e.list {
		i = member(at, e.path[len(e.path)-1])
	}
	if i < 0 || !e.ours(plainValue(slots[i].Value)) { // or it is somebody else's
		return nil, errAbsent
	}
	if e.inner != nil {
		if shared, err := cutInner(slots[i].Value, e.inner); err != nil || shared {
			return t.pack(), err
		}
	}
	cut(at, i)
	kept := 0
	if was, err := readJSON(before); err == nil {
		_, kept = was.find(e.within())
	}
	for depth := len(e.within()); depth > kept; depth-- {
		if v, _ := t.find(e.path[:depth]); !isEmpty(v) {
			break
		}
		outer, _ := t.find(e.path[:depth-1])
		cut(outer, member(outer, e.path[depth-1]))
	}
	return t.pack(), nil
}

// cutInner removes our item from an element, and reports whether the element has items of others.
func cutInner(of hujson.Value, in *inner) (shared bool, err error) {
	slots, _ := slotsOf(of)
	list := slots[member(of, in.name)].Value
	at := element(list, in.ours)
	if at < 0 {
		return false, nil
	}
	if slots, _ = slotsOf(list); !in.written(plainValue(slots[at].Value)) {
		return false, errors.New("it was changed since it was written")
	}
	cut(list, at)
	return !isEmpty(list), nil
}

// isEmpty reports whether an object or a list has neither an item nor a comment.
func isEmpty(v hujson.Value) bool {
	slots, tail := slotsOf(v)
	return len(slots) == 0 && isSpace(*tail)
}

// cut removes an item and the white space before it. Comments before it stay.
func cut(v hujson.Value, i int) {
	slots, next := slotsOf(v)
	it := slots[i]
	said := slices.Clone(bytes.TrimRight(*it.lead(), " \t\r\n"))
	slots = slices.Delete(slots, i, i+1)
	switch {
	case i < len(slots):
		next = slots[i].lead()
	case i > 0 && it.Value.AfterExtra == nil: // no comma follows the last item
		last := &slots[i-1].Value.AfterExtra
		said, *last = slices.Concat(*last, said), nil
	case i > 0:
		last := &slots[i-1].Value.AfterExtra
		*last = append(hujson.Extra{}, *last...) // not nil: a comma follows it
	}
	oneLine := i == len(slots) && (i == 0 && len(said) == 0 || i > 0 && !bytes.ContainsRune(*slots[0].lead(), '\n'))
	if oneLine && isSpace(*next) && bytes.ContainsRune(*next, '\n') {
		*next = nil // the line of the bracket was ours
	}
	*next = slices.Concat(said, *next)
	fill(v, slots)
}
