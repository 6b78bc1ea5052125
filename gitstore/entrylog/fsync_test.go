package entrylog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// TestGitSyncsWhatItWrites: every git command that writes objects or refs has synced them to disk when it returns,
// even if the user's configuration disables that.
func TestGitSyncsWhatItWrites(t *testing.T) {
	_, repos := newRemote(t, 2)
	repo, ctx := repos[1], context.Background()
	write(t, repos[0], "one")
	pushLogs(t, repos[0])
	testGit(t, repo.dir.WorkTree, "config", "core.fsync", "none")
	head := odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD"))
	batch := func(text string) (objects odb.Batch) {
		objects.Add(repo.objects, "blob", []byte(text))
		return objects
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"object", func() error { _, err := repo.objects.HashObject(ctx, "blob", []byte("alone")); return err }},
		{"loose objects", func() error { return repo.objects.StorePack(ctx, batch("loose"), "unpack-objects", "-q") }},
		{"pack", func() error { return repo.objects.StorePack(ctx, batch("packed"), "index-pack", "--stdin") }},
		{"branch", func() error { return repo.refs.SwapRef(ctx, "refs/heads/new", head, "") }},
		{"many refs", func() error {
			return repo.refs.SwapAll(ctx, []refdb.Moved{{Name: logPrefix + "0123456789ab", New: head}})
		}},
		{"fetch", func() error { _, err := repo.FetchLogs(ctx, "origin", ""); return err }},
		{"fetch again", func() error { return repo.refetchLogs(ctx, "origin", []string{repos[0].Writer()}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeTestFile(t, repo.dir.WorkTree, "file", c.name)
			trace := filepath.Join(t.TempDir(), "trace")
			t.Setenv("GIT_TRACE2_EVENT", trace)
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			said, err := os.ReadFile(trace)
			if err != nil || !bytes.Contains(said, []byte(`"fsync/hardware-flush"`)) {
				t.Errorf("git has synced nothing (%v): %s", err, said)
			}
		})
	}
}
