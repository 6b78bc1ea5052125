package queue

import (
	"os"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testtmp"
)

func TestMain(m *testing.M) {
	testtmp.InMemory()
	os.Exit(m.Run())
}
