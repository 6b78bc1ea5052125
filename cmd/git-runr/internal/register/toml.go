package register

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// The lines around our part of a TOML file.
const (
	beginMark = "# >>> git-runr >>>"
	endMark   = "# <<< git-runr <<<"
)

// addTOML appends e to a file, in lines of its own. It returns errPresent if e is there already.
func addTOML(data []byte, e entry) ([]byte, error) {
	before, err := readTOML(data)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if servers, ok := before[e.path[0]].(map[string]any); ok && servers[e.path[1]] != nil {
		return nil, standing(plainOf(servers[e.path[1]]), e)
	}
	if before[e.path[0]] != nil && !hasTable(data, e.path[0]) {
		return nil, fmt.Errorf("%q is not a separate table there", e.path[0]) // an inline table cannot be extended
	}
	var table bytes.Buffer
	enc := toml.NewEncoder(&table)
	enc.Indent = ""
	name := "[" + strings.Join(e.path, ".") + "]"
	if err := enc.Encode(map[string]any{e.path[0]: map[string]any{e.path[1]: e.value}}); err != nil {
		return nil, err
	}
	_, body, _ := strings.Cut(table.String(), name)
	block := beginMark + " git runr init --agents --remove takes this out\n" + name + body + endMark + "\n"
	if len(data) > 0 {
		block = "\n" + block
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		block = "\n" + block
	}
	if bytes.Contains(data, []byte("\r\n")) {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	made := slices.Concat(data, []byte(block))
	after, err := readTOML(made)
	if err != nil || !addedTable(before, after, e) {
		return nil, fmt.Errorf("table %q cannot be added at its end", strings.Join(e.path, "."))
	}
	return made, nil
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

// addedTable reports whether after is before plus e.
func addedTable(before, after map[string]any, e entry) bool {
	tables, ok := after[e.path[0]].(map[string]any)
	if !ok || !e.ours(plainOf(tables[e.path[1]])) {
		return false
	}
	delete(tables, e.path[1])
	if _, had := before[e.path[0]]; !had && len(tables) == 0 {
		delete(after, e.path[0])
	}
	return len(before) == 0 && len(after) == 0 || reflect.DeepEqual(before, after)
}

func readTOML(data []byte) (map[string]any, error) {
	var v map[string]any
	err := toml.Unmarshal(bytes.TrimPrefix(data, []byte(byteOrderMark)), &v)
	return v, err
}

// removeTOML removes the lines between our marks, and the empty line before them. It returns errAbsent if there are
// none.
func removeTOML(data []byte) ([]byte, error) {
	from := bytes.Index(data, []byte(beginMark))
	if from < 0 {
		return nil, errAbsent
	}
	length := bytes.Index(data[from:], []byte(endMark))
	if length < 0 || from > 0 && data[from-1] != '\n' {
		return nil, errors.New("a marker line of git-runr is missing")
	}
	to := from + length + len(endMark)
	for _, eol := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(data[to:], []byte(eol)) {
			to += len(eol)
		}
		if bytes.HasSuffix(data[:from], []byte(eol+eol)) {
			from -= len(eol)
		}
	}
	rest := append(bytes.Clone(data[:from]), data[to:]...)
	if _, err := readTOML(rest); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return rest, nil
}
