// Package testrepo creates files and repositories for tests, with git run as a user would run it.
package testrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git runs git as a user would, without the machine's configuration.
func Git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return GitInput(t, dir, "", args...)
}

// GitInput is Git with input on standard input.
func GitInput(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// Isolate keeps the machine's git configuration and environment out of a test.
func Isolate(t *testing.T) {
	t.Helper()
	if os.Getenv("GITSTORE_TEST") != "" { // set by the test that this one is part of; it may run in parallel with others
		return
	}
	t.Setenv("GITSTORE_TEST", t.Name())
	home := t.TempDir()
	config := filepath.Join(home, "gitconfig")
	text := "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n" +
		"\tallow = always\n[maintenance]\n\tauto = false\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

// WriteFile writes a file and creates the directories above it.
func WriteFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Exists reports whether there is anything at a path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ReadFile returns the text of a file.
func ReadFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Shell runs a script in a directory, as an agent would.
func Shell(t *testing.T, dir, script string) {
	t.Helper()
	if out, err := RunScript(dir, script); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// ReplaceFile replaces a file that may be read-only.
func ReplaceFile(t *testing.T, path string, data []byte) {
	t.Helper()
	os.Remove(path)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Spoil overwrites a file of git, which is read-only, with the result of change.
func Spoil(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.Chmod(path, 0o644)
	}
	if err == nil {
		err = os.WriteFile(path, change(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// RunScript runs a sh script in dir and returns its combined output.
func RunScript(dir, script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// New creates a repository with one commit and returns its directory.
func New(t *testing.T) string {
	t.Helper()
	Isolate(t)
	dir := t.TempDir()
	Git(t, dir, "init", "-q")
	WriteFile(t, dir, "a.txt", "one\n")
	Git(t, dir, "add", ".")
	Git(t, dir, "commit", "-qm", "first")
	return dir
}

// NewFormat creates an empty repository with an object format, "sha1" or "sha256", and
// returns its directory.
func NewFormat(t *testing.T, format string) string {
	t.Helper()
	Isolate(t)
	dir := t.TempDir()
	Git(t, dir, "init", "-q", "--object-format="+format)
	return dir
}
