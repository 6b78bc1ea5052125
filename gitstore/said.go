package gitstore

import (
	"errors"
	"fmt"
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
		if line = cleanLine(line); line != "" && !strings.HasPrefix(line, "remote: ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// localLine is the first line of git's own with one of the words, "" for none.
func localLine(err error, words ...string) string {
	for _, line := range localLines(err) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			return strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		}
	}
	return ""
}

// cleanLine makes a line from elsewhere harmless: nothing that does not print, no
// password in a URL.
func cleanLine(line string) string {
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

// lockExists is what git says of a lock file that stays where it is.
const lockExists = ".lock': File exists"

// busy makes git's message about a lock that somebody holds ErrBusy.
func busy(err error) error {
	var exit *GitError
	if errors.As(err, &exit) && strings.Contains(exit.Stderr, lockExists) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
