package agent

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDeliver(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const prompt = "look at {prompt_file} and {model}\n"
	d, err := deliver([]string{"x", "-"}, prompt)
	if err != nil || strings.Join(d.args, " ") != "x -" || d.dir != "" {
		t.Errorf("%+v, %v", d, err)
	}
	if said, _ := io.ReadAll(d.stdin); string(said) != prompt {
		t.Errorf("standard input %q", said)
	}
	d, err = deliver([]string{"x", "-p", "{prompt}"}, prompt)
	if err != nil || d.args[2] != prompt || d.stdin != nil {
		t.Errorf("as text: %+v, %v", d, err)
	}
	long := strings.Repeat("a", 3*maxArgument) + "\x00"
	d, err = deliver([]string{"x", "--file={prompt_file}"}, long)
	if err != nil || d.stdin != nil {
		t.Fatal(d, err)
	}
	name := strings.TrimPrefix(d.args[1], "--file=")
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if said, _ := os.ReadFile(name); string(said) != long {
		t.Errorf("%d bytes in the file", len(said))
	}
	d.close()
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A prompt that does not fit is refused, never cut.
func TestDeliverTooLong(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, tc := range []struct {
		arg, prompt string
		want        error
	}{
		{"{prompt}", strings.Repeat("a", maxArgument), nil},
		{"{prompt}", strings.Repeat("a", maxArgument+1), errPromptTooLong},
		{"-p={prompt}", strings.Repeat("a", maxArgument), errPromptTooLong},
		{"{prompt}", "a\x00b", errPromptNUL},
	} {
		_, err := deliver([]string{"x", tc.arg, "{prompt_file}"}, tc.prompt)
		if !errors.Is(err, tc.want) {
			t.Errorf("%.20s, %d bytes: %v", tc.arg, len(tc.prompt), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*", "*")); len(left) != 1 { // of the one that fits
		t.Errorf("left %v", left)
	}
}

// A prompt passed as an argument arrives whole; one beyond the system's limit is an error that
// says what to do.
func TestCallPromptArguments(t *testing.T) {
	spec := Spec{Name: "mine", Command: []string{"sh", "-c", `printf %s "$1" | wc -c; cat "$2"`, "sh", "{prompt}",
		"{prompt_file}"}}
	prompt := strings.Repeat("b", maxArgument)
	answer, _, err := Call(t.Context(), spec, Ask{Role: Reviewer, Dir: t.TempDir(), Prompt: prompt}, CallOptions{})
	if err != nil || strings.Join(strings.Fields(answer.Text), " ") != "131071 "+prompt {
		t.Errorf("%.80q, %v", answer.Text, err)
	}
	_, _, err = Call(t.Context(), spec, Ask{Role: Reviewer, Dir: t.TempDir(), Prompt: prompt + "b"}, CallOptions{})
	if !errors.Is(err, errPromptTooLong) || !strings.Contains(err.Error(), "{prompt_file}") {
		t.Errorf("%v", err)
	}
}
