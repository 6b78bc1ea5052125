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

// Pager is the command, for a shell, that this user reads in what command writes, such as
// "diff": GIT_PAGER, pager.runr, pager.COMMAND, core.pager, PAGER, or what git was built with. ""
// is none.
func (r *Repo) Pager(ctx context.Context, command string) (string, error) {
	pager, decided := os.LookupEnv("GIT_PAGER")
	for _, key := range []string{"pager.runr", "pager." + command, "core.pager"} {
		_, is := r.Config[key]
		set := r.Config.Get(key)
		switch {
		case !is:
		case key != "core.pager" && slices.Contains([]string{"false", "no", "off", "0"}, set):
			return "", nil
		case !decided && !slices.Contains([]string{"true", "yes", "on", "1"}, set):
			pager, decided = set, true
		}
	}
	if !decided {
		// git itself is asked, without the options of our other calls, of which one says that there is no pager
		out, err := r.dir.Call(ctx, gitdir.Call{Args: []string{"var", "GIT_PAGER"}, Bare: true, Unlocated: true})
		var failed *GitError
		if err != nil && !errors.As(err, &failed) {
			return "", err
		}
		pager = strings.TrimRight(string(out), "\r\n")
	}
	if pager == "" || pager == "cat" || missing(pager) {
		return "", nil
	}
	return pager, nil
}

// missing reports whether a command line for a shell plainly names a program that is not there.
func missing(line string) bool {
	program, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.ContainsAny(program, "|&;<>()$`\\\"'\t\n*?[#~=%") || strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return false
	}
	_, err := exec.LookPath(program)
	return err != nil
}

// pagerDefaults is what git gives a pager where the user says nothing else.
var pagerDefaults = [...]string{"LESS=FRX", "LV=-c"}

// Page runs a pager on what write writes, and waits until its user is done, however soon: what
// write gets then is EPIPE. ctx does not end it: an interrupt at the keyboard is for the pager.
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
	cmd.Wait() // how a pager ends says nothing of what it showed
	return err
}
