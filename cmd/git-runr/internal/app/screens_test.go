package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
)

// TestScreensAreInASecondProgram: git-runr becomes git-runr-serve for a screen, also through a symbolic link, and says
// what to type where that is missing.
func TestScreensAreInASecondProgram(t *testing.T) {
	repo, env := raceRepo(t)
	dir, links := t.TempDir(), t.TempDir()
	runIn(t, ".", os.Environ(), "go", "build", "-o", dir, build.Module+"/cmd/...")
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
