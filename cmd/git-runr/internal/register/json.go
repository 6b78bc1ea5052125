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
)

// entry is something of ours in a file of JSON: a member of an object, or an element of a list.
type entry struct {
	path  []string // of objects and, for a member, its own name at the end
	list  bool     // path leads to a list, which has value as an element
	value any
	ours  func(any) bool // whether what is there is what we would write, or was written by us
	inner *inner         // of an element that is no more ours than what it holds; nil: it is ours as a whole
}

// inner is what of a list in an element is ours: others may have put theirs beside it.
type inner struct {
	name    string                 // of the list
	ours    func(any) bool         // as entry's
	written func(any) (whole bool) // whether it is as it was written, so that it may go
}

func (e entry) within() []string {
	if e.list {
		return e.path
	}
	return e.path[:len(e.path)-1]
}

// byteOrderMark may begin a file; JSON has none.
const byteOrderMark = "\xef\xbb\xbf"

// isSpace reports whether text is white space to JSON.
func isSpace(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }

// jsonText is a file of JSON, which may have comments and trailing commas, as JSONC does.
type jsonText struct {
	data []byte
	skip int // bytes of the mark
	root hujson.Value
}

func readJSON(data []byte) (jsonText, error) {
	t := jsonText{data: data}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		t.skip = len(byteOrderMark)
	}
	root, err := hujson.Parse(data[t.skip:])
	if err != nil {
		return t, fmt.Errorf("it cannot be read: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if root.Value.Kind() != '{' {
		return t, errors.New("it holds no object")
	}
	t.root = root
	return t, nil
}

// plain is what the file says.
func (t jsonText) plain() (map[string]any, error) {
	standard, err := hujson.Standardize(bytes.Clone(t.data[t.skip:]))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(standard))
	dec.UseNumber()
	var v map[string]any
	err = dec.Decode(&v)
	return v, err
}

// item is a member of an object or an element of a list: where it is in the text.
type item struct {
	name          string
	value         hujson.Value
	start, end    int // from its name, or itself, to behind its value
	before, after hujson.Extra
}

// box is an object or a list.
type box struct {
	open, close int // of the brackets
	items       []item
	tail        hujson.Extra // behind the last comma, or what an empty one holds
	comma       bool         // behind the last item
}

func boxOf(v hujson.Value) (b box, ok bool) {
	b.open, b.close = v.StartOffset, v.EndOffset-1
	switch v := v.Value.(type) {
	case *hujson.Object:
		b.tail = v.AfterExtra
		for _, m := range v.Members {
			b.items = append(b.items, item{m.Name.Value.(hujson.Literal).String(), m.Value, m.Name.StartOffset, m.Value.EndOffset, m.Name.BeforeExtra, m.Value.AfterExtra})
		}
	case *hujson.Array:
		b.tail = v.AfterExtra
		for _, e := range v.Elements {
			b.items = append(b.items, item{"", e, e.StartOffset, e.EndOffset, e.BeforeExtra, e.AfterExtra})
		}
	default:
		return b, false
	}
	if n := len(b.items); n > 0 {
		b.comma = b.items[n-1].after != nil
		if !b.comma { // what stands before the bracket is the item's
			b.items[n-1].after = b.tail
		}
	}
	return b, true
}

// find follows names from the root as far as there are members of these names: what is
// there, and how many of the names led to it.
func (t jsonText) find(path []string) (v hujson.Value, found int) {
	v = t.root
	for i, name := range path {
		b, _ := boxOf(v)
		at := slices.IndexFunc(b.items, func(m item) bool { return m.name == name })
		if at < 0 || v.Value.Kind() != '{' {
			return v, i
		}
		v = b.items[at].value
	}
	return v, len(path)
}

// addJSON are the insertions that put e into a file; errPresent when it is there.
func addJSON(data []byte, e entry) ([]insertion, error) {
	if isSpace(data) {
		eol := "\n"
		made, err := addJSON([]byte("{}"+eol), e)
		return append([]insertion{{len(data), "{}" + eol}}, shifted(made, len(data))...), err
	}
	t, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	at, found := t.find(e.path)
	if found == len(e.path) {
		if !e.list {
			return nil, standing(t.valueOf(at), e)
		}
		if t.element(at, e) >= 0 {
			return nil, errPresent
		}
	}
	if kind := at.Value.Kind(); e.list && found == len(e.path) && kind != '[' || found < len(e.path) && kind != '{' {
		return nil, fmt.Errorf("%q is of another kind there", strings.Join(e.path[:found], "."))
	}
	made := t.insert(at, e, found)
	return made, t.check(made, e)
}

// standing says how what is there in e's place stands to e: errPresent, or why not.
func standing(have any, e entry) error {
	switch {
	case e.ours(have) && holds(have, plainOf(e.value)):
		return errPresent
	case e.ours(have):
		return errors.New("the server is told of in another way there: git runr init --agents --remove first")
	}
	return fmt.Errorf("it has another %q", strings.Join(e.path, "."))
}

// element is the place of ours in a list, -1 without one.
func (t jsonText) element(list hujson.Value, e entry) int {
	b, _ := boxOf(list)
	return slices.IndexFunc(b.items, func(i item) bool { return e.ours(t.valueOf(i.value)) })
}

// valueOf is a value of the text as plain Go.
func (t jsonText) valueOf(v hujson.Value) (plain any) {
	standard, err := hujson.Standardize(bytes.Clone(t.data[t.skip+v.StartOffset : t.skip+v.EndOffset]))
	if err != nil || json.Unmarshal(standard, &plain) != nil {
		return nil
	}
	return plain
}

// check wants the file with what is inserted to say what it said, and e.
func (t jsonText) check(made []insertion, e entry) error {
	before, err := t.plain()
	if err != nil {
		return err
	}
	after, err := readJSON(insertAll(t.data, made))
	if err != nil {
		return err
	}
	cleared, err := removeJSON(after.data, e, emptied(before, e))
	if err != nil {
		return errors.New("it does not take another entry") // a name that is there twice, say
	}
	back, err := readJSON(cleared)
	if err != nil {
		return err
	}
	if said, err := back.plain(); err != nil || !reflect.DeepEqual(said, before) {
		return errors.New("it does not take another entry")
	}
	said, err := after.plain()
	if err != nil || !has(said, e) {
		return errors.New("it does not take another entry")
	}
	return nil
}

// has reports whether v says e where those who read it will look.
func has(v any, e entry) bool {
	for _, name := range e.path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	if !e.list {
		return e.ours(plainOf(v))
	}
	list, _ := v.([]any)
	return slices.ContainsFunc(list, func(v any) bool { return e.ours(plainOf(v)) })
}

// emptied are the lengths of those of e's boxes that a file has, which are kept when they
// are empty.
func emptied(v any, e entry) (kept int) {
	for _, name := range e.within() {
		object, ok := v.(map[string]any)
		if v = object[name]; !ok || v == nil {
			return kept
		}
		kept++
	}
	return kept
}

// insert puts e below at, to which found names of its path have led.
func (t jsonText) insert(at hujson.Value, e entry, found int) []insertion {
	b, _ := boxOf(at)
	root, _ := boxOf(t.root)
	style := t.style(b, indentOf(root.lead()))
	value := e.value
	if e.list && found < len(e.path) {
		value = []any{value}
	}
	for i := len(e.path) - 1; i > found; i-- {
		value = map[string]any{e.path[i]: value}
	}
	text := style.encode(value)
	if found < len(e.path) {
		text = fmt.Sprintf("%q:%s%s", e.path[found], style.space, text)
	}
	return shifted(b.insert(style, text), t.skip)
}

// shifted are insertions that many bytes further on.
func shifted(all []insertion, by int) []insertion {
	for i := range all {
		all[i].At += by
	}
	return all
}

// lead is the white space before the first item, from the last comment on.
func (b box) lead() string {
	if len(b.items) == 0 {
		return ""
	}
	return blankEnd(b.items[0].before)
}

// blankEnd is the white space at the end.
func blankEnd(extra hujson.Extra) string {
	return string(extra[len(bytes.TrimRight(extra, " \t\r\n")):])
}

// style is how a box is written.
type style struct {
	eol, unit, space string
	lead             string // before an item
	tail             string // before the bracket of one that was empty
}

func (t jsonText) style(b box, unit string) style {
	s := style{eol: "\n", unit: unit, space: " ", lead: b.lead()}
	if bytes.Contains(t.data, []byte("\r\n")) {
		s.eol = "\r\n"
	}
	if len(b.items) == 0 {
		outer := lineIndent(t.data, t.skip+b.open)
		s.lead, s.tail = s.eol+outer+unit, s.eol+outer
	}
	if !strings.Contains(s.lead, "\n") {
		s.space = ""
	}
	return s
}

// encode is value in lines where the box has lines.
func (s style) encode(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if i := strings.LastIndexByte(s.lead, '\n'); i >= 0 {
		enc.SetIndent(s.lead[i+1:], s.unit)
	}
	_ = enc.Encode(value) // of strings, lists and maps
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", s.eol)
}

// insert puts text at the end of the box, after the comments there.
func (b box) insert(s style, text string) []insertion {
	n := len(b.items)
	if n == 0 {
		said := len(b.tail) - len(blankEnd(b.tail))
		if strings.Contains(blankEnd(b.tail), "\n") {
			s.tail = "" // the bracket is on a line of its own
		}
		return []insertion{{b.open + 1 + said, s.lead + text + s.tail}}
	}
	last := b.items[n-1]
	if b.comma {
		said := len(b.tail) - len(blankEnd(b.tail))
		return []insertion{{b.close - len(b.tail) + said, b.apart(s, said) + text + ","}}
	}
	said := len(last.after) - len(blankEnd(last.after))
	if said == 0 {
		return []insertion{{last.end, "," + s.lead + text}}
	}
	return []insertion{{last.end, ","}, {last.end + 1 + said, b.apart(s, said) + text}}
}

// apart is what stands before an item that follows a comment, which may go to the end of
// its line.
func (b box) apart(s style, said int) string {
	if said > 0 && !strings.Contains(s.lead, "\n") {
		return s.eol + s.lead
	}
	return s.lead
}

// indentOf is what lead puts before a line, two spaces where it says nothing.
func indentOf(lead string) string {
	if i := strings.LastIndexByte(lead, '\n'); i >= 0 && lead[i+1:] != "" {
		return lead[i+1:]
	}
	return "  "
}

// lineIndent is the white space at the beginning of the line of at.
func lineIndent(data []byte, at int) string {
	line := string(data[bytes.LastIndexByte(data[:at], '\n')+1 : at])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// removeJSON takes e out of a file, and of the objects around it those that are empty then,
// but for the kept outermost ones; errAbsent when it is not there.
func removeJSON(data []byte, e entry, kept int) ([]byte, error) {
	if isSpace(data) {
		return nil, errAbsent
	}
	t, err := readJSON(data)
	if err != nil {
		return nil, err
	}
	at, found := t.find(e.path)
	if found < len(e.path) {
		return nil, errAbsent
	}
	path, index := e.path, -1
	if e.list {
		if index = t.element(at, e); index < 0 {
			return nil, errAbsent
		}
		if e.inner != nil {
			if rest, shared, err := t.cutInner(at, index, e.inner); shared || err != nil {
				return rest, err
			}
		}
	} else if !e.ours(t.valueOf(at)) {
		return nil, errAbsent // somebody else's
	}
	for depth := len(e.within()); depth > kept; depth-- {
		v, _ := t.find(e.path[:depth])
		if b, _ := boxOf(v); len(b.items) > 1 || !isSpace(b.tail) {
			break
		}
		path, index = e.path[:depth], -1
	}
	if index >= 0 {
		return t.cut(at, index), nil
	}
	v, _ := t.find(path[:len(path)-1])
	b, _ := boxOf(v)
	return t.cut(v, slices.IndexFunc(b.items, func(m item) bool { return m.name == path[len(path)-1] })), nil
}

// cutInner takes what is ours out of an element, where anything stands beside it in its list.
func (t jsonText) cutInner(list hujson.Value, index int, in *inner) (rest []byte, shared bool, err error) {
	elements, _ := boxOf(list)
	group, _ := boxOf(elements.items[index].value)
	named := slices.IndexFunc(group.items, func(i item) bool { return i.name == in.name })
	if named < 0 {
		return nil, false, nil
	}
	v := group.items[named].value
	b, _ := boxOf(v)
	at := slices.IndexFunc(b.items, func(i item) bool { return in.ours(t.valueOf(i.value)) })
	if at < 0 {
		return nil, false, nil
	}
	if !in.written(t.valueOf(b.items[at].value)) {
		return nil, false, errors.New("it says something else than was written")
	}
	it := b.items[at]
	if len(b.items) == 1 && isSpace(slices.Concat(it.before, it.after, b.tail)) {
		return nil, false, nil
	}
	return t.cut(v, at), true, nil
}

// cut takes an item out, with one comma and the white space before it.
func (t jsonText) cut(v hujson.Value, index int) []byte {
	b, _ := boxOf(v)
	it, last := b.items[index], len(b.items)-1
	from, to := it.start-len(blankEnd(it.before)), it.end
	switch {
	case last == 0 && isSpace(slices.Concat(it.before, it.after, b.tail)):
		from, to = b.open+1, b.close
	case index < last || b.comma:
		to += len(it.after) + 1
	case index > 0: // the comma before it goes
		comma := it.start - len(it.before) - 1
		if isSpace(it.after) && !strings.Contains(b.lead(), "\n") {
			to += len(it.after) // which came with it
		}
		return slices.Concat(t.data[:t.skip+comma], t.data[t.skip+comma+1:t.skip+from], t.data[t.skip+to:])
	}
	return slices.Concat(t.data[:t.skip+from], t.data[t.skip+to:])
}
