package gitstore

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Pager returns the shell command with which this user reads the output of command, such as
// "diff": GIT_PAGER, pager.runr, pager.COMMAND, core.pager, PAGER, or git's built-in default. It
// returns "" for no pager, and ignores a setting that an agent may have planted.
func (r *Repo) Pager(ctx context.Context, command string) (string, error) {
	pager, decided := os.LookupEnv("GIT_PAGER")
	for _, key := range []string{"pager.runr", "pager." + command, "core.pager"} {
		_, is := r.Config[key]
		set := r.Config.Get(key)
		switch {
		case !is || r.planted(ctx, key):
		case key != "core.pager" && slices.Contains([]string{"false", "no", "off", "0"}, set):
			return "", nil
		case !decided && !slices.Contains([]string{"true", "yes", "on", "1"}, set):
			pager, decided = set, true
		}
	}
	if !decided {
		// ask git itself, outside of the repository and without the fixed options, one of which disables the pager
		out, err := r.dir.Call(ctx, gitdir.Call{Args: []string{"var", "GIT_PAGER"}, Bare: true, Unlocated: true, Dir: "/"})
		if err != nil && !errors.As(err, new(*GitError)) {
			return "", err
		}
		pager = strings.TrimRight(string(out), "\r\n")
	}
	if pager == "" || pager == "cat" || missing(pager) {
		return "", nil
	}
	return pager, nil
}

// missing reports whether a shell command line clearly names a program that does not exist.
func missing(line string) bool {
	program, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.ContainsAny(program, "|&;<>()$`\\\"'\t\n*?[#~=%") ||
		strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return false
	}
	_, err := exec.LookPath(program)
	return err != nil
}

// pagerDefaults are the variables that git sets for a pager unless the user has set them.
var pagerDefaults = [...]string{"LESS=FRX", "LV=-c"}

// Page runs a pager on the output of write and waits until its user is done. If the user is done
// early, write gets EPIPE. ctx does not end the pager: an interrupt at the keyboard is for the pager.
func (r *Repo) Page(ctx context.Context, pager string, terminal Terminal, write func(io.Writer) error) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", pager)
	cmd.Stdout, cmd.Stderr = terminal.Out, terminal.Err
	cmd.Env = append(os.Environ(), "GIT_PAGER_IN_USE=true")
	for _, kv := range pagerDefaults {
		if name, _, _ := strings.Cut(kv, "="); os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return write(terminal.Out)
	}
	err = write(in)
	in.Close()
	cmd.Wait() // the pager's exit status does not matter
	return err
}
