package gitstore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Globs matches paths, relative to the top of the tree, against patterns in git's syntax:
// * and ? do not match a slash, ** between slashes matches any number of directories, and
// [a-z] or [!a-z] matches one character. As in .gitignore, a name without a slash matches
// in every directory, and a leading slash means the top. A name without wildcards also matches
// a directory with everything below it.
type Globs []*regexp.Regexp

// anchored translates glob into git's pathspecs with the magic "glob": relative to the top,
// with a second pattern for a directory's contents.
func anchored(glob string) []string {
	g := strings.TrimSuffix(glob, "/")
	if top, ok := strings.CutPrefix(g, "/"); ok {
		g = top
	} else if !strings.Contains(g, "/") {
		g = "**/" + g
	}
	switch name := g[strings.LastIndexByte(g, '/')+1:]; {
	case strings.HasSuffix(glob, "/"):
		return []string{g + "/**"}
	case strings.ContainsAny(name, `*?[\`):
		return []string{g}
	}
	return []string{g, g + "/**"}
}

// CompileGlobs compiles globs. A malformed glob matches nothing.
func CompileGlobs(globs []string) Globs {
	var patterns Globs
	for _, glob := range globs {
		for _, g := range anchored(glob) {
			if re, err := regexp.Compile(globPattern(g)); err == nil {
				patterns = append(patterns, re)
			}
		}
	}
	return patterns
}

// Match reports whether one of the globs matches the path of a file.
func (g Globs) Match(path string) bool {
	return slices.ContainsFunc(g, func(re *regexp.Regexp) bool { return re.MatchString(path) })
}

// globPattern translates an anchored glob into a regular expression, which matches in time
// proportional to the path however many stars there are. It is invalid if the glob is.
func globPattern(glob string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(glob); {
		rest := glob[i:]
		start := i == 0 || glob[i-1] == '/'
		switch {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case start && rest == "**":
			b.WriteString(`.*`)
			i += 2
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
			i += len(rest) - len(strings.TrimLeft(rest, "*"))
		case rest[0] == '?':
			b.WriteString(`[^/]`)
			i++
		case rest[0] == '[':
			class, n := globClass(rest)
			b.WriteString(class)
			i += n
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	return b.String() + `\z`
}

// globClass returns the character class at the start of s, and its length. For a class
// without an end it returns an invalid expression.
func globClass(s string) (class string, n int) {
	class, n = "[", 1
	if n < len(s) && (s[n] == '!' || s[n] == '^') {
		class, n = "[^/", 2
	}
	for first := n; n < len(s); {
		switch {
		case s[n] == ']' && n > first:
			return class + "]", n + 1
		case strings.HasPrefix(s[n:], "[:") && strings.Contains(s[n:], ":]"):
			end := n + strings.Index(s[n:], ":]") + 2
			class, n = class+s[n:end], end
		case s[n] == '\\' && n+1 < len(s):
			class, n = class+regexp.QuoteMeta(s[n+1:n+2]), n+2
		default:
			class, n = class+regexp.QuoteMeta(s[n:n+1]), n+1
		}
	}
	return "[", len(s)
}

// UnmatchedGlobs returns the globs that match no file of a tree or commit.
func (r *Repo) UnmatchedGlobs(ctx context.Context, treeish ID, globs []string) ([]string, error) {
	if len(globs) == 0 {
		return nil, nil
	}
	out, err := r.dir.Git(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", string(treeish))
	if err != nil {
		return nil, fmt.Errorf("list tree %s: %w", treeish.Short(), err)
	}
	paths := splitNUL(out)
	return slices.DeleteFunc(slices.Clone(globs), func(glob string) bool {
		return slices.ContainsFunc(paths, CompileGlobs([]string{glob}).Match)
	}), nil
}

// LazyGlobs returns a function that compiles globs at its first call.
func LazyGlobs(globs ...string) func() Globs {
	return sync.OnceValue(func() Globs { return CompileGlobs(globs) })
}
