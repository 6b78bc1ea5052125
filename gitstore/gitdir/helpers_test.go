package gitdir

import (
	"os"
	"testing"

	"git-runr/gitstore/testtmp"
)

func TestMain(m *testing.M) {
	testtmp.InMemory()
	os.Exit(m.Run())
}
