package loop

import "git-runr/gitstore"

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
