// Package testneed finds what a test needs beyond git, Go and the tools of POSIX: other
// shells, readers of manual pages, files that a distribution installs. Tests look for
// such things here only, so that `go test ./...` passes on a machine that has none of them.
package testneed

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// posix names the core utilities that a test may use, which .ci/run reads too.
//
//go:embed posix.txt
var posix string

// BareVar is the variable under which nothing is found, for a machine that cannot hide
// what it has.
const BareVar = "RUNR_BARE"

// Program returns the path of a program, and skips the test with one line where it is missing.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, ok := Look(t, name)
	if !ok {
		t.SkipNow()
	}
	return path
}

// File skips the test with one line where a file is missing.
func File(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil || os.Getenv(BareVar) != "" {
		t.Skipf("SKIP what needs %s", path)
	}
}

// Look is Program for a test that can do without: it logs one line instead.
func Look(t testing.TB, name string) (path string, ok bool) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil || name != "sh" && os.Getenv(BareVar) != "" { // every machine of the README's has a POSIX shell
		t.Logf("SKIP what needs %s", name)
		return "", false
	}
	return path, true
}

// Link makes links to git, go, a POSIX shell, the core utilities of POSIX and more programs in dir, for a PATH on which
// nothing else is found. What this machine does not have is left out.
func Link(dir string, more ...string) error {
	for _, name := range append(append(strings.Fields(posix), "git", "go", "sh"), more...) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
