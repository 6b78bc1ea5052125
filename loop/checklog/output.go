package checklog

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/prose"
)

// maxOutputLine is how much of a line is read, in bytes.
const maxOutputLine = 500

// outputLines are the lines of an output without escape sequences. A carriage return
// ends a line as well: progress is drawn with it.
func outputLines(output string) []string {
	plain := strings.ReplaceAll(withoutEscapes(output), "\r", "\n")
	var lines []string
	for line := range strings.Lines(plain) {
		if line = strings.TrimRight(line, "\n \t"); line != "" {
			lines = append(lines, prose.Cut(line, maxOutputLine))
		}
	}
	return lines
}

// escapePattern is a terminal escape sequence: colours, cursor moves, titles, links. One that
// does not end, ends with its line.
var escapePattern = pattern(`\x1b(?:\[[ -?]*[@-~]?|\][^\a\n\x1b]*(?:\a|\x1b\\?)?|[!-~])?`)

func withoutEscapes(s string) string { return escapePattern().ReplaceAllLiteralString(s, "") }

// figure reads a count; ok is false for what is none, and for one that nobody counts by.
func figure(digits string) (n int, ok bool) {
	if len(digits) > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// sumOf adds up the figures that the first group of expr finds in the lines with hint.
func sumOf(lines []string, hint string, expr *regexp.Regexp) int {
	sum := 0
	for _, m := range matches(lines, hint, expr) {
		n, _ := figure(m[1])
		sum += n
	}
	return sum
}

// matches yields the lines with hint that expr matches, and what its groups hold.
func matches(lines []string, hint string, expr *regexp.Regexp) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, line := range lines {
			if !strings.Contains(line, hint) {
				continue
			}
			if m := expr.FindStringSubmatch(line); m != nil && !yield(line, m) {
				return
			}
		}
	}
}

// pattern compiles an expression when it is first needed.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// maxSaid is the length of the longest answer of Said, in bytes; all of them are ASCII.
const maxSaid = 40

// firstSaid is the first answer of readers that say something.
func firstSaid(lines []string, readers ...func([]string) string) string {
	for _, read := range readers {
		if said := read(lines); said != "" {
			return said
		}
	}
	return ""
}

// joinSaid joins two answers if there is room for both.
func joinSaid(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	if both := a + ", " + b; len(both) <= maxSaid {
		return both
	}
	return a
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
