package checklog

import (
	"cmp"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/prose"
)

// maxOutputLine is the number of bytes of a line that are read.
const maxOutputLine = 500

// outputLines returns the lines of an output without escape sequences. A carriage return
// ends a line too, because progress bars use it.
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

// escapePattern matches a terminal escape sequence: colours, cursor moves, titles, links. An
// unterminated one ends with its line.
var escapePattern = pattern(`\x1b(?:\[[ -?]*[@-~]?|\][^\a\n\x1b]*(?:\a|\x1b\\?)?|[!-~])?`)

func withoutEscapes(s string) string { return escapePattern().ReplaceAllLiteralString(s, "") }

// figure parses a count; ok is false for other text and for numbers of more than six digits.
func figure(digits string) (n int, ok bool) {
	if len(digits) > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// figureWords matches a figure with the word before it and the word after it.
var figureWords = pattern(`(?:([a-z]+)[ :=]+)?\b(\d+)(?: (?:tests? (failed)|([a-z]+)))?`)

// countsIn returns the figures in a line by the word after each in the singular, or else by the word before it:
// "2 failed, 12 total", "failures: 2", "2 tests failed out of 12".
func countsIn(line string) map[string]int {
	counts := map[string]int{}
	for _, m := range figureWords().FindAllStringSubmatch(strings.ToLower(line), -1) {
		n, _ := figure(m[2])
		counts[prose.Singular(cmp.Or(m[3], m[4], m[1]))] += n
	}
	return counts
}

// matches yields the lines that contain hint and match expr, with the groups.
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

// pattern returns a function that compiles an expression at its first use.
var pattern = lazyre.Compile

// maxSaid is the maximum length of Said's result in bytes, which are all ASCII.
const maxSaid = 40

// firstSaid returns the first result that is not empty.
func firstSaid(lines []string, readers ...func([]string) string) string {
	for _, read := range readers {
		if said := read(lines); said != "" {
			return said
		}
	}
	return ""
}

// joinSaid joins two results; b is dropped if both do not fit.
func joinSaid(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	if both := a + ", " + b; len(both) <= maxSaid {
		return both
	}
	return a
}
