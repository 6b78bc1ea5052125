package loop

import (
	"fmt"
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
		if s.Why(f) != "" {
			outside = append(outside, f)
		}
	}
	return outside
}

// Why is the rule that keeps an implementer from changing file; "" when it may.
func (s Scope) Why(file string) string {
	for _, g := range s.Deny {
		if matchAny([]string{g}, file) {
			return fmt.Sprintf("denied by %q", g)
		}
	}
	if len(s.Allow) > 0 && !matchAny(s.Allow, file) {
		return fmt.Sprintf("not in %s", quotedList(s.Allow))
	}
	return ""
}

// quotedList shows patterns as they would be written.
func quotedList(globs []string) string { return strings.Trim(fmt.Sprintf("%q", globs), "[]") }

// violations names files and the rules that they break, the first few.
func (s Scope) violations(files []string) string {
	const most = 5
	var parts []string
	for _, f := range files[:min(len(files), most)] {
		parts = append(parts, f+" is "+s.Why(f))
	}
	if more := len(files) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %s more", Count(more, "file")))
	}
	return strings.Join(parts, "; ")
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
