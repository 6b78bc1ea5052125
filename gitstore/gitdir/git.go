package gitdir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// gitTimeout is when a git process that hangs is killed. A caller's context may end it earlier.
const gitTimeout = 10 * time.Minute

// maxStderr is how much of a git process's standard error is kept.
const maxStderr = 8 << 10

// Call is one run of git. Every git process of the program goes through Run.
type Call struct {
	Args  []string // may begin with options of git itself: -c KEY=VALUE, --no-literal-pathspecs
	Stdin io.Reader
	Env   []string // added last, so it wins
	Dir   string
	// Bare leaves out --git-dir, --work-tree and the fixed options: for discovery, init and reading settings.
	Bare bool
	// Unlocated hides the variables that name a repository, such as GIT_DIR, from discovery.
	Unlocated bool
	// Worktree is the value of --work-tree; "" leaves the option out.
	Worktree string
	GitDir   string
	Stdout   io.Writer // nil: collected and returned
}

// fixedOptions disable everything that a planted configuration could make git execute, and fix
// what must be on disk when git ends, whatever is configured: objects and refs.
var fixedOptions = []string{
	"--no-pager", "--literal-pathspecs", "--no-optional-locks",
	"-c", "core.hooksPath=/dev/null",
	"-c", "hook.reference-transaction.enabled=false", // configured hooks, from git 2.55 on
	"-c", "hook.post-checkout.enabled=false",
	"-c", "hook.post-index-change.enabled=false",
	"-c", "core.fsmonitor=false",
	"-c", "core.warnAmbiguousRefs=false",
	"-c", "log.showSignature=false", // it starts gpg.program
	"-c", "core.fsync=objects,derived-metadata,reference",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "advice.detachedHead=false",
}

// Git runs git in this repository and returns its standard output.
func (d *Dir) Git(ctx context.Context, args ...string) ([]byte, error) {
	return d.Call(ctx, Call{Args: args})
}

// GitIn is Git with stdin on standard input.
func (d *Dir) GitIn(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return d.Call(ctx, Call{Args: args, Stdin: bytes.NewReader(stdin)})
}

// GitLine is Git for commands that print one line.
func (d *Dir) GitLine(ctx context.Context, args ...string) (string, error) {
	out, err := d.Git(ctx, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// Call runs c in this repository.
func (d *Dir) Call(ctx context.Context, c Call) ([]byte, error) {
	if err := d.Gate.Pass(ctx, c); err != nil {
		return nil, err
	}
	c.GitDir = cmp.Or(c.GitDir, d.GitDir)
	c.Dir = cmp.Or(c.Dir, c.Worktree, c.GitDir)
	out, err := c.Run(ctx)
	if d.Explain != nil {
		err = d.Explain(err)
	}
	return out, err
}

// plainCommands execute nothing that a repository's configuration or attributes name, given
// fixedOptions, unless they get an option that does (--textconv, --filters, --path). commit-tree
// is not in the list: it is called to sign.
var plainCommands = []string{
	"cat-file", "check-attr", "check-ref-format", "config", "diff-tree", "for-each-ref", "index-pack",
	"ls-files", "ls-tree", "merge-base", "mktree", "pack-objects", "patch-id", "rev-list", "rev-parse", "show-index",
	"show-ref", "symbolic-ref", "update-ref", "var", "version", "write-tree",
}

// plain reports whether the call executes nothing that anybody configured. A call with its own git directory is
// plain: the shadow of a snapshot has its own configuration, and attributes that override the user's.
func (c Call) plain() bool {
	args := c.Args[optionCount(c.Args):]
	if c.GitDir != "" || len(args) == 0 {
		return c.GitDir != ""
	}
	switch args[0] {
	case "worktree":
		return len(args) > 1 && args[1] == "list"
	case "hash-object":
		return !slices.Contains(args, "--path")
	case "blame", "diff", "log":
		return slices.Contains(args, "--no-textconv")
	}
	return slices.Contains(plainCommands, args[0])
}

// Run starts git and waits for it. It returns a *GitError for a status other than 0.
func (c Call) Run(ctx context.Context) ([]byte, error) {
	if slices.ContainsFunc(c.Args, func(arg string) bool { return strings.Contains(arg, "\x00") }) {
		return nil, fmt.Errorf("%w: no name in git has a NUL byte", ErrNotFound)
	}
	if err := c.blocked(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", c.argv()...)
	cmd.Dir, cmd.Stdin = c.Dir, c.Stdin
	cmd.Env = append(gitEnviron(os.Environ(), c.Bare && !c.Unlocated), c.Env...)
	cmd.WaitDelay = 5 * time.Second
	if lock := HeldLock(ctx); lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	stderr := &headWriter{LimitWriter{Left: maxStderr}}
	cmd.Stderr = stderr
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		said := stderr.Kept.String()
		if exit.ExitCode() == Killed {
			said = strings.TrimSpace(said + "\n" + exit.Error()) // names the signal
		}
		err = &GitError{Args: c.Args[optionCount(c.Args):], Status: exit.ExitCode(), Stderr: said}
	}
	return out.Bytes(), err
}

// blocked returns safefile.ErrIrregular if git would wait for ever to open one of the repository's files, because a
// pipe or the like is in its place.
func (c Call) blocked() error {
	dir := c.GitDir
	if dir == "" {
		at, err := filepath.Abs(c.Dir)
		if err != nil {
			return nil // git says what is wrong
		}
		dir = gitDirAbove(at)
	}
	dirs := []string{dir}
	if parent := filepath.Dir(dir); filepath.Base(parent) == "worktrees" {
		dirs = append(dirs, filepath.Dir(parent))
	}
	for _, dir := range dirs {
		for _, name := range openedByGit {
			if err := safefile.CheckRegular(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// openedByGit are the files of a git directory that git opens whatever it does, or in most commands.
var openedByGit = [...]string{"HEAD", "commondir", "config", "config.worktree", "index", "packed-refs", "shallow",
	"info/attributes", "info/exclude", "objects/info/alternates"}

// gitDirAbove returns the git directory of the working tree that dir lies in, or dir itself.
func gitDirAbove(dir string) string {
	for top := dir; ; top = filepath.Dir(top) {
		path := filepath.Join(top, ".git")
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			return path
		case err == nil:
			text, _ := safefile.ReadFile(path)
			linked, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if !filepath.IsAbs(linked) {
				linked = filepath.Join(top, linked)
			}
			return linked
		case top == filepath.Dir(top):
			return dir
		}
	}
}

func (c Call) argv() []string {
	if c.Bare {
		return c.Args // it runs nothing that is configured, and must see the user's own values
	}
	argv := append(slices.Clone(fixedOptions), "--git-dir="+c.GitDir)
	if c.Worktree != "" {
		argv = append(argv, "--work-tree="+c.Worktree)
	}
	return append(argv, c.Args...)
}

// optionCount returns how many arguments precede the subcommand.
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

// keptGitVars are git's variables that a user sets on purpose for all repositories: where
// configuration is and how to reach a remote.
var keptGitVars = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
	"GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_SSH_VARIANT": true, "GIT_ASKPASS": true,
	"GIT_EXEC_PATH": true, "GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true, "GIT_SSL_NO_VERIFY": true,
	"GIT_HTTP_LOW_SPEED_LIMIT": true, "GIT_HTTP_LOW_SPEED_TIME": true, "GIT_PROXY_COMMAND": true,
	"GIT_CEILING_DIRECTORIES": true, "GIT_DISCOVERY_ACROSS_FILESYSTEM": true, "GIT_TERMINAL_PROMPT": true,
	"GIT_TRACE": true, "GIT_TRACE2": true, "GIT_TRACE2_EVENT": true, "GIT_TRACE_PACKET": true, "GIT_TRACE_CURL": true,
}

// locatingVars name a repository. They are passed on only while a repository is being found.
// A hook inherits them from git, and later they would make git answer for another repository.
var locatingVars = map[string]bool{
	"GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_COMMON_DIR": true, "GIT_NAMESPACE": true,
	"GIT_OBJECT_DIRECTORY": true, "GIT_ALTERNATE_OBJECT_DIRECTORIES": true,
	"GIT_CONFIG_PARAMETERS": true, "GIT_CONFIG_COUNT": true, "GIT_CONFIG": true,
}

// gitEnviron returns env without variables that would redirect git. It adds a plain locale, so that
// messages can be recognised, and ignores refs/replace/: an event or a commit under review is what
// was written, not what somebody replaced it with.
func gitEnviron(env []string, discovery bool) []string {
	kept := make([]string, 0, len(env)+3)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		inline := strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
		isGit := strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_RUNR_")
		if isGit && !keptGitVars[name] && (!discovery || !locatingVars[name] && !inline) {
			continue
		}
		kept = append(kept, kv)
	}
	return append(kept, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1")
}

// headWriter keeps the first bytes that are written and discards the rest without an error.
type headWriter struct{ LimitWriter }

func (w *headWriter) Write(p []byte) (int, error) {
	_, _ = w.LimitWriter.Write(p)
	return len(p), nil
}

// LimitWriter keeps what is written up to a limit. Then Write fails with ErrTooLarge.
type LimitWriter struct {
	Kept bytes.Buffer // not embedded: io.Copy would use its ReadFrom, past the limit
	Left int64
	Full bool
}

func (w *LimitWriter) Write(p []byte) (int, error) {
	keep := min(int64(len(p)), w.Left)
	w.Left -= keep
	w.Kept.Write(p[:keep])
	if keep < int64(len(p)) {
		w.Full = true
		return 0, ErrTooLarge
	}
	return len(p), nil
}

type heldLockKey struct{}

// HeldLock returns the lock that a context holds, or nil.
func HeldLock(ctx context.Context) *os.File {
	f, _ := ctx.Value(heldLockKey{}).(*os.File)
	return f
}

// WithLock returns a context whose git processes hold a lock too: see HoldLock.
func WithLock(ctx context.Context, held *os.File) context.Context {
	return context.WithValue(ctx, heldLockKey{}, held)
}

// SetConfig writes one value to the repository's own configuration file.
func (d *Dir) SetConfig(ctx context.Context, key, value string) error {
	if _, err := d.Git(ctx, "config", "--local", "--replace-all", key, value); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	d.Config[strings.ToLower(key)] = []string{value}
	return nil
}
