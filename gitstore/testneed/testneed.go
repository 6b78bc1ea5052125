// Package testneed finds what a test needs beyond git, Go and the tools of POSIX: other
// shells, readers of manual pages, files that a distribution installs. Tests look for
// such things here only, so that `go test ./...` passes on a machine that has none of them.
package testneed

import (
	"os"
	"os/exec"
	"testing"
)

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
