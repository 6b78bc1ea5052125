// Package exit defines how the program ends: the exit statuses; Problem, an error with a status and hints about what
// to type next; and Classify, which gives every other error its status.
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
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Status is an exit status. Scripts rely on the numbers.
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

// exitMeanings is the table of git runr help exit-status and of the manual.
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
	{Bug, "an internal error"},
	{Busy, "busy, try again"},
	{exitInterrupted, "interrupted"},
}

// Help returns the text of git runr help exit-status.
func Help() string {
	var b strings.Builder
	for _, e := range exitMeanings {
		safetext.Fprintf(&b, "%4d  %s\n", e.status, e.meaning)
	}
	return b.String()
}

// Problem is an error with an exit status and hints about what to type next.
type Problem struct {
	Status Status
	Msg    string   // one line; empty if the command has already printed everything
	Hint   []string // lines to type or to read
	err    error    // the wrapped error, or nil
}

func (p *Problem) Error() string { return p.Msg }
func (p *Problem) Unwrap() error { return p.err }

// Problemf returns a problem. %w in format wraps an error as in fmt.Errorf.
func Problemf(status Status, format string, args ...any) *Problem {
	err := fmt.Errorf(format, args...)
	return &Problem{Status: status, Msg: err.Error(), err: errors.Unwrap(err)}
}

// WithHint adds lines to type, except empty ones. If a line has an explanation after three spaces, that goes on a
// line of its own before it, so that the command can be copied whole.
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

// With returns an error that ends the program with status and prints nothing, because the command has already shown
// its result.
func With(status Status) *Problem { return &Problem{Status: status} }

// sentinel is the status and hint for errors that errors.Is recognizes. The first match counts.
type sentinel struct {
	is     error
	status Status
	hint   string
}

var sentinels = []sentinel{
	{gitstore.ErrNoGit, NotFound, "install git 2.39 or newer"},
	{gitstore.ErrNotRepository, NotFound, "cd into a repository, or: git runr -C DIR …"},
	{gitstore.ErrUnopened, Usage, "git-runr guard   if an agent may have changed it, or mend it in an editor"},
	{gitstore.ErrNoIdentity, Usage,
		"git config --global user.name \"Your Name\" && git config --global user.email you@example.com"},
	{gitstore.ErrPlace, Usage, "git config runr.loop.worktrees PATH sets another place"},
	{gitstore.ErrRefName, Usage, ""},
	{gitstore.ErrTampered, Stopped, ""},
	{gitstore.ErrUnborn, Nothing, "make a first commit"},
	{gitstore.ErrBusy, Busy, ""},
	{gitstore.ErrLostRace, Busy, "try again"},
	{syscall.EFBIG, Busy, "free some disk space, or raise the file size limit (ulimit -f), and try again"},
	{gitstore.ErrKilled, Busy, "try again; if nobody killed it, the machine may be short of memory"},
	{gitstore.ErrNewerFormat, State, "update git-runr"},
	{gitstore.ErrDirty, Conflict, ""},
	{gitstore.ErrDeletions, Conflict, ""},
	{gitstore.ErrUnmerged, Conflict, "resolve them and git add them, then the same command again"},
	{gitstore.ErrConflict, Conflict, ""},
	{gitstore.ErrBare, State, ""},
	{gitstore.ErrNoChange, Nothing, ""},
	{gitstore.ErrRemote, Busy, ""},
	{gitstore.ErrCorrupt, NotFound, "git runr fsck names what is damaged, git runr sync fetches it again"},
	{gitstore.ErrWriterName, Usage, "use one like ci/build: GIT_RUNR_WRITER=ci/build, or git config runr.writer ci/build"},
	{gitstore.ErrSign, Usage,
		"repair commit signing, or leave the records of git-runr unsigned: git config runr.sign false"},
	{gitstore.ErrBrokenRef, State,
		"git fsck names what is damaged; git reflog shows where the branch was: git update-ref REF COMMIT"},
	{gitstore.ErrIrregular, State, "move it away, then the same command again"},
	{gitstore.ErrNoRevision, NotFound, "git log --oneline --all   to see the commits"},
	{gitstore.ErrNotFound, NotFound, ""},
	{context.Canceled, exitInterrupted, ""},
	{context.DeadlineExceeded, Busy, ""},
	{errors.ErrUnsupported, State, ""},
	{fs.ErrPermission, State, "make the repository writable, then the same command again"},
	{syscall.ENOSPC, Busy, "free some disk space and try again"},
	{syscall.EDQUOT, Busy, "free some of your disk quota and try again"},
	{syscall.EMFILE, Busy, "allow more open files (ulimit -n) and try again"},
	{syscall.ENFILE, Busy, "the system is out of open files; try again"},
	{syscall.ENOMEM, Busy, "free some memory, or raise its limit (ulimit -v), and try again"},
	{syscall.EAGAIN, Busy, "end some processes, or raise their limit (ulimit -u), and try again"},
	{syscall.EROFS, State, "the file system is read-only"},
}

// bugHint is the hint for an unexpected error.
const bugHint = "this should not happen: please report it with the output of `git runr --version`"

// Classify converts any error into a Problem. A Problem in its chain takes precedence, because its author knew most,
// then known types of errors, then sentinels.
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
		whole := &Problem{Status: known.Status, Hint: known.Hint}
		if known.Msg != "" { // err may wrap known
			whole.Msg = err.Error()
		}
		return whole
	case errors.As(err, &altered):
		return Problemf(Stopped, "%w", err).WithHint(checking.GuardLines(altered)...)
	case errors.As(err, &state) && state.Holder != "":
		return Problemf(Claimed, "%w", err)
	case errors.As(err, &state):
		return Problemf(State, "%w", err).WithHint(state.Next())
	case errors.As(err, &unfinished) && unfinished.While != "":
		return Problemf(State, "%w", err).WithHint(BegunLines...)
	case errors.As(err, &unfinished):
		return Problemf(State, "%w", err).WithHint(strings.Join(Endings(unfinished.Operation), ", or to give it up ") +
			"; then the same command again")
	case errors.As(err, &missing) && len(missing.Among) > 0:
		ambiguous := Problemf(Usage, "%w", err)
		ambiguous.Hint = missing.Lines() // a table, whose columns may be three spaces apart
		return ambiguous
	case errors.As(err, &missing) && missing.Instead != "":
		return Problemf(NotFound, "%w", err).WithHint("git runr show " + missing.ID)
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
	if errors.As(err, &path) || errors.As(err, &call) { // refused by the operating system, so not a bug
		return bug
	}
	return bug.WithHint(bugHint)
}

// toFind returns the commands that list what may have been meant, or that create the first one.
func toFind(missing *record.NotFoundError) (lines []string) {
	if review, in := strings.CutPrefix(missing.Where, "in review "); in && missing.What == "finding" {
		review, _, _ = strings.Cut(review, ";")
		return []string{"git runr show " + review}
	}
	for _, what := range []struct{ name, list, make string }{
		{"run", "git runr status", "git runr run TASK.md"},
		{"review", "git runr inbox list --status all", "git runr review"},
	} {
		switch {
		case !strings.Contains(missing.What, what.name):
		case missing.ID == record.Latest:
			lines = append(lines, what.make)
		default:
			lines = append(lines, what.list)
		}
	}
	return lines
}

// hintOf returns the line that fetches a missing object, removes a stale lock, names a file without permission or says
// what to do about a HEAD that is no file, without which git finds no repository; "" for any other error.
func hintOf(err error) string {
	var object *gitstore.MissingError
	if errors.As(err, &object) {
		return object.Try
	}
	var locked *gitstore.LockedError
	var away *gitstore.RemoteLockError
	var said *gitstore.GitError
	var irregular *gitstore.IrregularError
	var file *fs.PathError
	path, there := "", "there"
	switch {
	case errors.As(err, &irregular) && filepath.Base(irregular.Path) == "HEAD":
		return "move it away, write one line into a new HEAD, ref: refs/heads/BRANCH, then the same command again"
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &file) && (file.Op == "remove" || file.Op == "unlinkat"):
		return permit(filepath.Dir(file.Path)) + ", then the same command again"
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &file):
		return permit(file.Path) + ", then the same command again"
	case errors.As(err, &away):
		path, there = away.Path, "there, on the machine of the remote"
	case errors.As(err, &locked):
		path = locked.Path
	case errors.As(err, &said):
		path = said.Locked()
	}
	if line, ok := safetext.CommandLine("rm", path); ok && path != "" {
		return line + "   when no git is running " + there
	}
	return ""
}

// permit says what to do about a path without permission: change that of the closest folder that exists, unless that is
// the top of the file system, where a user can make nothing.
func permit(path string) string {
	below := path
	for filepath.IsAbs(path) && filepath.Dir(path) != path {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		below, path = path, filepath.Dir(path)
	}
	if below != path && filepath.Dir(path) == path {
		return fmt.Sprintf("choose another place than %s, or have it made for you", below)
	}
	return "change the permissions of " + path
}

// BegunLines are commands for an operation of git that began while an agent worked: show it, move it aside, accept
// it.
var BegunLines = []string{"git runr guard", "git runr guard restore --all", "git runr guard accept"}

// Endings returns the commands that finish or abort an operation of git in a working tree, as named by
// Repo.Operation.
func Endings(operation string) []string {
	if operation == "bisect" {
		return []string{"git bisect reset"}
	}
	return []string{"git " + operation + " --continue", "git " + operation + " --abort"}
}

// Refused returns the problem for a remote's refusal: its message, that nothing is lost, and what to type.
func Refused(refused *gitstore.RefusedError) *Problem {
	return Problemf(State, "%w", refused).WithHint(
		"nothing is lost: what was recorded stays in this clone",
		"when the remote accepts and shows refs/runr/* and refs/notes/runr: git runr sync "+refused.Remote)
}

// Report prints err and returns its exit status; nil is 0 and prints nothing. Text goes to stderr. With jsonOut the
// error is the one JSON document on stdout, and stderr stays empty.
func Report(err error, stdout, stderr io.Writer, jsonOut bool) int {
	if err == nil {
		return int(OK)
	}
	p := Classify(err)
	p.Msg = apart(p.Msg, err)
	switch {
	case p.Msg == "":
	case jsonOut:
		writeProblemJSON(stdout, p)
	default:
		writeProblemText(stderr, p)
	}
	return int(p.Status)
}

// apart returns msg, the message of err, with a semicolon between the messages of errors that errors.Join joined.
func apart(msg string, err error) string {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return apart(msg, e.Unwrap())
	case interface{ Unwrap() []error }:
		inner := each.Where(e.Unwrap(), func(err error) bool { return err != nil })
		said := each.Of(inner, error.Error)
		if joined := strings.Join(said, "\n"); err.Error() == joined {
			msg = strings.ReplaceAll(msg, joined, strings.Join(said, "; "))
		}
		for _, err := range inner {
			msg = apart(msg, err)
		}
	}
	return msg
}

func writeProblemText(w io.Writer, p *Problem) {
	var b strings.Builder
	safetext.Fprintf(&b, "git-runr: %s\n", p.Msg)
	for _, line := range p.Hint {
		safetext.Fprintf(&b, "  %s\n", line)
	}
	w.Write([]byte(b.String())) // in one write, so that no other writer's line comes between
}

// writeProblemJSON writes an error in --json output.
func writeProblemJSON(w io.Writer, p *Problem) {
	var out struct {
		V     int `json:"v"`
		Error struct {
			Status  Status   `json:"status"`
			Message string   `json:"message"`
			Hint    []string `json:"hint"` // never null
		} `json:"error"`
	}
	out.V, out.Error.Status, out.Error.Message = 1, p.Status, safetext.Line(p.Msg)
	out.Error.Hint = each.Of(p.Hint, func(line string) string { return strings.TrimSpace(safetext.Line(line)) })
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(out)
}
