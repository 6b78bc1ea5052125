package main

import (
	"strings"

	"git-runr/loop/safetext"
)

// shellQuote writes arg as one word that sh, bash, zsh and fish all read as arg.
//
// The second result is false when arg must not be offered for pasting: a control
// character acts on the line editor before any quote counts (^U and ^Z in single
// quotes still let the rest run), and an invisible one hides what will run.
func shellQuote(arg string) (string, bool) {
	if safetext.Line(arg) != arg {
		return "", false
	}
	if plainWord(arg) {
		return arg, true
	}
	return quoted(arg), true
}

// commandLine joins argv to one line that can be pasted. It is false when argv is
// empty or one of its words must not be offered (see shellQuote).
func commandLine(argv ...string) (string, bool) {
	words := make([]string, len(argv))
	for i, arg := range argv {
		word, ok := shellQuote(arg)
		if !ok {
			return "", false
		}
		words[i] = word
	}
	// A first word like a=b would be an assignment.
	if len(argv) > 0 && strings.Contains(words[0], "=") {
		words[0] = quoted(argv[0])
	}
	return strings.Join(words, " "), len(argv) > 0
}

// quoted puts everything in single quotes but ' and \, which stand outside behind
// a backslash: fish reads \ inside single quotes as an escape, the others do not.
func quoted(arg string) string {
	var b strings.Builder
	for arg != "" {
		i := strings.IndexAny(arg, `'\`)
		if i == 0 {
			b.WriteString(`\` + arg[:1])
			arg = arg[1:]
			continue
		}
		if i < 0 {
			i = len(arg)
		}
		b.WriteString("'" + arg[:i] + "'")
		arg = arg[i:]
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// plainWord reports whether arg needs no quotes. The first character is narrower:
// zsh expands =name, and fish and job control read a leading %.
func plainWord(arg string) bool {
	if arg == "" || strings.ContainsRune("@%+=:,", rune(arg[0])) {
		return false
	}
	for i := range len(arg) {
		if !isAlphanumeric(arg[i]) && !strings.ContainsRune("_@%+=:,./-", rune(arg[i])) {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
