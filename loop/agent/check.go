package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

const (
	defaultCheckTimeout = 10 * time.Minute
	checkOutput         = 256 << 10 // bytes of a check's output that are kept as evidence
)

// RunCheck runs c by sh -c in dir and returns the evidence; tree is recorded as the tree it
// ran on. The exit code is the shell's (127 for an unknown command). Reason is "" for a
// check that ended by itself, otherwise timeout, cancelled, signal:NAME, not_found (no sh,
// no dir) or not_started; with the last two, Output ends with the cause. Output is passed
// through WithoutMachine. If the first program is not on PATH, nothing is started and
// Reason is record.NotInstalled.
func RunCheck(ctx context.Context, c runplan.Check, dir string, env []string, tree string) record.CheckResult {
	return runArgs(ctx, c, []string{"sh", "-c", c.Command}, dir, env, tree)
}

func runArgs(ctx context.Context, c runplan.Check, args []string, dir string, env []string,
	tree string) record.CheckResult {
	if !Runnable(c.Command, env) {
		name := firstProgram(c.Command)
		return record.CheckResult{
			Name: c.Name, Command: c.Command, Tree: tree, ExitCode: 127, Reason: record.NotInstalled,
			NotRun: name + " is not installed",
		}
	}
	res, err := Run(ctx, Command{
		Args:      args,
		Dir:       dir,
		Env:       env,
		Timeout:   cmp.Or(time.Duration(c.Timeout), defaultCheckTimeout),
		MaxOutput: checkOutput,
		Merge:     true,
	})
	out := record.CheckResult{Name: c.Name, Command: c.Command, Tree: tree, ExitCode: res.ExitCode}
	out.Output = WithoutMachine(plain(string(res.Stdout)), dir, env)
	out.Duration = duration.Duration(res.Duration)
	out.Reason = checkReason(res, err)
	if err != nil {
		out.ExitCode = -1
		out.Output += WithoutMachine(fmt.Sprintf("%v\n", err), "", env)
	}
	return out
}

func checkReason(res Result, err error) string {
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "not_found"
	case res.TimedOut:
		return "timeout"
	case res.Cancelled:
		return "cancelled"
	case err != nil:
		return "not_started"
	case res.Signal != "":
		return "signal:" + res.Signal
	}
	return ""
}

// commandStart matches the start of a command: an optional change of directory, assignments,
// and the program's name.
var commandStart = lazyre.Compile(
	`^(?:cd (?:'[^']*'|` + plainWord + `+) *&& *)?(?:[A-Za-z_][A-Za-z0-9_]*=` + plainWord +
		`*\s+)*([A-Za-z0-9_][A-Za-z0-9_.+-]*)(?:\s|$)`)

const plainWord = `[A-Za-z0-9_./@%+=:,-]`

// firstProgram returns the program that command starts first. It is "" if that cannot be told
// without a shell, for a shell's own words, and for a command that sets PATH.
func firstProgram(command string) string {
	m := commandStart().FindStringSubmatch(strings.TrimSpace(command))
	if m == nil || strings.Contains(m[0], "PATH=") || strings.Contains(shellWords, " "+m[1]+" ") {
		return ""
	}
	return m[1]
}

// Runnable reports whether the program that command starts first is on the PATH of env, or is
// unknown without a shell.
func Runnable(command string, env []string) bool {
	name := firstProgram(command)
	_, err := searchPath(name, lastValue(env, "PATH"))
	return name == "" || !errors.Is(err, ErrNotFound)
}

// shellWords are the keywords and builtins of the shells that sh may be.
const shellWords = "  alias bg break builtin case cd chdir command continue coproc declare dirs disown do done echo " +
	"elif else enable esac eval exec exit" +
	" export false fc fg fi for function getopts hash help if in jobs kill let local logout mapfile popd printf pushd " +
	"pwd read readonly return select" +
	" set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait " +
	"while "
