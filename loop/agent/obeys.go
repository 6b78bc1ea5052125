package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// clear sees to it that nothing in the checkout that no argument stops instructs the tool:
// a reviewer works without it, and no implementer is started beside what would be run. It
// returns how to put back what it put aside.
func (p *preset) clear(ask Ask) (back func() error, err error) {
	nothing := func() error { return nil }
	if ask.Dir == "" {
		return nothing, nil
	}
	if ask.Role != Implementer {
		return putAside(ask.Dir, slices.Concat(p.instructs, p.executes))
	}
	there, err := executes(ask.Dir, p.executes)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("it would obey %s of the checkout, which may run commands, and no argument of it stops that", filepath.ToSlash(strings.Join(there, ", ")))
	}
	return nothing, err
}

// executes are the files and directories below dir that names name, see found; of
// "/a.json:KEY" the file, where it has that key or cannot be read.
func executes(dir string, names []string) ([]string, error) {
	return found(dir, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		path, key, is := strings.Cut(name, ":")
		return is && lacks(filepath.Join(dir, filepath.FromSlash(path)), key)
	}))
}

// lacks reports whether the file is a JSON object, with comments or without, that has no
// such key.
func lacks(file, key string) bool {
	data, err := os.ReadFile(file)
	if err == nil {
		data, err = hujson.Standardize(data)
	}
	var keys map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &keys) != nil || keys == nil {
		return false
	}
	_, has := keys[key]
	return !has
}
