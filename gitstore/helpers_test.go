package gitstore

import (
	"context"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testrepo"
)

var (
	testGit       = testrepo.Git
	isolate       = testrepo.Isolate
	writeTestFile = testrepo.WriteFile
	exists        = testrepo.Exists
	readTestFile  = testrepo.ReadFile
	shell         = testrepo.Shell
	runScript     = testrepo.RunScript
)

// newTestRepoFormat creates an empty repository with an object format.
func newTestRepoFormat(t *testing.T, format string) *Repo {
	t.Helper()
	return openTestRepo(t, testrepo.NewFormat(t, format))
}

func testHead(t *testing.T, repo *Repo) ID {
	t.Helper()
	id, err := repo.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
