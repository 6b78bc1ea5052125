package entrylog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process notices when another process gives the clone a new id, or when somebody edits it in the configuration.
func TestStoredWriter(t *testing.T) {
	repo := newTestRepo(t)
	write(t, repo, "first")
	for _, set := range []string{"000000000001", "000000000002"} {
		testGit(t, repo.dir.WorkTree, "config", "--local", writerKey, set)
		if id, err := repo.storedWriter(t.Context(), Audience{}); id != set || err != nil {
			t.Errorf("%q, %v instead of %s", id, err, set)
		}
		repo = openTestRepo(t, repo.dir.WorkTree)
		if !repo.stillWriter(Audience{}, set) {
			t.Error("git is asked for what is as it was")
		}
	}
	path := filepath.Join(repo.dir.CommonDir, "config")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, path, []byte(strings.Replace(string(text), "\twriter = ", "\tWriter=", 1)))
	if id, err := repo.storedWriter(t.Context(), Audience{}); id != "000000000002" || err != nil {
		t.Errorf("by hand: %q, %v", id, err)
	}
}
