package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
)

// TestVersionOnTheTerminal: the program prints its version, also outside of a repository.
func TestVersionOnTheTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	if got, status := outputOf(t, "--version"); status != 0 || got != "git-runr "+buildNow().String()+"\n" {
		t.Errorf("%d: %q", status, got)
	}
	if got, status := outputOf(t, "--version", "--json"); status != 0 ||
		!strings.HasPrefix(got, `{"v":1,"version":"`+buildNow().Version) {
		t.Errorf("%d: %q", status, got)
	}
}

// TestReleaseStampsTheVersion: the release recipe sets an existing variable.
func TestReleaseStampsTheVersion(t *testing.T) {
	recipe, err := os.ReadFile(filepath.Join("..", "..", "..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("help.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(recipe), "-X "+build.Module+"/cmd/git-runr/internal/app.version=v{{ .Version }}") ||
		!strings.Contains(string(source), "\nvar version = ") {
		t.Error(".goreleaser.yaml does not set the variable version of help.go")
	}
}
