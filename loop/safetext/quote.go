package safetext

import (
	"fmt"
	"regexp"
	"strings"
)

// ShellWord returns arg as one word that sh, bash, zsh and fish all read as arg: unchanged, in
// double quotes if it is plain words with spaces between them, else in single quotes.
//
// The second result is false if arg must not be offered for pasting: a control character acts
// on the line editor before any quote takes effect (^U and ^Z in single quotes still let the
// rest run), and an invisible character hides what will run.
func ShellWord(arg string) (string, bool) {
	switch {
	case Line(arg) != arg:
		return "", false
	case plainWord(arg):
		return arg, true
	case strings.Contains(arg, " ") && plain(strings.ReplaceAll(arg, " ", "")):
		return `"` + arg + `"`, true // inside double quotes these characters have no meaning for any shell
	}
	return quoted(arg), true
}

// CommandLine joins argv to one line for pasting. It returns false if argv is empty or one of
// its words must not be offered (see ShellWord).
func CommandLine(argv ...string) (string, bool) {
	words := make([]string, len(argv))
	for i, arg := range argv {
		word, ok := ShellWord(arg)
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

// ShellLine is CommandLine, except that a word which must not be pasted is replaced by a call of
// printf with visible escapes. A newline at the end of such a word is lost.
func ShellLine(argv ...string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		word, ok := ShellWord(arg)
		if !ok {
			var b strings.Builder
			for n, c := range []byte(arg) {
				if plainWord(string(c)) && (n > 0 || c != '-') {
					b.WriteByte(c)
				} else {
					fmt.Fprintf(&b, `\%03o`, c)
				}
			}
			word = `"$(printf '` + b.String() + `')"`
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// PortableCommand returns cmd, a text for "sh -c", as a line with the same effect in sh, bash,
// zsh and fish: cmd itself if it is plain words, else sh -c with cmd in quotes. It returns
// false if cmd is empty or must not be offered (see ShellWord).
func PortableCommand(cmd string) (line string, ok bool) {
	word, ok := ShellWord(cmd)
	fields := strings.Fields(cmd)
	if !ok || len(fields) == 0 {
		return "", false
	}
	if strings.Contains(fields[0], "=") || strings.Contains(ownWords, " "+fields[0]+" ") {
		return "sh -c " + word, true
	}
	for _, field := range fields {
		if !plainWord(field) {
			return "sh -c " + word, true
		}
	}
	return cmd, true
}

// ownWords are builtin words of a shell that other shells treat differently, or that would
// affect the user's own shell.
const ownWords = " . alias and autoload begin bg bind bindkey break builtin case cd command complete continue" +
	" coproc declare dirs disable disown do done echo elif else enable end esac eval exec exit export fc fg fi for" +
	" foreach function functions hash help history if in jobs let local logout nocorrect noglob not or popd print" +
	" pushd read readonly rehash repeat return select set setopt shift shopt source suspend switch then time times" +
	" trap type typeset ulimit umask unalias unset unsetopt until vared wait whence where while "

// quoted puts everything in single quotes except ' and \, which are written outside after a
// backslash: fish reads \ inside single quotes as an escape, the other shells do not.
func quoted(arg string) string {
	if arg == "" {
		return "''"
	}
	return regexp.MustCompile(`[^'\\]+`).ReplaceAllString(strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(arg), "'$0'")
}

// plainWord reports whether arg needs no quotes. The first character is more restricted: zsh
// expands =name, and fish and job control interpret a leading %.
func plainWord(arg string) bool {
	return arg != "" && !strings.ContainsRune("@%+=:,", rune(arg[0])) && plain(arg)
}

// plain reports whether no character of s has a meaning for a shell.
func plain(s string) bool { return strings.Trim(s, plainCharacters) == "" }

const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
