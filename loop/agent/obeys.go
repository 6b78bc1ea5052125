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

// clear ensures that the tool obeys no file of the checkout that its arguments cannot exclude:
// for a reviewer it moves those files away, and for an implementer it fails if one of them
// can run commands. It returns a function that moves the files back.
func (p *preset) clear(ask Ask) (back func() error, err error) {
	nothing := func() error { return nil }
	if ask.Dir == "" {
		return nothing, nil
	}
	if ask.Role != Implementer {
		return putAside(ask.Dir, slices.Concat(p.Instructs, p.Executes))
	}
	there, err := executes(ask.Dir, p.Executes)
	if err != nil || len(there) == 0 {
		return nothing, err
	}
	return nothing,
		fmt.Errorf("it would obey %s of the checkout, which may run commands, and none of its arguments stops that",
			filepath.ToSlash(strings.Join(there, ", ")))
}

// executes returns the files and directories below dir that names name; see found. A file
// named as "/a.json:KEY" is returned only if it has that key or cannot be read.
func executes(dir string, names []string) ([]string, error) {
	return found(dir, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		path, key, is := strings.Cut(name, ":")
		return is && lacks(filepath.Join(dir, filepath.FromSlash(path)), key)
	}))
}

// lacks reports whether the file is a JSON object, with or without comments, that does not
// have the key.
func lacks(file, key string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	data, err = hujson.Standardize(data)
	var keys map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &keys) != nil || keys == nil {
		return false
	}
	_, has := keys[key]
	return !has
}
