package builtin

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/prose"
)

// clip shortens s to at most n bytes, at a character boundary, and appends "…".
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return prose.Cut(s, n) + "…"
}

// lazy returns a pattern that is compiled at its first use, to keep the program's start fast.
var lazy = lazyre.Compile

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// oneLine converts s to one line of at most n bytes without control characters.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return clip(strings.Join(strings.Fields(s), " "), n)
}

func nonBlank(lines []string) []string {
	var kept []string
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return kept
}
