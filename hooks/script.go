package hooks

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

const (
	beginMark = "# >>> git-runr >>>"
	endMark   = "# <<< git-runr <<<"
	takeOut   = " \"git runr hooks uninstall\" takes this out\n" // ends the line of beginMark
	// skeleton is the content of a hook file of our own besides the block. Its comment distinguishes it from an empty
	// script.
	skeleton = "#!/bin/sh\n# Made by git-runr: \"git runr hooks uninstall\" removes it.\n"
)

var errDamaged = errors.New("the marker lines of its git-runr block do not pair")

// closedGate is the shell code for a gate in this clone whose program is gone.
const closedGate = " *) echo 'git runr: program not found, push refused; to push without the gate: git " +
	"push --no-verify'; exit 1 ;;"

// orRefuse stops the push unless the gate let it through; the gate itself prints its reason.
const orRefuse = ` >&2 2>/dev/null || { [ $? -eq 1 ] || echo 'git runr: the gate did not finish, push refused; to push without it: git push --no-verify' >&2; exit 1; }`

// block returns the text that calls program for hook. If the program is gone, for example after an upgrade, the text
// looks for it on PATH. Only an absolute result counts: with "." on PATH the repository's own files would run.
func block(hook, program string) string {
	call := fedCall
	if !isFed(hook) {
		call = unfedCall
	}
	return beginMark + takeOut + call(hook, program) + endMark + "\n"
}

// inARow is true in the shell during a rebase, which runs post-commit for every commit, so the shell tests it before it
// starts the program. It tests the directory in GIT_DIR, else the one of a main worktree; for other worktrees the
// program tests.
const inARow = `[ -e "${GIT_DIR:-.git}/rebase-merge" ] || [ -e "${GIT_DIR:-.git}/rebase-apply/rebasing" ]`

// unfedCall calls program for a hook without standard input. If program exists, it starts no other process and sets no
// variable.
func unfedCall(hook, program string) string {
	words := " hooks run " + hook + argument(hook) + " </dev/null"
	find, known := "command -v git-runr || git config "+ProgramKey, ""
	if program != "" {
		find, known = "command -v git-runr", "  elif [ -x "+quote(program)+" ]; then "+quote(program)+words+"\n"
	}
	return "{ if " + inARow + "; then :\n" + known +
		"  else ( p=$(" + find + `); case $p in /*) "$p"` + words + " ;; esac ); fi; } 2>/dev/null || :\n"
}

// fedCall calls program for a hook with standard input. It reads the input to its end and gives it to the program and
// to the rest of the script. A gate whose program is gone, or was killed, refuses the push, except in a file shared
// with others, who may never have had the program.
func fedCall(hook, program string) string {
	find := "( p=" + quote(program) + "; [ -x \"$p\" ] || p=$(command -v git-runr)\n"
	if program == "" {
		find = "( p=$(command -v git-runr || git config " + ProgramKey + ")\n"
	}
	otherwise, tail := "", " 2>/dev/null || :\n"
	if hook == PrePush { // a gate reports that nobody looked at the push
		otherwise, tail = " *) echo 'git runr: program not found, this push was not checked' ;;", orRefuse+"\n"
		if program != "" {
			otherwise = closedGate
		}
	}
	return "git_runr_in=$(cat 2>/dev/null) || :\n" + find +
		`  case $p in /*) printf '%s\n' "$git_runr_in" | "$p" hooks run ` + hook + argument(hook) + " ;;" + otherwise +
		" esac )" + tail +
		"if [ -n \"$git_runr_in\" ]; then exec <<git_runr_end\n$git_runr_in\ngit_runr_end\n" +
		"else exec </dev/null; fi; unset git_runr_in\n"
}

// callText returns in words what a hook that is not a shell script has to call.
func callText(hook string) string {
	text := "a call of git-runr hooks run " + hook
	if hook != PostCommit {
		text += ", with the hook's own arguments"
	}
	if isFed(hook) {
		text += " and its standard input"
	}
	if hook == PrePush {
		text += "; the hook has to fail if the call fails"
	}
	return text + "\n"
}

// argument returns the shell words that pass on a hook's arguments.
func argument(hook string) string {
	if hook == PostCommit {
		return ""
	}
	return ` "$@"`
}

// programOf returns the program that a block calls, and reports whether the block is what this version would write for
// it.
func programOf(hook, text string) (string, bool) {
	program := calledIn(hook, text)
	return program, strings.TrimSuffix(text, "\n") == strings.TrimSuffix(block(hook, program), "\n")
}

// calledIn returns the program in the text that this version writes for hook, or "".
func calledIn(hook, text string) string {
	if isFed(hook) {
		return quotedAfter(text, "( p=")
	}
	return quotedAfter(text, "elif [ -x ")
}

// quotedAfter returns the text that quote had made one word of, if that word follows before, or "".
func quotedAfter(text, before string) string {
	var word strings.Builder
	_, rest, found := strings.Cut(text, before+"'")
	for found {
		var part string
		part, rest, _ = strings.Cut(rest, "'")
		word.WriteString(part)
		if rest, found = strings.CutPrefix(rest, `\''`); found {
			word.WriteByte('\'')
		}
	}
	return word.String()
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// markLine matches a line that begins or ends a block.
var markLine = lazyre.Compile(`(?m)^(?:` + beginMark + `|` + endMark + `).*\n?`)

// cutBlock returns our block of a script, with its line ending, and the text around it. The block is "" if there is
// none. It returns errDamaged if markers are missing, doubled or in the wrong order.
func cutBlock(text string) (before, block, after string, err error) {
	marks := markLine().FindAllStringIndex(text, -1)
	if len(marks) == 0 {
		return text, "", "", nil
	}
	if len(marks) != 2 || !strings.HasPrefix(text[marks[0][0]:], beginMark) ||
		!strings.HasPrefix(text[marks[1][0]:], endMark) {
		return text, "", "", errDamaged
	}
	start, end := marks[0][0], marks[1][1]
	return text[:start], text[start:end], text[end:], nil
}

// withBlock returns text with block in it: in the place of an existing block, else after the comment lines at the top.
func withBlock(text, block string) (string, error) {
	before, old, after, err := cutBlock(text)
	if err != nil {
		return "", err
	}
	if old == "" {
		before = topComments().FindString(text)
		after = text[len(before):]
		if before != "" && !strings.HasSuffix(before, "\n") {
			before, block = before+"\n", strings.TrimSuffix(block, "\n")
		}
	} else if !strings.HasSuffix(old, "\n") {
		block = strings.TrimSuffix(block, "\n")
	}
	return before + block + after, nil
}

// withoutBlock reverses withBlock exactly.
func withoutBlock(text string) (string, error) {
	before, old, after, err := cutBlock(text)
	if old != "" && !strings.HasSuffix(old, "\n") {
		before = strings.TrimSuffix(before, "\n")
	}
	return before + after, err
}

// Ours reports whether Install or Uninstall changed a hook from was to is: only the block differs, and it calls
// program.
func Ours(hook, program string, was, is []byte) bool {
	before, err := withoutBlock(string(was))
	after, afterErr := withoutBlock(string(is))
	if err != nil || afterErr != nil || before != after && (len(was) > 0 || after != skeleton) {
		return false
	}
	_, block, _, _ := cutBlock(string(is))
	if block == "" {
		_, had, _, _ := cutBlock(string(was))
		return had != "" // it was removed
	}
	calls, current := programOf(hook, block)
	return current && (calls == program || calls == "")
}

// topComments matches the comment lines at the top, including the #! line.
var topComments = lazyre.Compile(`^(?:#.*(?:\n|$))*`)

// interpreter parses the #! line. It returns the file that the kernel starts, and the name of the program that reads
// the script, which may be an argument of env or busybox. Both are "" without such a line; git then runs sh.
func interpreter(text string) (file, name string) {
	line, _, _ := strings.Cut(text, "\n")
	words := strings.FieldsFunc(strings.TrimPrefix(line, "#!"), func(r rune) bool { return r == ' ' || r == '\t' })
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return "", ""
	}
	file, words[0] = words[0], path.Base(words[0])
	for len(words) > 1 && (words[0] == "env" || words[0] == "busybox" || strings.HasPrefix(words[0], "-") ||
		strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	return file, path.Base(words[0])
}

// selfExec matches a script that executes itself in another language.
var selfExec = lazyre.Compile("(?m)^[^#\\n]*\\bexec\\b[^\\n(`]*\\$\\{?0\\b")

// notShell returns why a block of shell cannot be added to the script, or nil.
func notShell(text string) error {
	if strings.Contains(text, "\x00") {
		return errors.New("it is not a text file")
	}
	switch _, name := interpreter(text); name {
	case "", "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh":
	default:
		return fmt.Errorf("it is written for %q, not for a shell", name)
	}
	if selfExec().MatchString(text) {
		return errors.New("it hands itself over to another interpreter")
	}
	return nil
}

// calls reports whether the text has our block for hook, or a line other than a comment that names us and then the
// hook: a call that a person added, in a script or in a manager's configuration.
func calls(text, hook string) bool {
	if _, block, _, _ := cutBlock(text); strings.Contains(block, "hooks run "+hook) {
		return true
	}
	for line := range strings.Lines(text) {
		_, after, found := strings.Cut(line, "runr")
		if found && strings.Contains(after, hook) && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return true
		}
	}
	return false
}
