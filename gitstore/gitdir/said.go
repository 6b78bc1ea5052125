package gitdir

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// LocalLine returns the first line that contains one of words and that git itself printed, not a server, or "".
func LocalLine(err error, words ...string) string {
	var exit *GitError
	if !errors.As(err, &exit) {
		return ""
	}
	for line := range strings.Lines(exit.Stderr) {
		line = CleanLine(line)
		said := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
		if said && !strings.HasPrefix(line, "remote: ") {
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
