package mcp

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// shownName is how answers name a file: as it is recorded, where each byte that is no UTF-8 is
// U+FFFD, on one line.
func shownName(path string) string { return clip(safetext.Line(string([]rune(path))), 500) }

// named is the path of all that there are which name stands for: as it is, as answers and
// terminals show it, or as git quotes it in a patch. Where it is none of them, it is name itself.
func named(paths []string, name string) (path string, known bool) {
	quoted := []string{unquoted(name), unquoted(`"` + name + `"`)}
	for _, same := range []func(path string) bool{
		func(path string) bool { return path == name },
		func(path string) bool { return shownName(path) == name },
		func(path string) bool { return line(path, 500) == name },
		func(path string) bool {
			return slices.ContainsFunc(quoted, func(q string) bool { return q == path || q == "a/"+path || q == "b/"+path })
		},
	} {
		if i := slices.IndexFunc(paths, same); i >= 0 {
			return paths[i], true
		}
	}
	return name, false
}

// unquoted is a name without git's quoting; "" where that is broken.
func unquoted(name string) string {
	plain, err := unidiff.Name(strings.TrimSpace(name))
	if err != nil {
		return ""
	}
	return plain
}
