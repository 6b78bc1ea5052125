package checklog

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"git-runr/loop/prose"
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

// withoutEscapes takes out terminal escape sequences: colours, cursor moves, titles, links.
func withoutEscapes(s string) string {
	before, rest, found := strings.Cut(s, "\x1b")
	if !found {
		return s
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		before, rest, found = strings.Cut(afterEscape(rest), "\x1b")
	}
	b.WriteString(before)
	return b.String()
}

// afterEscape is what follows an escape sequence whose ESC was cut off already. One
// that does not end, ends with its line.
func afterEscape(s string) string {
	switch {
	case s == "":
		return s
	case s[0] == '[':
		end := strings.IndexFunc(s[1:], func(r rune) bool { return r < ' ' || r >= '@' })
		if end < 0 {
			return ""
		}
		if r := s[1+end]; r < ' ' || r > '~' {
			return s[1+end:]
		}
		return s[2+end:]
	case s[0] == ']':
		end := strings.IndexAny(s, "\a\n\x1b")
		if end < 0 {
			return ""
		}
		if s[end] == '\x1b' {
			return strings.TrimPrefix(s[end+1:], `\`)
		}
		return strings.TrimPrefix(s[end:], "\a")
	case s[0] > ' ' && s[0] <= '~':
		return s[1:]
	}
	return s
}

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
	for _, line := range lines {
		if !strings.Contains(line, hint) {
			continue
		}
		if m := expr.FindStringSubmatch(line); m != nil {
			n, _ := figure(m[1])
			sum += n
		}
	}
	return sum
}

// pattern compiles an expression when it is first needed.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// maxSaid is the length of the longest answer of Said, in bytes; all of them are ASCII.
const maxSaid = 40
