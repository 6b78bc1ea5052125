package gitdir

import (
	"os"
	"testing"

	"git-runr/gitstore/testrepo"
	"git-runr/gitstore/testtmp"
)

func TestMain(m *testing.M) {
	testtmp.InMemory()
	os.Exit(m.Run())
}

var (
	testGit       = testrepo.Git
	isolate       = testrepo.Isolate
	writeTestFile = testrepo.WriteFile
	exists        = testrepo.Exists
	readTestFile  = testrepo.ReadFile
	shell         = testrepo.Shell
	replaceFile   = testrepo.ReplaceFile
	spoil         = testrepo.Spoil
)
