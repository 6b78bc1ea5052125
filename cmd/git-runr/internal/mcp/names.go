package mcp

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// shownName returns the name of a file as answers show it: as recorded, on one line, with U+FFFD for each byte that is
// not UTF-8.
func shownName(path string) string { return clip(safetext.Line(string([]rune(path))), 500) }

// named returns the one of paths that name means: as it is, as answers and terminals show it, or as git quotes it in a
// patch. If none matches, it returns name.
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

// unquoted removes git's quoting from a name; it returns "" for broken quoting.
func unquoted(name string) string {
	plain, err := unidiff.Name(strings.TrimSpace(name))
	if err != nil {
		return ""
	}
	return plain
}
