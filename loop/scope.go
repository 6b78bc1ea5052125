package loop

import (
	"fmt"
	"strings"

	"git-runr/gitstore"
)

// Scope says which paths an implementer may change: those that an Allow glob
// matches (all where there is none), less those that a Deny glob matches. See
// gitstore.Globs.
type Scope struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Outside are the files that the scope does not let an implementer change.
func (s Scope) Outside(files []string) []string {
	allow, deny := gitstore.CompileGlobs(s.Allow), gitstore.CompileGlobs(s.Deny)
	var outside []string
	for _, f := range files {
		if deny.Match(f) || len(s.Allow) > 0 && !allow.Match(f) {
			outside = append(outside, f)
		}
	}
	return outside
}

// Why is the rule that keeps an implementer from changing file; "" when it may.
func (s Scope) Why(file string) string {
	if len(s.Outside([]string{file})) == 0 {
		return ""
	}
	for _, g := range s.Deny {
		if gitstore.CompileGlobs([]string{g}).Match(file) {
			return fmt.Sprintf("denied by %q", g)
		}
	}
	return fmt.Sprintf("not in %s", GlobList(s.Allow))
}

// GlobList shows globs as a configuration has them, on one line.
func GlobList(globs []string) string { return strings.Trim(fmt.Sprintf("%q", globs), "[]") }

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
