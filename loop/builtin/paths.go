package builtin

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/reply"
)

// kind classifies a path by the rules that apply to it.
type kind struct {
	exempt  bool // generated, vendored, minified or a lock file: only markers and secrets are reported
	fixture bool // test code or test data: findings weigh less
	docs    bool // prose: no rules about code
	patch   bool // contains diffs, snapshots or expected output: white space and markers are content
}

// warning returns the severity of a fault: in test code and test data it is only noted.
func (k kind) warning() reply.Severity {
	if k.fixture {
		return reply.Note
	}
	return reply.Warning
}

func kindOf(f File) kind {
	return kind{
		exempt:  isA(f.Path, "vendored", "lock", "generated") || saysGenerated(f),
		fixture: isA(f.Path, "test data", "test code"),
		docs:    isA(f.Path, "documents"),
		patch:   isA(f.Path, "test data", "expected"),
	}
}

var pathPatterns = sync.OnceValue(func() map[string][]string {
	patterns := map[string][]string{}
	for kind, list := range table().Paths {
		patterns[kind] = strings.Fields(list)
	}
	return patterns
})

// isA reports whether p is of one of the kinds of paths in rules.toml.
func isA(p string, kinds ...string) bool {
	dir, base := path.Split(strings.ToLower(p))
	return slices.ContainsFunc(kinds, func(kind string) bool {
		return slices.ContainsFunc(pathPatterns()[kind], func(pattern string) bool {
			if strings.HasSuffix(pattern, "/") {
				return strings.HasPrefix(dir, pattern) || strings.Contains(dir, "/"+pattern)
			}
			return isNamed(base, pattern)
		})
	})
}

// isNamed reports whether name matches a pattern, which has a * at its beginning, at its end, at both or at neither.
// It is called for each pattern and file, and much quicker than path.Match.
func isNamed(name, pattern string) bool {
	end, open := strings.CutPrefix(pattern, "*")
	middle, goesOn := strings.CutSuffix(end, "*")
	switch {
	case open && goesOn:
		return strings.Contains(name, middle)
	case open:
		return strings.HasSuffix(name, end)
	case goesOn:
		return strings.HasPrefix(name, middle)
	}
	return name == pattern
}

// saysGenerated reports whether the first lines, if the diff shows them, mark the file as generated.
func saysGenerated(f File) bool {
	for _, lines := range [][]Line{f.Added, f.Context} {
		for _, l := range lines {
			if l.Number > 20 {
				break
			}
			if strings.Contains(l.Text, "DO NOT EDIT") || strings.Contains(l.Text, "@"+"generated") {
				return true
			}
		}
	}
	return false
}
