package owners

import (
	"fmt"
	"strings"
	"testing"
)

// words returns groups as "SECTION/NEED: OWNER OWNER", joined by "; ".
func words(groups []Group) string {
	var all []string
	for _, g := range groups {
		all = append(all, fmt.Sprintf("%s/%d: %s", g.Section, g.Need, strings.Join(g.Owners, " ")))
	}
	return strings.Join(all, "; ")
}

func TestOf(t *testing.T) {
	github := `# who owns what
*                @global
*.js             @js @org/js-team  # everything in JavaScript
/build/logs/     @doctocat
docs/*           docs@example.org
apps/            @octocat
/apps/github
/dir\ with\ blank/ @blank
!negated         @nobody
file[0-9].c      @nobody
bad              nobody
`
	gitlab := `* @default
*.rb @ruby
[Docs][2] @docs
docs/
README.md @readme
^[Optional]
*.go @gopher
[docs]
*.md @markdown
[Excluded] @all
*
!secret.txt
`
	cases := []struct{ place, text, path, want string }{
		{".github/CODEOWNERS", github, "main.go", "/1: @global"},
		{".github/CODEOWNERS", github, "deep/down/x.js", "/1: @js @org/js-team"},
		{".github/CODEOWNERS", github, "build/logs/today/log", "/1: @doctocat"},
		{".github/CODEOWNERS", github, "other/build/logs/log", "/1: @global"},
		{".github/CODEOWNERS", github, "docs/a.txt", "/1: docs@example.org"},
		{".github/CODEOWNERS", github, "docs/below/a.txt", "/1: @global"},
		{".github/CODEOWNERS", github, "src/apps/a", "/1: @octocat"},
		{".github/CODEOWNERS", github, "apps/github/a", ""}, // a line without owners removes the owners
		{".github/CODEOWNERS", github, "dir with blank/a", "/1: @blank"},
		{".github/CODEOWNERS", github, "file1.c", "/1: @global"},
		{"CODEOWNERS", gitlab, "main.c", "/1: @default; Excluded/1: @all"},
		{"CODEOWNERS", gitlab, "docs/x.rb", "/1: @ruby; Docs/2: @docs; Excluded/1: @all"},
		// sections with equal names are joined
		{"CODEOWNERS", gitlab, "README.md", "/1: @default; Docs/2: @markdown; Excluded/1: @all"},
		{"CODEOWNERS", gitlab, "a.go", "/1: @default; Optional/0: @gopher; Excluded/1: @all"},
		{"CODEOWNERS", gitlab, "secret.txt", "/1: @default"},
		{".github/CODEOWNERS", "[Docs] @x\n* @y\n", "a", "/1: @y"}, // GitHub has no sections
		{"CODEOWNERS", "", "a", ""},
	}
	for _, c := range cases {
		if got := words(Parse(c.place, c.text).Of(c.path)); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.path, c.place, got, c.want)
		}
	}
	skipped := strings.Join(Parse(".github/CODEOWNERS", github).Skipped, "; ")
	want := `line 9: ! is not allowed; line 10: [ ] is not allowed; line 11: "nobody" is neither @name nor an email address`
	if skipped != want {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
}

func TestOfAll(t *testing.T) {
	rules := Parse("CODEOWNERS", "* @a\n*.js @b\n")
	if got := words(rules.OfAll([]string{"x", "y", "z.js"})); got != "/1: @a; /1: @b" {
		t.Errorf("got %q", got)
	}
}

// FuzzParse parses any text without a panic. A path has at most one group per section, and each group has an owner.
func FuzzParse(f *testing.F) {
	f.Add("* @a\n[S][2] @b\n!x\n", "x/y")
	f.Add("\\ \\# @a # b\n^[o]\n* c@d\n", "a b")
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, place := range Places {
			seen := map[string]bool{}
			for _, g := range Parse(place, text).Of(path) {
				if len(g.Owners) == 0 || g.Need < 0 || seen[strings.ToLower(g.Section)] {
					t.Errorf("%s: %+v", place, g)
				}
				seen[strings.ToLower(g.Section)] = true
			}
		}
	})
}
