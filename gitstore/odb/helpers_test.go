package odb

import (
	"context"
	"os"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

func TestMain(m *testing.M) {
	testtmp.InMemory()
	os.Exit(m.Run())
}

var (
	testGit       = testrepo.Git
	writeTestFile = testrepo.WriteFile
	readTestFile  = testrepo.ReadFile
	shell         = testrepo.Shell
	replaceFile   = testrepo.ReplaceFile
	spoil         = testrepo.Spoil
)

// newTestRepo creates a repository with one commit and opens it.
func newTestRepo(t *testing.T) *Store {
	t.Helper()
	return openTestRepo(t, testrepo.New(t))
}

func openTestRepo(t *testing.T, dir string) *Store {
	t.Helper()
	repo, err := gitdir.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return New(repo)
}

// newTestRepoFormat creates an empty repository with an object format.
func newTestRepoFormat(t *testing.T, format string) *Store {
	t.Helper()
	return openTestRepo(t, testrepo.NewFormat(t, format))
}
