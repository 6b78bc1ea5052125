package loop

import (
	"path"
	"strings"
)

// Scope says which paths an implementer may change: those that an Allow pattern
// matches (all where there is none), less those that a Deny pattern matches.
type Scope struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Outside are the files that the scope does not let an implementer change.
func (s Scope) Outside(files []string) []string {
	var outside []string
	for _, f := range files {
		if matchAny(s.Deny, f) || len(s.Allow) > 0 && !matchAny(s.Allow, f) {
			outside = append(outside, f)
		}
	}
	return outside
}

func matchAny(globs []string, file string) bool {
	for _, g := range globs {
		if matchGlob(strings.Split(g, "/"), strings.Split(file, "/")) {
			return true
		}
	}
	return false
}

// matchGlob matches a path with a pattern part by part; ** stands for any number
// of parts, and the other signs are those of path.Match.
func matchGlob(glob, file []string) bool {
	if len(glob) == 0 {
		return len(file) == 0
	}
	if glob[0] == "**" {
		return matchGlob(glob[1:], file) || len(file) > 0 && matchGlob(glob, file[1:])
	}
	if len(file) == 0 {
		return false
	}
	ok, err := path.Match(glob[0], file[0])
	return err == nil && ok && matchGlob(glob[1:], file[1:])
}
