package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// callOptions is call for arguments that begin with options of git itself
// (-c KEY=VALUE, --no-literal-pathspecs); an error names the subcommand.
func (r *Repo) callOptions(ctx context.Context, c gitCall) ([]byte, error) {
	out, err := r.call(ctx, c)
	var exit *GitError
	if errors.As(err, &exit) {
		exit.Args = exit.Args[optionCount(exit.Args):]
	}
	return out, err
}

// optionCount is how many arguments stand before the subcommand.
func optionCount(args []string) int {
	n := 0
	for n < len(args)-1 && args[n][0] == '-' {
		if args[n] == "-c" {
			n++
		}
		n++
	}
	return n
}

// ErrRemote is what a remote, or the way to it, refused. The message is one line.
var ErrRemote = errors.New("remote")

// remoteOptions keep a push or fetch from doing more than it is told to, whatever
// is configured for the remote.
func remoteOptions(remote string) []string {
	return []string{
		"-c", "protocol.ext.allow=never",
		"-c", "push.pushOption=",
		"-c", "remote." + remote + ".mirror=false",
		"-c", "fetch.fsckObjects=true",
		"-c", "fetch.writeCommitGraph=false",
	}
}

// transport runs a git command that talks to a remote. It has no time limit but the
// context's and the general one; git may ask for a password as it always does.
func (r *Repo) transport(ctx context.Context, remote string, args ...string) ([]byte, error) {
	c := gitCall{args: append(remoteOptions(remote), args...), dir: r.WorkTree} // where a relative path of a remote begins
	if allowed := os.Getenv("GIT_ALLOW_PROTOCOL"); allowed != "" {
		c.env = []string{"GIT_ALLOW_PROTOCOL=" + allowed}
	}
	return r.callOptions(ctx, c)
}

// remoteError makes an error of git's about a remote one clear line.
func remoteError(remote string, err error) error {
	var exit *GitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("reach %w %q: %w", ErrRemote, remote, err)
	}
	return fmt.Errorf("cannot reach %w %q: %s", ErrRemote, remote, firstComplaint(exit))
}

// firstComplaint is the first line with which git, ssh or the server said no.
func firstComplaint(exit *GitError) string {
	var said string
	for line := range strings.Lines(exit.Stderr) {
		line = cleanLine(line)
		if line == "" || strings.HasPrefix(line, "warning:") || strings.HasPrefix(line, "hint:") {
			continue
		}
		text, fatal := strings.CutPrefix(line, "fatal: ")
		if said == "" || fatal && strings.HasPrefix(said, "remote: ") {
			said = strings.TrimPrefix(text, "error: ")
		}
	}
	if said == "" {
		return fmt.Sprintf("exit status %d", exit.Status)
	}
	return said
}

// cleanLine makes a line from elsewhere harmless: nothing that does not print, no
// password in a URL.
func cleanLine(line string) string {
	line = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, line)
	if scheme, rest, ok := strings.Cut(line, "://"); ok {
		if user, host, ok := strings.Cut(rest, "@"); ok && !strings.ContainsAny(user, "/ ") {
			line = scheme + "://" + host
		}
	}
	return strings.TrimSpace(line)
}

// pushed is what a remote answered to one refspec of a push.
type pushed struct {
	flag    byte   // ' ' moved, '*' new, '=' as it was, '!' refused
	ref     string // on the remote
	summary string
}

// push pushes refspecs, without force but for the lease, and without hooks. An error
// means that the remote could not be reached; what it refused is in the answers.
func (r *Repo) push(ctx context.Context, remote string, refspecs []string, options ...string) ([]pushed, error) {
	args := append([]string{"push", "--porcelain", "--no-progress", "--no-verify", "--no-follow-tags", "--no-atomic",
		"--no-signed", "--recurse-submodules=no"}, options...)
	args = append(append(args, "--end-of-options", remote), refspecs...)
	out, err := r.transport(ctx, remote, args...)
	answers := parsePushed(string(out))
	if err != nil && (exitStatus(err) != 1 || len(answers) == 0) {
		return nil, remoteError(remote, err)
	}
	return answers, nil
}

// parsePushed reads lines "FLAG TAB FROM:TO TAB SUMMARY".
func parsePushed(out string) []pushed {
	var answers []pushed
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || len(fields[0]) != 1 {
			continue
		}
		_, ref, _ := strings.Cut(fields[1], ":")
		answers = append(answers, pushed{flag: fields[0][0], ref: ref, summary: cleanLine(fields[2])})
	}
	return answers
}

// refusal is nil for a ref that the remote took, ErrLostRace when the ref was moved
// by somebody else, and ErrRemote for everything else that a remote says no to.
func (p pushed) refusal(remote string) error {
	if p.flag != '!' {
		return nil
	}
	for _, race := range []string{"fetch first", "non-fast-forward", "stale info", "cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists"} {
		if strings.Contains(p.summary, race) {
			return fmt.Errorf("push %s to %q: %s: %w", p.ref, remote, p.summary, ErrLostRace)
		}
	}
	return fmt.Errorf("%w %q refuses %s: %s", ErrRemote, remote, p.ref, p.summary)
}
