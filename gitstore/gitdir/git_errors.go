package gitdir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Errors that callers tell apart with errors.Is. What wraps them says which
// repository, ref or object is meant.
var (
	ErrNoGit         = errors.New("git is not installed, or not on PATH")
	ErrNotRepository = errors.New("not a git repository")
	ErrUnopened      = errors.New("git cannot open the repository") // its configuration is broken, say
	ErrNotFound      = errors.New("not found")
	ErrNoIdentity    = errors.New("no committer identity")
	ErrBusy          = errors.New("busy") // somebody else holds a lock of git's; try again later
	ErrKilled        = errors.New("a signal ended git")
	ErrLostRace      = errors.New("ref moved meanwhile")
	ErrNoChange      = errors.New("nothing to record") // returned by a decide function to append nothing
	ErrNewerFormat   = errors.New("written by a newer git-runr")
	ErrDirty         = errors.New("uncommitted changes in the way")
	ErrConflict      = errors.New("conflict")
	ErrUnmerged      = errors.New("unmerged paths") // in the index
	ErrDeletions     = errors.New("it would delete most files")
	ErrBare          = errors.New("a bare repository has no working tree")
	ErrUnborn        = errors.New("no commit yet")
	ErrCorrupt       = errors.New("damaged object")
	ErrBrokenRef     = errors.New("damaged ref")
	ErrSign          = errors.New("git cannot sign")
	ErrWriterName    = errors.New("not a writer's name")
	ErrTooLarge      = errors.New("object larger than the limit")
	ErrTampered      = errors.New("git is not run here any more: an agent changed what it is configured by")
)

// GitError is a git process that ended with a status other than 0.
type GitError struct {
	Args   []string // the subcommand and its arguments, without the fixed options before it
	Status int      // exit status, or Killed
	Stderr string   // what it said, at most a few KiB
}

// fullDisk is what git says when there is no room: it gives the system's own words, or
// only that it could not write to a file that it had opened.
var fullDisk = []string{"No space left on device", "Out of diskspace", "unable to write file", "failed to write new configuration file", "File too large", "Disk quota exceeded"}

// Is recognises what git says: of a full disk as ENOSPC, of files and memory that the system refuses as EMFILE and
// ENOMEM, of a lock file in its way as ErrBusy, and of an end by a signal as ErrKilled.
func (e *GitError) Is(target error) bool {
	says := func(words string) bool { return strings.Contains(e.Stderr, words) }
	switch target {
	case syscall.ENOSPC:
		return slices.ContainsFunc(fullDisk, says)
	case syscall.EMFILE:
		return says("Too many open files")
	case syscall.ENOMEM:
		return says("Out of memory") || says("out of memory") || says("Cannot allocate memory")
	case ErrBusy:
		return e.Locked() != ""
	case ErrKilled:
		return e.Status == Killed
	}
	return false
}

// Locked returns the lock file that git found in its way, or "".
func (e *GitError) Locked() string { return LockIn(e.Stderr) }

// LockIn returns the lock file that git's text says was in its way, or "".
func LockIn(text string) string {
	for _, said := range [][2]string{{"Unable to create '", LockExists}, {"could not lock config file ", ": File exists"}} {
		_, rest, _ := strings.Cut(text, said[0])
		if path, _, found := strings.Cut(rest, said[1]); found {
			return path + ".lock"
		}
	}
	return ""
}

// Killed is the Status of a git that a signal ended.
const Killed = -1

// Error gives the subcommand and the first line that git printed.
func (e *GitError) Error() string {
	said, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
	if e.Status == Killed {
		said = cmp.Or(said, "a signal ended it")
	}
	return fmt.Sprintf("git %s: %s", e.Args[0], cmp.Or(said, fmt.Sprintf("exit status %d", e.Status)))
}

// ExitStatus is the status that git ended with; 0 when the error is not git's.
func ExitStatus(err error) int {
	var exit *GitError
	if errors.As(err, &exit) {
		return exit.Status
	}
	return 0
}

// ErrRemote is what a remote, or the way to it, refused. The message is one line.
var ErrRemote = errors.New("remote")
