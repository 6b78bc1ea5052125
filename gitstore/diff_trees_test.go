package gitstore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// TestChangedIsGits compares random trees, in which a name may be a file, a link, a
// submodule, a directory or missing, and expects git's own answer.
func TestChangedIsGits(t *testing.T) {
	repo := newTestRepo(t)
	rng := rand.New(rand.NewPCG(1, 2))
	trees := []ID{repo.objects.EmptyTreeID()}
	for range 40 {
		trees = append(trees, randomTree(t, repo, rng, 0))
	}
	for range 120 {
		a, b := trees[rng.IntN(len(trees))], trees[rng.IntN(len(trees))]
		changes, err := repo.Changed(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, c := range changes {
			fmt.Fprintf(&got, "%s\x00%s\x00", c.raw(repo.objects.ZeroID()), c.Path)
		}
		want := testGit(t, repo.WorkTree, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", string(a),
			string(b))
		if got.String() != want {
			t.Fatalf("%s to %s:\n%q\ngit says\n%q", a, b, got.String(), want)
		}
	}
}

func randomTree(t *testing.T, repo *Repo, rng *rand.Rand, depth int) ID {
	t.Helper()
	var entries []odb.TreeEntry
	for _, name := range []string{"a", "a.", "a-", "a0", "b\nb", "b"} {
		blob, err := repo.objects.Write(t.Context(), "blob", fmt.Append(nil, rng.IntN(2)))
		if err != nil {
			t.Fatal(err)
		}
		switch rng.IntN(8) {
		case 0, 1:
			entries = append(entries, odb.TreeEntry{Mode: ModeFile, Name: name, ID: blob})
		case 2:
			entries = append(entries, odb.TreeEntry{Mode: []string{ModeExecutable, "100664"}[rng.IntN(2)], Name: name, ID: blob})
		case 3:
			entries = append(entries, odb.TreeEntry{Mode: ModeSymlink, Name: name, ID: blob})
		case 4:
			entries = append(entries, odb.TreeEntry{Mode: ModeCommit, Name: name, ID: blob})
		case 5, 6:
			if depth < 3 {
				entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: randomTree(t, repo, rng, depth+1)})
			}
		}
	}
	id, err := repo.objects.WriteTree(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
