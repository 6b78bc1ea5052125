package gitdir

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// localLines are what git itself said, without what a server sent.
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

// LocalLine is the first line of git's own with one of the words, "" for none.
func LocalLine(err error, words ...string) string {
	for _, line := range localLines(err) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			return strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		}
	}
	return ""
}

// CleanLine makes a line from elsewhere harmless: nothing that does not print, no
// password in a URL.
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

// LockExists ends what git says of a lock file that is in its way.
const LockExists = ".lock': File exists"
