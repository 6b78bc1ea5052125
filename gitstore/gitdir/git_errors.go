package gitdir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// Errors that callers distinguish with errors.Is. The wrapping error names the
// repository, ref or object.
var (
	ErrNoGit         = errors.New("git is not installed, or not on PATH")
	ErrNotRepository = errors.New("not a git repository")
	ErrUnopened      = errors.New("git cannot open the repository") // for example because its configuration is broken
	ErrNotFound      = errors.New("not found")
	ErrNoRevision    = fmt.Errorf("%w", ErrNotFound) // a name of a commit that git does not know
	ErrNoIdentity    = errors.New("no committer identity")
	ErrBusy          = errors.New("busy") // another process holds a lock of git; try again later
	ErrKilled        = errors.New("a signal ended git")
	ErrLostRace      = errors.New("ref moved meanwhile")
	ErrNoChange      = errors.New("nothing to record") // a decide function returns it to append nothing
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
	ErrTampered      = errors.New("git is no longer run here: an agent changed its configuration")
)

// GitError reports a git process that ended with a status other than 0.
type GitError struct {
	Args   []string // the subcommand and its arguments, without the fixed options before it
	Status int      // exit status, or Killed
	Stderr string   // its standard error, at most maxStderr bytes, and the signal that ended it
}

// fullDisk are git's messages for a full disk: the system's own words, or only that git could not
// write to a file that it had opened.
var fullDisk = []string{"No space left on device", "Out of diskspace", "unable to write file",
	"failed to write new configuration file", "File too large", "Disk quota exceeded"}

// Is recognises causes by git's message or status: ENOSPC for a full disk, EFBIG for the signal of the file size limit,
// EMFILE and ENOMEM for a lack of files or memory, ErrBusy for a lock file in the way, ErrUnopened for a broken
// configuration, and ErrKilled for a signal.
func (e *GitError) Is(target error) bool {
	says := func(words string) bool { return strings.Contains(e.Stderr, words) }
	switch target {
	case syscall.ENOSPC:
		return slices.ContainsFunc(fullDisk, says)
	case syscall.EFBIG:
		return e.Status == Killed && says("size limit exceeded") // the system's word for SIGXFSZ
	case syscall.EMFILE:
		return says("Too many open files")
	case syscall.ENOMEM:
		return says("Out of memory") || says("out of memory") || says("Cannot allocate memory")
	case fs.ErrPermission:
		return says("Permission denied") && !says("Permission denied (") // the latter is ssh, of another machine
	case syscall.EROFS:
		return says("Read-only file system")
	case ErrBusy:
		return e.Locked() != ""
	case ErrUnopened:
		return says("bad config ")
	case ErrKilled:
		return e.Status == Killed
	}
	return false
}

// Locked returns the lock file that was in git's way, or "".
func (e *GitError) Locked() string { return LockIn(e.Stderr) }

// LockIn returns the lock file that git's message names as in the way, or "".
func LockIn(text string) string {
	for _, said := range [][2]string{{"Unable to create '", LockExists},
		{"could not lock config file ", ": File exists"}} {
		_, rest, _ := strings.Cut(text, said[0])
		if path, _, found := strings.Cut(rest, said[1]); found {
			return path + ".lock"
		}
	}
	return ""
}

// Killed is the Status of a git process that a signal ended.
const Killed = -1

// Error returns the subcommand and the first line that git printed.
func (e *GitError) Error() string {
	said, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
	return fmt.Sprintf("git %s: %s", e.Args[0], cmp.Or(said, fmt.Sprintf("exit status %d", e.Status)))
}

// ExitStatus returns git's exit status, or 0 if err is not a GitError.
func ExitStatus(err error) int {
	if exit, ok := errors.AsType[*GitError](err); ok {
		return exit.Status
	}
	return 0
}

// ErrRemote reports that a remote, or the connection to it, failed. The message is one line.
var ErrRemote = errors.New("remote")
