package track

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// At is one finding of several lists.
type At struct{ List, Index int }

// Same puts together the findings that are the same, of lists that were made independently of one version: each list is
// one reviewer's. Groups are in the order in which they were first said, members in the order of their lists; each
// finding is in one group, and of a list at most one is in it.
func Same(lists [][]reply.Finding) [][]At {
	type again struct {
		key
		n int // of a list that says the same twice
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

// nearLines is how far apart two reviewers may see one fault: one names the call, the other
// the line below it that fails.
const nearLines = 5

// Alike reports whether two findings of one version may be the same: they are near one another, and share half of the
// words of the shorter one. Nothing may be decided by it.
func Alike(a, b reply.Finding) bool {
	x, y := keyOf(a), keyOf(b)
	near := x.Line == 0 || y.Line == 0 || x.Line <= y.End+nearLines && y.Line <= x.End+nearLines
	return near && endsAlike(x.File, y.File) && alike(x.words, y.words)
}

// alike reports whether two texts share half of the words of the shorter one, and not each has a name that the other lacks.
func alike(a, b string) bool {
	x, y := stems(a), stems(b)
	n, m := names(a), names(b)
	common := 0
	for _, word := range x {
		if slices.Contains(y, word) {
			common++
		}
	}
	return common > 0 && 2*common >= min(len(x), len(y)) && !(hasOwn(n, m) && hasOwn(m, n))
}

// hasOwn reports whether names has one that no name of others is part of, or the other way round.
func hasOwn(names, others []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(others, func(o string) bool { return strings.Contains(o, name) || strings.Contains(name, o) })
	})
}

// names returns the words of text that are written as code: between backquotes, or with a digit, a dot, a capital within.
func names(text string) []string {
	var names []string
	for word := range strings.FieldsSeq(prose.Cut(text, maxAlike)) {
		name := strings.Trim(word, "`'\"*.,;:!?()")
		if at := place.Read(name); at.Line > 0 {
			name = at.File
		}
		within := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' || r == '.' }
		if strings.ContainsFunc(name, unicode.IsLetter) && (strings.Contains(word, "`") || strings.ContainsFunc(name[1:], within)) {
			names = append(names, name)
		}
	}
	return names
}

// maxAlike is how much of a text alike looks at, in bytes.
const maxAlike = 2000

// stems returns the words of text that mean something, each once, without their endings.
func stems(text string) []string {
	var stems []string
	for _, word := range prose.Words(prose.Cut(text, maxAlike)) {
		if s := prose.Stem(word); !reply.StopWords.Has(word) && !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}

// opposite reports whether two requests of one place are certainly against one another: their words are equal but for a
// "do not" or "never" that one begins with, for the order that each begins with ("add", "remove"), or for what stands
// around "instead of".
func opposite(a, b key) bool {
	if a.Place != b.Place || a.words == b.words {
		return false
	}
	if rest, forbids := forbidden(a.words); forbids && rest == b.words {
		return true
	}
	if rest, forbids := forbidden(b.words); forbids && rest == a.words {
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

// forbidden returns what text says must not be done; forbids is false for a text that is no prohibition.
func forbidden(text string) (rest string, forbids bool) {
	for _, start := range []string{"do not ", "don't ", "never "} {
		if rest, forbids = strings.CutPrefix(text, start); forbids {
			return rest, true
		}
	}
	return text, false
}

// endsAlike reports whether one path is the other or its end: reviewers shorten them.
func endsAlike(a, b string) bool {
	return a == b || a != "" && strings.HasSuffix(b, "/"+a) || b != "" && strings.HasSuffix(a, "/"+b)
}
