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

// ErrEditor is an editor that cannot be started, or that gave up.
var ErrEditor = errors.New("editor")

// NoEditor is the editor of those who want none: git takes the text as it is.
const NoEditor = ":"

// Editor is the command, for a shell, by which git lets this user edit text:
// GIT_EDITOR, core.editor, VISUAL, EDITOR, or what git was built with. It is ErrEditor
// where git knows of none that works, and where that is not there.
func (r *Repo) Editor(ctx context.Context) (string, error) {
	c := gitdir.Call{Args: []string{"var", "GIT_EDITOR"}}
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

// Terminal is where an editor talks with its user.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
}

// EditFile runs an editor on a file, by the shell as git does, and waits until the
// user is done. ctx does not end it: an interrupt at the keyboard is for the editor,
// and what was typed in it must not be lost. It is ErrEditor when it ends with a status
// other than 0.
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

// Shell carries out a line as the shell does when it is typed, where the user's files are. ctx
// does not end it, as it does not end EditFile.
func (r *Repo) Shell(ctx context.Context, line string, terminal Terminal) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", line)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.WorkTree, terminal.In, terminal.Out, terminal.Err
	if cmd.Dir == "" {
		cmd.Dir = r.GitDir
	}
	return cmd.Run()
}
