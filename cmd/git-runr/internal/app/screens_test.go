package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// TestScreensAreInASecondProgram: git-runr becomes git-runr-serve for a screen, also through a symbolic link, and says
// what to type where that is missing.
func TestScreensAreInASecondProgram(t *testing.T) {
	repo, env := scripttest.Repo(t)
	dir, links := t.TempDir(), t.TempDir()
	scripttest.RunIn(t, ".", os.Environ(), "go", "build", "-o", dir, build.Module+"/cmd/...")
	link := filepath.Join(links, "git-runr")
	if err := os.Symlink(filepath.Join(dir, "git-runr"), link); err != nil {
		t.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	ask := func(program string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, "mcp")
		cmd.Dir, cmd.Env, cmd.Stdin = repo, env, strings.NewReader(hello)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, program := range []string{filepath.Join(dir, "git-runr"), link} {
		if out, err := ask(program); err != nil || !strings.Contains(out, `"serverInfo"`) {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "git-runr-serve")); err != nil {
		t.Fatal(err)
	}
	out, _ := ask(link)
	if !strings.Contains(out, "git-runr-serve") || !strings.Contains(out, "go install "+build.Module+"/cmd/...") {
		t.Errorf("without git-runr-serve: %s", out)
	}
}

// TestRulesForSecretsAreInASecondProgram: git-runr redacts with gitleaks' rules, which it gets from git-runr-serve and
// keeps in the user's cache. Without both it redacts whatever looks random and says so, also in the review of the
// built-in reviewer.
func TestRulesForSecretsAreInASecondProgram(t *testing.T) {
	repo, env := scripttest.Repo(t)
	dir, cache := t.TempDir(), t.TempDir()
	env = append(env, "XDG_CACHE_HOME="+cache)
	scripttest.RunIn(t, ".", os.Environ(), "go", "build", "-o", dir, build.Module+"/cmd/...")
	runr := func(args ...string) string {
		t.Helper()
		return scripttest.RunIn(t, repo, env, append([]string{filepath.Join(dir, "git-runr")}, args...)...)
	}
	const guessed = "gitleaks' rules"
	token := "gh" + "p_" + "x7Kq2mW9vLp4RtB8nYc3HdF6jSg1ZaE5uXo0"
	submit := func() string {
		t.Helper()
		runr("review", "--reviewer", "human", "--no-serve")
		return runr("inbox", "submit", "latest", "--request-changes", "-m", "it prints "+token)
	}
	if out := submit() + runr("show"); strings.Contains(out, token) || strings.Contains(out, guessed) {
		t.Errorf("with git-runr-serve: %s", out)
	}
	if err := os.Remove(filepath.Join(dir, "git-runr-serve")); err != nil {
		t.Fatal(err)
	}
	if out := submit() + runr("show"); strings.Contains(out, token) || strings.Contains(out, guessed) {
		t.Errorf("with the rules in the cache: %s", out)
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	out := submit()
	if !strings.Contains(out, guessed) || !strings.Contains(out, build.InstallLine) ||
		strings.Contains(runr("show"), token) {
		t.Errorf("without rules: %s", out)
	}
	runr("review", "--reviewer", "builtin", "--wait")
	if out := runr("show"); !strings.Contains(out, guessed) {
		t.Errorf("a review without rules: %s", out)
	}
}
