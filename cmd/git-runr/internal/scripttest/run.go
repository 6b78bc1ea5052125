package scripttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// RunIn runs a program in a directory and returns what it printed. The test ends if the program fails.
func RunIn(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// Repo makes a repository with one commit, and the environment in which it is used: a home of its own, by Ada.
func Repo(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config,
		[]byte("[user]\n\tname = Ada\n\temail = ada@example.com\n[core]\n\tfsync = none\n[runr \"inbox\"]\n"+
			"\tautoResolve = never\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "GIT_CONFIG_GLOBAL="+config,
		"GIT_CONFIG_NOSYSTEM=1")
	RunIn(t, dir, env, "git", "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	RunIn(t, dir, env, "git", "add", ".")
	RunIn(t, dir, env, "git", "commit", "-q", "-m", "first")
	return dir, env
}
