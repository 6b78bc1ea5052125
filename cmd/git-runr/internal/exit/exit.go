// Package exit says how the program ends: the exit statuses, an error that knows its own and what to
// type next, and the one place that gives any other error its status.
package exit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Status is what a command ends with; the numbers are a contract with scripts.
type Status int

const (
	OK              Status = 0
	NotPassed       Status = 1
	Usage           Status = 2
	Conflict        Status = 3
	Stopped         Status = 4
	Nothing         Status = 5
	NotFound        Status = 10
	State           Status = 11
	Claimed         Status = 12
	Untrusted       Status = 20
	Agent           Status = 30
	Bug             Status = 70
	Busy            Status = 75
	exitInterrupted Status = 130
)

// exitMeanings is the table of `git runr help exit-status` and of the manual.
var exitMeanings = []struct {
	status  Status
	meaning string
}{
	{OK, "done, or the review passed"},
	{NotPassed, "the review did not pass"},
	{Usage, "the command line or a configuration file is wrong"},
	{Conflict, "something changed meanwhile and was left alone"},
	{Stopped, "the run stopped and needs a person"},
	{Nothing, "there was nothing to review"},
	{NotFound, "no such run, review or other thing"},
	{State, "the state of the run or review, or the remote, does not allow it"},
	{Claimed, "claimed by somebody else"},
	{Untrusted, "the repository's commands are not trusted"},
	{Agent, "an agent failed"},
	{Bug, "an error that nobody foresaw"},
	{Busy, "busy, try again"},
	{exitInterrupted, "interrupted"},
}

// Help is the text of `git runr help exit-status`.
func Help() string {
	var b strings.Builder
	for _, e := range exitMeanings {
		safetext.Fprintf(&b, "%4d  %s\n", e.status, e.meaning)
	}
	return b.String()
}

// Problem is an error that knows its exit status and what to type next.
type Problem struct {
	Status Status
	Msg    string   // one line; empty when the command has said everything itself
	Hint   []string // lines to type or to read next
	err    error    // what it wraps, or nil
}

func (p *Problem) Error() string { return p.Msg }
func (p *Problem) Unwrap() error { return p.err }

// Problemf makes a problem; %w in format wraps as in fmt.Errorf.
func Problemf(status Status, format string, args ...any) *Problem {
	err := fmt.Errorf(format, args...)
	return &Problem{Status: status, Msg: err.Error(), err: errors.Unwrap(err)}
}

// WithHint adds lines that say what to type; "" is none. What stands behind three blanks is what the line is for,
// and goes before it, so that the line is pasted as it stands.
func (p *Problem) WithHint(lines ...string) *Problem {
	for _, line := range lines {
		command, what, explained := strings.Cut(line, "   ")
		switch {
		case explained:
			p.Hint = append(p.Hint, what+":", "  "+command)
		case line != "":
			p.Hint = append(p.Hint, line)
		}
	}
	return p
}

// With ends the program with status and without a word more: the result of
// the command, already shown, is the explanation.
func With(status Status) *Problem { return &Problem{Status: status} }

// sentinel gives the status of errors that other packages tell apart with
// errors.Is. The first one that matches counts.
type sentinel struct {
	is     error
	status Status
	hint   string
}

var sentinels = []sentinel{
	{gitstore.ErrNoGit, NotFound, "install git 2.39 or newer"},
	{gitstore.ErrNotRepository, NotFound, "cd into a repository, or: git runr -C DIR …"},
	{gitstore.ErrUnopened, Usage, ""},
	{gitstore.ErrNoIdentity, Usage, "git config --global user.name \"Your Name\" && git config --global user.email you@example.com"},
	{gitstore.ErrPlace, Usage, "git config runr.loop.worktrees PATH names another place"},
	{gitstore.ErrRefName, Usage, ""},
	{gitstore.ErrTampered, Stopped, ""},
	{gitstore.ErrUnborn, Nothing, "make a first commit"},
	{gitstore.ErrBusy, Busy, ""},
	{gitstore.ErrLostRace, Busy, "try again"},
	{gitstore.ErrKilled, Busy, "try again; where nobody ended it, the machine may be short of memory"},
	{gitstore.ErrNewerFormat, State, "update git-runr"},
	{gitstore.ErrDirty, Conflict, ""},
	{gitstore.ErrDeletions, Conflict, ""},
	{gitstore.ErrUnmerged, Conflict, "resolve them and git add them, then the same command again"},
	{gitstore.ErrConflict, Conflict, ""},
	{gitstore.ErrBare, State, ""},
	{gitstore.ErrNoChange, Nothing, ""},
	{gitstore.ErrRemote, Busy, ""},
	{gitstore.ErrCorrupt, NotFound, "git runr fsck names what is damaged, git runr sync fetches it again"},
	{gitstore.ErrWriterName, Usage, "give one like ci/build: GIT_RUNR_WRITER=ci/build, or git config runr.writer ci/build"},
	{gitstore.ErrSign, Usage, "mend what signs your commits, or leave the records of git-runr unsigned: git config runr.sign false"},
	{gitstore.ErrBrokenRef, State, "git fsck names what is damaged; git reflog shows where the branch was: git update-ref REF COMMIT"},
	{gitstore.ErrIrregular, State, "move it away, then the same command again"},
	{gitstore.ErrNotFound, NotFound, ""},
	{context.Canceled, exitInterrupted, ""},
	{context.DeadlineExceeded, Busy, ""},
	{errors.ErrUnsupported, State, ""},
	{fs.ErrPermission, State, "nothing was recorded; make the repository writable and try again"},
	{syscall.ENOSPC, Busy, "free some disk space and try again"},
	{syscall.EFBIG, Busy, "free some disk space, or raise the limit of a file's size (ulimit -f), and try again"},
	{syscall.EDQUOT, Busy, "free some of your quota of the disk and try again"},
	{syscall.EMFILE, Busy, "allow more open files (ulimit -n) and try again"},
	{syscall.ENFILE, Busy, "the system has no more open files to give; try again"},
	{syscall.ENOMEM, Busy, "free some memory, or raise its limit (ulimit -v), and try again"},
	{syscall.EAGAIN, Busy, "end some processes, or raise their limit (ulimit -u), and try again"},
	{syscall.EROFS, State, "nothing was recorded; the file system is read-only"},
}

// bugHint ends the report of an error that nobody foresaw.
const bugHint = "this should not happen: please report it with the output of `git runr --version`"

// Classify turns any error into a problem: a problem in its chain counts first,
// since whoever made it knew most, then the sentinels.
func Classify(err error) *Problem {
	var known *Problem
	var state *record.StateError
	var unfinished *gitstore.UnfinishedError
	var input *record.InputError
	var missing *record.NotFoundError
	var refused *gitstore.RefusedError
	var altered *gitstore.AlteredError
	switch {
	case errors.As(err, &known):
		return &Problem{Status: known.Status, Msg: fullMessage(err, known), Hint: known.Hint}
	case errors.As(err, &altered):
		return Problemf(Stopped, "%w", err).WithHint(checking.GuardLines()...)
	case errors.As(err, &state):
		return stateProblem(err, state)
	case errors.As(err, &unfinished) && unfinished.While != "":
		return Problemf(State, "%w", err).WithHint(BegunLines...)
	case errors.As(err, &unfinished):
		return Problemf(State, "%w", err).WithHint(strings.Join(Endings(unfinished.Operation), ", or to give it up ") + "; then the same command again")
	case errors.As(err, &missing) && len(missing.Among) > 0:
		return Problemf(Usage, "%w", err).WithHint(missing.Lines()...)
	case errors.As(err, &missing):
		return Problemf(NotFound, "%w", err).WithHint(toFind(missing)...)
	case errors.As(err, &input):
		return Problemf(Usage, "%w", err)
	case errors.As(err, &refused):
		return Problemf(State, "%w", err).WithHint(Refused(refused).Hint...)
	}
	for _, s := range sentinels {
		switch {
		case !errors.Is(err, s.is):
		case s.status == exitInterrupted:
			return Problemf(s.status, "interrupted")
		default:
			return Problemf(s.status, "%w", err).WithHint(cmp.Or(hintOf(err), s.hint))
		}
	}
	bug := Problemf(Bug, "%w", err)
	var path *fs.PathError
	var call *os.SyscallError
	if errors.As(err, &path) || errors.As(err, &call) { // the operating system said no
		return bug
	}
	return bug.WithHint(bugHint)
}

// toFind are the commands that list what may have been meant, or make the first.
func toFind(missing *record.NotFoundError) (lines []string) {
	for _, what := range []struct{ name, list, make string }{
		{"run", "git runr status", "git runr run TASK.md"},
		{"review", "git runr inbox list --status all", "git runr review"},
	} {
		switch {
		case missing.Older || !strings.Contains(missing.What, what.name): // what is older is told of already
		case missing.ID == record.Latest:
			lines = append(lines, what.make)
		default:
			lines = append(lines, what.list)
		}
	}
	return lines
}

// hintOf is the command that gets an object that is missing, or takes away a lock that
// may be nobody's; "" for any other error.
func hintOf(err error) string {
	var object *gitstore.MissingError
	if errors.As(err, &object) {
		return object.Try
	}
	var locked *gitstore.LockedError
	var away *gitstore.RemoteLockError
	var said *gitstore.GitError
	path, there := "", "there"
	switch {
	case errors.As(err, &away):
		path, there = away.Path, "there, on the machine of the remote"
	case errors.As(err, &locked):
		path = locked.Path
	case errors.As(err, &said):
		path = said.Locked()
	}
	if line, ok := safetext.CommandLine("rm", path); ok && path != "" {
		return line + "   when no git is at work " + there
	}
	return ""
}

// stateProblem tells a claim of somebody else's from any other state in the way.
func stateProblem(err error, state *record.StateError) *Problem {
	if state.Holder != "" {
		return Problemf(Claimed, "%w", err)
	}
	refused := Problemf(State, "%w", err)
	if line := state.Reopen(); line != "" {
		refused.WithHint(line)
	}
	return refused
}

// BegunLines show an operation of git that was begun while an agent worked, move it aside, and accept it.
var BegunLines = []string{"git runr guard", "git runr guard restore --all", "git runr guard accept"}

// Endings are the lines that end what somebody has begun in a working tree, as
// gitstore.Repo names it: go on with it, give it up.
func Endings(operation string) []string {
	if operation == "bisect" {
		return []string{"git bisect reset"}
	}
	return []string{"git " + operation + " --continue", "git " + operation + " --abort"}
}

// Refused is a remote's no: what it said, that nothing is lost, and what to type.
func Refused(refused *gitstore.RefusedError) *Problem {
	return Problemf(State, "%w", refused).WithHint(
		"nothing is lost: what was recorded stays in this clone",
		"when the remote takes and shows refs/runr/* and refs/notes/runr: git runr sync "+refused.Remote)
}

// fullMessage keeps what was wrapped around a problem, but adds no words to one
// that has none.
func fullMessage(err error, known *Problem) string {
	if known.Msg == "" {
		return ""
	}
	return err.Error()
}

// Report says what err is and returns the exit status; nil is 0 and says nothing.
// As text it goes to stderr. With jsonOut it is one object on stdout, where the
// script that asked for JSON reads its one document, and stderr stays empty.
func Report(err error, stdout, stderr io.Writer, jsonOut bool) int {
	if err == nil {
		return int(OK)
	}
	p := Classify(err)
	switch {
	case p.Msg == "":
	case jsonOut:
		writeProblemJSON(stdout, p)
	default:
		writeProblemText(stderr, p)
	}
	return int(p.Status)
}

func writeProblemText(w io.Writer, p *Problem) {
	var b strings.Builder
	safetext.Fprintf(&b, "git-runr: %s\n", p.Msg)
	for _, line := range p.Hint {
		safetext.Fprintf(&b, "  %s\n", line)
	}
	w.Write([]byte(b.String())) // at once, so that another writer's line does not come between
}

// problemJSON is the shape of an error in --json.
type problemJSON struct {
	V     int `json:"v"`
	Error struct {
		Status  Status   `json:"status"`
		Message string   `json:"message"`
		Hint    []string `json:"hint"` // never null
	} `json:"error"`
}

func writeProblemJSON(w io.Writer, p *Problem) {
	out := problemJSON{V: 1}
	out.Error.Status = p.Status
	out.Error.Message = safetext.Line(p.Msg)
	out.Error.Hint = []string{}
	for _, line := range p.Hint {
		out.Error.Hint = append(out.Error.Hint, strings.TrimSpace(safetext.Line(line)))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(out)
}
