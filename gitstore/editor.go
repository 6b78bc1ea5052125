package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// ErrEditor reports an editor that cannot be started or that failed.
var ErrEditor = errors.New("editor")

// NoEditor is the setting with which git leaves a text as it is.
const NoEditor = ":"

// Editor returns the shell command with which this user edits text in git: GIT_EDITOR,
// core.editor, VISUAL, EDITOR, or git's built-in default. It returns ErrEditor if git has none
// that works, or if the command does not exist.
func (r *Repo) Editor(ctx context.Context) (string, error) {
	c := gitdir.Call{Args: []string{"var", "GIT_EDITOR"}}
	if r.planted(ctx, "core.editor") { // then only the user's own configuration counts
		c.Bare, c.Unlocated, c.Dir = true, true, "/"
	}
	if editor := os.Getenv("GIT_EDITOR"); editor != "" {
		c.Env = append(c.Env, "GIT_EDITOR="+editor)
	}
	out, err := r.dir.Call(ctx, c)
	var failed *GitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%w: %w", ErrEditor, err)
	}
	editor := strings.TrimRight(string(out), "\r\n")
	if err == nil && editor != NoEditor && missing(editor) {
		err = fmt.Errorf("%w %q was not found", ErrEditor, editor)
	}
	return editor, err
}

// Terminal is the input and output of an interactive program.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
}

// EditFile runs an editor on a file, through the shell as git does, and waits until the
// user is done. ctx does not end it: an interrupt at the keyboard is for the editor,
// and what the user typed must not be lost. It returns ErrEditor if the editor ends with a
// status other than 0.
func (r *Repo) EditFile(ctx context.Context, editor, path string, terminal Terminal) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", editor+` "$@"`, editor, path)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.WorkTree, terminal.In, terminal.Out, terminal.Err
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 127:
		return fmt.Errorf("%w %q was not found", ErrEditor, editor)
	case errors.As(err, &exit):
		return fmt.Errorf("%w %q: %s", ErrEditor, editor, exit)
	case err != nil:
		return fmt.Errorf("%w %q: %w", ErrEditor, editor, err)
	}
	return nil
}

// Shell runs a line in the shell, in the working tree. Like EditFile, it is not ended by ctx.
func (r *Repo) Shell(ctx context.Context, line string, terminal Terminal) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", line)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.WorkTree, terminal.In, terminal.Out, terminal.Err
	if cmd.Dir == "" {
		cmd.Dir = r.GitDir
	}
	return cmd.Run()
}
