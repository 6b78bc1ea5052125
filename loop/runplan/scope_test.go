package runplan

import (
	"slices"
	"testing"
)

func TestScopeOutside(t *testing.T) {
	files := []string{"src/a.go", "src/x/b.go", "src/go.lock", "README.md", "src/[id]/p.ts"}
	for _, c := range []struct {
		name  string
		scope Scope
		want  []string
	}{
		{"none", Scope{}, nil},
		{"allow below", Scope{Allow: []string{"src/**"}}, []string{"README.md"}},
		{"allow one level", Scope{Allow: []string{"src/*"}}, []string{"src/x/b.go", "README.md", "src/[id]/p.ts"}},
		{"deny wins", Scope{Allow: []string{"**"}, Deny: []string{"**/*.lock"}}, []string{"src/go.lock"}},
		{"deny at the top", Scope{Deny: []string{"**/*.md"}}, []string{"README.md"}},
		{"escaped", Scope{Deny: []string{`src/\[id]/*`}}, []string{"src/[id]/p.ts"}},
		{"a name at any depth", Scope{Deny: []string{"*.go"}}, []string{"src/a.go", "src/x/b.go"}},
		{"a directory by its name", Scope{Deny: []string{"x", "src/[[]id]"}}, []string{"src/x/b.go"}},
		{"only at the top", Scope{Deny: []string{"/*.md", "/*.lock"}}, []string{"README.md"}},
		{"malformed matches nothing", Scope{Deny: []string{"[", "src/["}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.scope.Outside(files); !slices.Equal(got, c.want) {
				t.Errorf("outside %q, want %q", got, c.want)
			}
		})
	}
}
