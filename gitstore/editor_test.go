package gitstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditorIsGitsOwnChoice(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	for _, name := range []string{"GIT_EDITOR", "VISUAL", "EDITOR"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("TERM", "xterm")
	for _, step := range []struct {
		set  func()
		want string
	}{
		{func() { t.Setenv("EDITOR", "cat") }, "cat"},
		{func() { t.Setenv("VISUAL", "sh editor --wait") }, "sh editor --wait"},
		{func() { testGit(t, repo.WorkTree, "config", "core.editor", "'an editor' x") }, "'an editor' x"},
		{func() { t.Setenv("GIT_EDITOR", ":") }, NoEditor},
	} {
		step.set()
		if got, err := repo.Editor(ctx); err != nil || got != step.want {
			t.Errorf("%q, %v; want %q", got, err, step.want)
		}
	}
}

func TestEditorThatIsNotThere(t *testing.T) {
	repo := newTestRepo(t)
	t.Setenv("GIT_EDITOR", "no-such-editor --wait")
	if got, err := repo.Editor(t.Context()); !errors.Is(err, ErrEditor) ||
		!strings.Contains(err.Error(), `"no-such-editor --wait" was not found`) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEditorOfADumbTerminal(t *testing.T) {
	repo := newTestRepo(t)
	for _, name := range []string{"GIT_EDITOR", "VISUAL", "EDITOR"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("TERM", "dumb")
	if got, err := repo.Editor(context.Background()); !errors.Is(err, ErrEditor) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEditFile(t *testing.T) {
	repo := newTestRepo(t)
	path := filepath.Join(t.TempDir(), `a "file" $(x)`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // an interrupt does not end an editor
	for name, test := range map[string]struct {
		editor, want, problem string
	}{
		"a command with options":  {"printf '%s\\n' 'two words' >", "two words\n", ""},
		"standard input":          {"cat >", "typed\n", ""},
		"a failing one":           {"echo half > \"$1\"; exit 3; true", "half\n", "exit status 3"},
		"one that does not exist": {"no-such-editor --wait", "before\n", "was not found"},
	} {
		if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		err := repo.EditFile(ctx, test.editor, path, Terminal{In: strings.NewReader("typed\n"), Out: &said, Err: &said})
		text, readErr := os.ReadFile(path)
		if readErr != nil || string(text) != test.want {
			t.Errorf("%s: %q, %v", name, text, readErr)
		}
		if errors.Is(err, ErrEditor) != (test.problem != "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
