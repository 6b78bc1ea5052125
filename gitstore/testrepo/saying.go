package testrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// GitSaying replaces the git of PATH during a test by a script that runs the same git but reports
// another version.
func GitSaying(t *testing.T, version string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\ncase \"$*\" in *' version') echo 'git version " + version + "' ;; *) exec '" + real +
		"' \"$@\" ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
