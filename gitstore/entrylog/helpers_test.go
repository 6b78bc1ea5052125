package entrylog

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
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
	objects := odb.New(repo)
	return New(repo, objects, refdb.New(repo, objects))
}

// newTestRepoFormat creates an empty repository with an object format.
func newTestRepoFormat(t *testing.T, format string) *Store {
	t.Helper()
	return openTestRepo(t, testrepo.NewFormat(t, format))
}

var (
	testAgent = gitdir.Identity{Name: "Agent", Email: "agent@example.com"}
	testWhen  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// testCommits creates n commits that no ref points to.
func testCommits(t *testing.T, repo *Store, n int) []odb.ID {
	t.Helper()
	tree, err := repo.objects.WriteTree(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []odb.ID
	for i := range n {
		id, err := repo.objects.WriteCommit(context.Background(),
			odb.Commit{Tree: tree, Author: testAgent, Committer: testAgent,
				AuthorWhen: time.Unix(int64(i), 0), CommitterWhen: time.Unix(int64(i), 0), Message: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func unhex(t *testing.T, id odb.ID) []byte {
	t.Helper()
	data, err := hex.DecodeString(string(id))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
