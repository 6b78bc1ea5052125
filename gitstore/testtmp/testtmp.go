// Package testtmp has tests keep their temporary files in memory: most of the time of
// a test of this program goes into files that git makes and removes again. AsNobody runs one as a
// user for whom permissions count.
package testtmp

import "os"

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
