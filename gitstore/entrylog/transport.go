package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// RefusedError is the refusal of a remote that was reached. It wraps ErrRemote.
type RefusedError struct {
	Remote string   `json:"remote"`
	Ref    string   `json:"ref,omitempty"`    // on the remote; "" if it refused the whole push
	Reason string   `json:"reason"`           // in git's words, one line
	Said   []string `json:"said,omitempty"`   // a few of the server's own lines, safe to show
	Hidden bool     `json:"hidden,omitempty"` // it accepted the ref but hides it from fetches
}

// Error returns one line, with the server's own words if there are any.
func (e *RefusedError) Error() string {
	if e.Hidden {
		return fmt.Sprintf("%v %q has %s and does not show it to those who fetch: %s", gitdir.ErrRemote, e.Remote, e.Ref,
			e.Reason)
	}
	text := fmt.Sprintf("%v %q refuses", gitdir.ErrRemote, e.Remote)
	if e.Ref != "" {
		text += " " + e.Ref
	}
	text += ": " + e.Reason
	if len(e.Said) > 0 {
		text += ": " + strings.Join(e.Said, " / ")
	}
	return text
}

// Unwrap returns ErrRemote.
func (e *RefusedError) Unwrap() error { return gitdir.ErrRemote }

// remoteOptions returns the options that keep the remote's configuration from adding to a push or fetch.
func remoteOptions(remote string) []string {
	return []string{
		"-c", "protocol.ext.allow=never",
		"-c", "push.pushOption=",
		"-c", "remote." + remote + ".mirror=false",
		"-c", "fetch.fsckObjects=true",
		"-c", "fetch.writeCommitGraph=false",
	}
}

// transport runs a git command that talks to a remote. Only the context and the general limit bound its time; git may
// ask for a password as usual.
func (s *Store) transport(ctx context.Context, remote, stdin string, args ...string) ([]byte, error) {
	return s.dir.Call(ctx, s.transportCall(remote, stdin, args...))
}

func (s *Store) transportCall(remote, stdin string, args ...string) gitdir.Call {
	c := gitdir.Call{
		Args: append(remoteOptions(remote), args...), Stdin: strings.NewReader(stdin),
		Dir: s.dir.WorkTree, // where a relative path of a remote begins
		Env: refdb.RefLockTimeout,
	}
	if allowed := os.Getenv("GIT_ALLOW_PROTOCOL"); allowed != "" {
		c.Env = append(slices.Clone(c.Env), "GIT_ALLOW_PROTOCOL="+allowed)
	}
	return c
}

// remoteError turns git's error about a remote into one clear line. It distinguishes a remote that refused from one
// that was not reached.
func remoteError(remote string, err error) error {
	var exit *gitdir.GitError
	switch {
	case !errors.As(err, &exit):
		return fmt.Errorf("reach %w %q: %w", gitdir.ErrRemote, remote, err)
	case saysNo(exit.Stderr):
		refused := &RefusedError{Remote: remote, Reason: firstComplaint(exit), Said: serverSaid(exit.Stderr)}
		refused.Said = slices.DeleteFunc(refused.Said, func(said string) bool { return said == refused.Reason })
		return refused
	}
	return fmt.Errorf("cannot reach %w %q: %s", gitdir.ErrRemote, remote, firstComplaint(exit))
}

// noWords are phrases by which git, ssh and common servers say that the remote was reached and refused.
var noWords = []string{
	"remote error: ", "permission denied", "access denied", "permission to", "not allowed", "not authorized",
	"unauthorized",
	"forbidden", "authentication failed", "could not read username", "could not read password", "returned error: 401",
	"returned error: 403",
	"read-only", "read only", "denied by ", "repository not found", "hook declined", "is archived",
}

// saysNo reports whether git failed because a server refused.
func saysNo(stderr string) bool {
	said := strings.ToLower(stderr)
	// over ssh a server's banner
	return strings.HasPrefix(said, "error: ") && strings.Contains(said, "could not read from remote repository") ||
		slices.ContainsFunc(noWords, func(word string) bool { return strings.Contains(said, word) })
}

// Limits for quoting a server.
const (
	saidLines = 4
	saidRunes = 300
)

// serverSaid returns the lines that a server sent for people, without its progress.
func serverSaid(stderr string) []string {
	var said []string
	for line := range strings.Lines(stderr) {
		text, fromServer := strings.CutPrefix(line, "remote: ")
		if text = gitdir.CleanLine(text); !fromServer || text == "" || strings.Trim(text, "=-*# ") == "" ||
			len(said) == saidLines {
			continue
		}
		if runes := []rune(text); len(runes) > saidRunes {
			text = string(runes[:saidRunes]) + "…"
		}
		said = append(said, text)
	}
	return said
}

// unconnected reports whether git could not connect to a remote.
func unconnected(err error) bool {
	var exit *gitdir.GitError
	return errors.As(err, &exit) && (strings.Contains(exit.Stderr, "Could not read from remote repository") ||
		strings.Contains(exit.Stderr, "unable to access '") || strings.Contains(exit.Stderr, "unable to connect to"))
}

// isLocked reports whether a lock file of this clone blocked git.
func isLocked(err error) bool { return localComplaint(err) != "" }

func localComplaint(err error) string { return gitdir.LocalLine(err, gitdir.LockExists) }

// refusedByGit reports whether git refused a fetched object.
func refusedByGit(err error) bool { return gitdir.LocalLine(err, "fsck error") != "" }

// fetchComplaint returns the reason why a ref could not be fetched.
func fetchComplaint(err error) string {
	var exit *gitdir.GitError
	if !errors.As(err, &exit) {
		return gitdir.CleanLine(err.Error())
	}
	if refusedByGit(err) {
		return "git refuses it: " + cmp.Or(gitdir.LocalLine(err, "object "), gitdir.LocalLine(err, "fsck error"))
	}
	return firstComplaint(exit)
}

// firstComplaint returns the first line of git's error output that gives the reason.
func firstComplaint(exit *gitdir.GitError) string {
	var said string
	for line := range strings.Lines(exit.Stderr) {
		line = gitdir.CleanLine(line)
		if line == "" || strings.HasPrefix(line, "warning:") || strings.HasPrefix(line, "hint:") {
			continue
		}
		text, fatal := strings.CutPrefix(line, "fatal: ")
		if said == "" || fatal && strings.HasPrefix(said, "remote: ") {
			said = strings.TrimPrefix(text, "error: ")
		}
	}
	return cmp.Or(said, fmt.Sprintf("exit status %d", exit.Status))
}

// pushed is the answer of a remote to one refspec of a push.
type pushed struct {
	flag    byte   // ' ' moved, '*' new, '=' unchanged, '!' refused
	ref     string // on the remote
	summary string
	said    []string // the server's words about the whole push
}

// push pushes refspecs without hooks, and without force except for a lease. An error means that the remote refused the
// whole push or could not be reached; single refusals are in the answers.
func (s *Store) push(ctx context.Context, remote string, refspecs []string, options ...string) ([]pushed, error) {
	args := append([]string{"push", "--porcelain", "--no-progress", "--no-verify", "--no-follow-tags", "--no-atomic",
		"--no-signed", "--recurse-submodules=no"}, options...)
	args = append(append(args, "--end-of-options", remote), refspecs...)
	out, err := s.transport(ctx, remote, "", args...)
	answers := parsePushed(string(out))
	if err != nil && (gitdir.ExitStatus(err) != 1 || len(answers) == 0) {
		return nil, remoteError(remote, err)
	}
	if exit, ok := errors.AsType[*gitdir.GitError](err); ok {
		said := serverSaid(exit.Stderr)
		for i := range answers {
			answers[i].said = said
		}
	}
	return answers, nil
}

// parsePushed parses lines of the form "FLAG TAB FROM:TO TAB SUMMARY".
func parsePushed(out string) []pushed {
	var answers []pushed
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || len(fields[0]) != 1 {
			continue
		}
		_, ref, _ := strings.Cut(fields[1], ":")
		answers = append(answers, pushed{flag: fields[0][0], ref: ref, summary: gitdir.CleanLine(fields[2])})
	}
	return answers
}

// raceWords are phrases in git's answer about a ref that somebody else has moved.
var raceWords = []string{
	"fetch first", "non-fast-forward", "stale info", "cannot lock ref", "failed to update ref", "incorrect old value",
	"reference already exists",
}

// RemoteLockError is a lock file of a ref on a remote; it wraps ErrLostRace. A push holds such a file for
// milliseconds; a killed push leaves it until somebody removes it.
type RemoteLockError struct {
	Remote, Ref string
	Path        string // of the lock file, on the machine of the remote
}

func (e *RemoteLockError) Error() string {
	return fmt.Sprintf("push %s to %q: %q exists: another push is under way, or was killed", e.Ref, e.Remote, e.Path)
}

// Unwrap returns ErrLostRace.
func (e *RemoteLockError) Unwrap() error { return gitdir.ErrLostRace }

// refusal returns nil for a ref that the remote accepted, ErrLostRace if somebody else moved it, and a *RefusedError
// for any other refusal.
func (p pushed) refusal(remote string) error {
	if p.flag != '!' {
		return nil
	}
	if slices.ContainsFunc(raceWords, func(words string) bool { return strings.Contains(p.summary, words) }) {
		if lock := gitdir.LockIn(strings.Join(p.said, "\n")); lock != "" {
			return &RemoteLockError{Remote: remote, Ref: p.ref, Path: path.Clean(lock)}
		}
		said := strings.Join(append([]string{p.summary}, p.said...), ": ")
		return fmt.Errorf("push %s to %q: %s: %w", p.ref, remote, said, gitdir.ErrLostRace)
	}
	reason := p.summary
	if _, inside, ok := strings.Cut(reason, "] ("); ok { // the text in parentheses after "[remote rejected]"
		reason = strings.TrimSuffix(inside, ")")
	}
	return &RefusedError{Remote: remote, Ref: p.ref, Reason: reason, Said: p.said}
}
