package main

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

	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// exitStatus is what a command ends with; the numbers are a contract with scripts.
type exitStatus int

const (
	exitOK          exitStatus = 0
	exitNotPassed   exitStatus = 1
	exitUsage       exitStatus = 2
	exitConflict    exitStatus = 3
	exitStopped     exitStatus = 4
	exitNothing     exitStatus = 5
	exitNotFound    exitStatus = 10
	exitState       exitStatus = 11
	exitClaimed     exitStatus = 12
	exitUntrusted   exitStatus = 20
	exitAgent       exitStatus = 30
	exitBug         exitStatus = 70
	exitBusy        exitStatus = 75
	exitInterrupted exitStatus = 130
)

// exitMeanings is the table of `git runr help exit-status` and of the manual.
var exitMeanings = []struct {
	status  exitStatus
	meaning string
}{
	{exitOK, "done, or the review passed"},
	{exitNotPassed, "the review did not pass"},
	{exitUsage, "the command line or a configuration file is wrong"},
	{exitConflict, "something changed meanwhile and was left alone"},
	{exitStopped, "the run stopped and needs a person"},
	{exitNothing, "there was nothing to review"},
	{exitNotFound, "no such run, review or other thing"},
	{exitState, "the state of the run or review, or the remote, does not allow it"},
	{exitClaimed, "claimed by somebody else"},
	{exitUntrusted, "the repository's commands are not trusted"},
	{exitAgent, "an agent failed"},
	{exitBug, "an error that nobody foresaw"},
	{exitBusy, "busy, try again"},
	{exitInterrupted, "interrupted"},
}

// exitStatusHelp is the text of `git runr help exit-status`.
func exitStatusHelp() string {
	var b strings.Builder
	for _, e := range exitMeanings {
		fmt.Fprintf(&b, "%4d  %s\n", e.status, e.meaning)
	}
	return b.String()
}

// problem is an error that knows its exit status and what to type next.
type problem struct {
	status exitStatus
	msg    string   // one line; empty when the command has said everything itself
	hint   []string // lines to type or to read next
	err    error    // what it wraps, or nil
}

func (p *problem) Error() string { return p.msg }
func (p *problem) Unwrap() error { return p.err }

// problemf makes a problem; %w in format wraps as in fmt.Errorf.
func problemf(status exitStatus, format string, args ...any) *problem {
	err := fmt.Errorf(format, args...)
	return &problem{status: status, msg: err.Error(), err: errors.Unwrap(err)}
}

// withHint adds lines that say what to type.
func (p *problem) withHint(lines ...string) *problem {
	p.hint = append(p.hint, lines...)
	return p
}

// endWith ends the program with status and without a word more: the result of
// the command, already shown, is the explanation.
func endWith(status exitStatus) *problem { return &problem{status: status} }

// sentinel gives the status of errors that other packages tell apart with
// errors.Is. The first one that matches counts.
type sentinel struct {
	is     error
	status exitStatus
	hint   string
}

var sentinels = []sentinel{
	{gitstore.ErrNoGit, exitNotFound, "install git 2.39 or newer"},
	{gitstore.ErrNotRepository, exitNotFound, "cd into a repository, or: git runr -C DIR …"},
	{gitstore.ErrNoIdentity, exitUsage, "git config --global user.name \"Your Name\" && git config --global user.email you@example.com"},
	{gitstore.ErrUnborn, exitNothing, "make a first commit"},
	{gitstore.ErrBusy, exitBusy, ""},
	{gitstore.ErrLostRace, exitBusy, "try again"},
	{gitstore.ErrNewerFormat, exitState, "update git-runr"},
	{gitstore.ErrDirty, exitConflict, ""},
	{gitstore.ErrUnmerged, exitConflict, "resolve them and git add them, then the same command again"},
	{gitstore.ErrConflict, exitConflict, ""},
	{gitstore.ErrBare, exitState, ""},
	{gitstore.ErrNoChange, exitNothing, ""},
	{gitstore.ErrRemote, exitBusy, ""},
	{gitstore.ErrCorrupt, exitNotFound, "git runr fsck names what is damaged, git runr sync fetches it again"},
	{gitstore.ErrSign, exitUsage, "mend what signs your commits, or leave the records of git-runr unsigned: git config runr.sign false"},
	{gitstore.ErrBrokenRef, exitState, "git fsck names what is damaged; git reflog shows where the branch was: git update-ref REF COMMIT"},
	{gitstore.ErrNotFound, exitNotFound, ""},
	{context.Canceled, exitInterrupted, ""},
	{context.DeadlineExceeded, exitBusy, ""},
	{fs.ErrPermission, exitState, "nothing was recorded; make the repository writable and try again"},
	{errors.ErrUnsupported, exitState, ""},
	{syscall.ENOSPC, exitBusy, "free some disk space and try again"},
	{syscall.EROFS, exitState, "nothing was recorded; the file system is read-only"},
}

// bugHint ends the report of an error that nobody foresaw.
const bugHint = "this should not happen: please report it with the output of `git runr --version`"

// classify turns any error into a problem: a problem in its chain counts first,
// since whoever made it knew most, then the sentinels.
func classify(err error) problem {
	var known *problem
	if errors.As(err, &known) {
		return problem{status: known.status, msg: fullMessage(err, known), hint: known.hint}
	}
	var state *record.StateError
	if errors.As(err, &state) {
		return stateProblem(err, state)
	}
	var unfinished *gitstore.UnfinishedError
	if errors.As(err, &unfinished) {
		return problem{status: exitState, msg: err.Error(), hint: []string{endingHint(unfinished.Operation)}}
	}
	var input *record.InputError
	if errors.As(err, &input) {
		return problem{status: exitUsage, msg: err.Error()}
	}
	var refused *gitstore.RefusedError
	if errors.As(err, &refused) {
		return problem{status: exitState, msg: err.Error(), hint: refusedProblem(refused).hint}
	}
	for _, s := range sentinels {
		if errors.Is(err, s.is) {
			return problem{status: s.status, msg: sentinelMessage(err, s), hint: nonEmpty(cmp.Or(hintOf(err), s.hint))}
		}
	}
	return problem{status: exitBug, msg: err.Error(), hint: unforeseenHint(err)}
}

// hintOf is the command that gets an object that is missing, or takes away a lock that
// may be nobody's; "" for any other error.
func hintOf(err error) string {
	var object *gitstore.MissingError
	if errors.As(err, &object) {
		return object.Try
	}
	var locked *gitstore.LockedError
	if errors.As(err, &locked) {
		if line, ok := safetext.CommandLine("rm", locked.Path); ok {
			return line + "   when no git is at work there"
		}
	}
	return ""
}

// stateProblem tells a claim of somebody else's from any other state in the way.
func stateProblem(err error, state *record.StateError) problem {
	if state.Holder != "" {
		return problem{status: exitClaimed, msg: err.Error()}
	}
	refused := problem{status: exitState, msg: err.Error()}
	review, ok := strings.CutPrefix(state.What, "review ")
	if ok && (state.Status == string(record.ReviewCancelled) || state.Status == string(record.ReviewResolved)) {
		refused.hint = []string{"git runr inbox reopen " + review}
	}
	return refused
}

// endings are the lines that end what somebody has begun in a working tree, as
// gitstore.Repo names it: go on with it, give it up.
func endings(operation string) []string {
	if operation == "bisect" {
		return []string{"git bisect reset"}
	}
	return []string{"git " + operation + " --continue", "git " + operation + " --abort"}
}

func endingHint(operation string) string {
	return strings.Join(endings(operation), ", or to give it up ") + "; then the same command again"
}

// refusedProblem is a remote's no: what it said, that nothing is lost, and what to type.
func refusedProblem(refused *gitstore.RefusedError) *problem {
	return problemf(exitState, "%w", refused).withHint(
		"nothing is lost: what was recorded stays in this clone",
		"when the remote lets you push refs/runr/* and refs/notes/runr: git runr sync "+refused.Remote)
}

// fullMessage keeps what was wrapped around a problem, but adds no words to one
// that has none.
func fullMessage(err error, known *problem) string {
	if known.msg == "" {
		return ""
	}
	return err.Error()
}

func sentinelMessage(err error, s sentinel) string {
	if s.status == exitInterrupted {
		return "interrupted"
	}
	return err.Error()
}

// unforeseenHint does not call it a bug when the operating system said no.
func unforeseenHint(err error) []string {
	var path *fs.PathError
	var call *os.SyscallError
	if errors.As(err, &path) || errors.As(err, &call) {
		return nil
	}
	return []string{bugHint}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// report says what err is and returns the exit status; nil is 0 and says nothing.
// As text it goes to stderr. With jsonOut it is one object on stdout, where the
// script that asked for JSON reads its one document, and stderr stays empty.
func report(err error, stdout, stderr io.Writer, jsonOut bool) int {
	if err == nil {
		return int(exitOK)
	}
	p := classify(err)
	switch {
	case p.msg == "":
	case jsonOut:
		writeProblemJSON(stdout, p)
	default:
		writeProblemText(stderr, p)
	}
	return int(p.status)
}

func writeProblemText(w io.Writer, p problem) {
	var b strings.Builder
	fmt.Fprintf(&b, "git-runr: %s\n", safetext.Line(p.msg))
	for _, line := range p.hint {
		fmt.Fprintf(&b, "  %s\n", safetext.Line(line))
	}
	io.WriteString(w, b.String())
}

// problemJSON is the shape of an error in --json.
type problemJSON struct {
	V     int `json:"v"`
	Error struct {
		Status  exitStatus `json:"status"`
		Message string     `json:"message"`
		Hint    []string   `json:"hint"` // never null
	} `json:"error"`
}

func writeProblemJSON(w io.Writer, p problem) {
	out := problemJSON{V: 1}
	out.Error.Status = p.status
	out.Error.Message = safetext.Line(p.msg)
	out.Error.Hint = []string{}
	for _, line := range p.hint {
		out.Error.Hint = append(out.Error.Hint, safetext.Line(line))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(out)
}
