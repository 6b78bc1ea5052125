// Package testtmp has tests keep their temporary files in memory: most of the time of
// a test of this program goes into files that git makes and removes again. AsNobody runs one as a
// user for whom permissions count.
package testtmp

import (
	"os"
	"testing"
)

// LongVar is the variable that asks for the long forms of tests that try many cases or moments.
const LongVar = "RUNR_LONG"

// Long reports whether a test is to try all of its cases. Without it a test tries some of
// each kind, so that `go test ./...` takes minutes; `.ci/run` asks for all.
func Long() bool { return os.Getenv(LongVar) != "" && !testing.Short() }

// InMemory makes /dev/shm the place of temporary files of this process and those that
// it starts, where nobody has chosen one with TMPDIR, it is large enough and programs
// can be run from it. It is to be called before the first of them is made.
func InMemory() {
	const shm = "/dev/shm"
	if os.Getenv("TMPDIR") != "" || !roomy(shm) {
		return
	}
	if dir, err := os.MkdirTemp(shm, "testtmp"); err == nil && os.Remove(dir) == nil {
		os.Setenv("TMPDIR", shm)
	}
}
