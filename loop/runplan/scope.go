package runplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
)

// Scope says which paths an implementer may change: those that match an Allow glob (all if there is none) and no Deny
// glob. See gitstore.Globs.
type Scope struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Outside returns the files that the scope does not let an implementer change.
func (s Scope) Outside(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), s.allows())
}

// allows returns the scope as a function, with its globs compiled.
func (s Scope) allows() func(file string) bool {
	allow, deny := gitstore.CompileGlobs(s.Allow), gitstore.CompileGlobs(s.Deny)
	return func(file string) bool { return !deny.Match(file) && (len(s.Allow) == 0 || allow.Match(file)) }
}

// Why returns the rule that keeps an implementer from changing file, or "".
func (s Scope) Why(file string) string {
	if s.allows()(file) {
		return ""
	}
	denies := func(glob string) bool { return gitstore.CompileGlobs([]string{glob}).Match(file) }
	if glob, denied := each.First(s.Deny, denies); denied {
		return fmt.Sprintf("denied by %q", glob)
	}
	return fmt.Sprintf("not in %s", GlobList(s.Allow))
}

// GlobList formats globs as in a configuration, on one line.
func GlobList(globs []string) string { return strings.Trim(fmt.Sprintf("%q", globs), "[]") }
