package gitdir

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// localLines returns the lines that git itself printed, without those of a server.
func localLines(err error) []string {
	var exit *GitError
	if !errors.As(err, &exit) {
		return nil
	}
	var lines []string
	for line := range strings.Lines(exit.Stderr) {
		if line = CleanLine(line); line != "" && !strings.HasPrefix(line, "remote: ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// LocalLine returns the first line of git's own that contains one of words, or "".
func LocalLine(err error, words ...string) string {
	for _, line := range localLines(err) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			return strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		}
	}
	return ""
}

// CleanLine makes a line from elsewhere safe to print: it replaces unprintable characters and
// removes a password from a URL.
func CleanLine(line string) string {
	line = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, line)
	if scheme, rest, ok := strings.Cut(line, "://"); ok {
		if user, host, ok := strings.Cut(rest, "@"); ok && !strings.ContainsAny(user, "/ ") {
			line = scheme + "://" + host
		}
	}
	return strings.TrimSpace(line)
}

// LockExists is the end of git's message about a lock file in its way.
const LockExists = ".lock': File exists"
