package track

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// At is the position of a finding in several lists.
type At struct{ List, Index int }

// Same groups equal findings from independent lists about one version; each list is one reviewer's. Groups are ordered
// by their first finding, members by their list. Each finding is in exactly one group, and a group has at most one
// finding of each list.
func Same(lists [][]reply.Finding) [][]At {
	type again struct {
		key
		n int // for repetitions within a list
	}
	var same [][]At
	groups := map[again]int{}
	for i, findings := range lists {
		said := map[key]int{}
		for j, f := range findings {
			k := keyOf(f)
			g, known := groups[again{k, said[k]}]
			if !known {
				g, same = len(same), append(same, nil)
				groups[again{k, said[k]}] = g
			}
			same[g] = append(same[g], At{i, j})
			said[k]++
		}
	}
	return same
}

// nearLines is how many lines apart two reviewers may place the same fault: one names the
// call, the other the failing line below it.
const nearLines = 5

// Alike reports whether two findings of one version may be the same: they are near each other and share half of the
// words of the shorter one. No decision may depend on it.
func Alike(a, b reply.Finding) bool {
	x, y := keyOf(a), keyOf(b)
	near := x.Line == 0 || y.Line == 0 || x.Line <= y.End+nearLines && y.Line <= x.End+nearLines
	return near && endsAlike(x.File, y.File) && alike(x.words, y.words)
}

// alike reports whether two texts share half of the shorter one's words. It is false if each has a name of its own.
func alike(a, b string) bool {
	x, y := stems(a), stems(b)
	n, m := names(a), names(b)
	common := each.Count(x, func(word string) bool { return slices.Contains(y, word) })
	return common > 0 && 2*common >= min(len(x), len(y)) && !(hasOwn(n, m) && hasOwn(m, n))
}

// hasOwn reports whether names has a name that neither contains nor is part of one of others.
func hasOwn(names, others []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(others, func(o string) bool {
			return strings.Contains(o, name) || strings.Contains(name, o)
		})
	})
}

// names returns the words of text that look like code: in backquotes, or with a digit, a dot or a capital inside.
func names(text string) []string {
	var names []string
	for word := range strings.FieldsSeq(prose.Cut(text, maxAlike)) {
		name := strings.Trim(word, "`'\"*.,;:!?()")
		if at := place.Read(name); at.Line > 0 {
			name = at.File
		}
		within := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' || r == '.' }
		if strings.ContainsFunc(name, unicode.IsLetter) &&
			(strings.Contains(word, "`") || strings.ContainsFunc(name[1:], within)) {
			names = append(names, name)
		}
	}
	return names
}

// maxAlike is how many bytes of a text alike examines.
const maxAlike = 2000

// stems returns the significant words of text, each once, without their endings.
func stems(text string) []string {
	var stems []string
	for _, word := range prose.Words(prose.Cut(text, maxAlike)) {
		if s := prose.Stem(word); !reply.StopWords.Has(word) && !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}

// opposite reports whether two requests about one place certainly contradict each other: their words are equal except
// for a leading "do not" or "never", for a leading "add" or "remove" and the like, or for swapped words around "instead
// of".
func opposite(a, b key) bool {
	if a.Place != b.Place || a.words == b.words {
		return false
	}
	allowed := func(words string) string { return prohibition().ReplaceAllString(words, "") }
	if allowed(a.words) == b.words || allowed(b.words) == a.words {
		return true
	}
	x, y := strings.Fields(a.words), strings.Fields(b.words)
	if len(x) != len(y) {
		return false
	}
	var differ []int
	for i := range x {
		if x[i] != y[i] {
			differ = append(differ, i)
		}
	}
	switch {
	case len(differ) == 1 && differ[0] == 0:
		return opposites[x[0]] == y[0] || opposites[y[0]] == x[0]
	case len(differ) == 2:
		i, j := differ[0], differ[1]
		return x[i] == y[j] && x[j] == y[i] && strings.Contains(strings.Join(x[i+1:j], " "), "instead of")
	}
	return false
}

var opposites = map[string]string{"add": "remove", "enable": "disable", "allow": "forbid", "increase": "decrease"}

// prohibition matches the words that make a request its opposite.
var prohibition = lazyre.Compile(`^(?:do not|don't|never) `)

// endsAlike reports whether one path equals the other or its end, because reviewers shorten paths.
func endsAlike(a, b string) bool {
	return a == b || a != "" && strings.HasSuffix(b, "/"+a) || b != "" && strings.HasSuffix(a, "/"+b)
}
