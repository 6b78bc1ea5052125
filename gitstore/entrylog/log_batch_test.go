package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

func TestBatch(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, n := range []int{1, odb.BatchLoose + 5} {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			files := map[string][]byte{}
			for i := range n {
				files[fmt.Sprintf("dir%d/file%d", i%3, i)] = []byte(strings.Repeat(fmt.Sprint("text ", i%5), i*30))
			}
			var objects odb.Batch
			tree, err := repo.objects.AddFiles(&objects, files)
			if err != nil {
				t.Fatal(err)
			}
			if err := repo.objects.StoreBatch(ctx, objects, odb.Synced); err != nil {
				t.Fatal(err)
			}
			paths, err := repo.Attachments(ctx, tree)
			if err != nil || len(paths) != n {
				t.Errorf("%s: %d of %d files, %v", format, len(paths), n, err)
			}
			for path, want := range files {
				if got, err := repo.refs.Blob(ctx, tree, path); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %s: %d bytes of %d, %v", format, path, len(got), len(want), err)
				}
			}
			testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		}
	}
}

func TestReftable(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	if err := exec.Command("git", "init", "-q", "--ref-format=reftable", dir).Run(); err != nil {
		t.Skip("this git has no reftable")
	}
	repo, ctx := openTestRepo(t, dir), context.Background()
	if _, err := repo.refs.Head(ctx); !errors.Is(err, gitdir.ErrUnborn) {
		t.Errorf("head: %v", err)
	}
	first := mustAppend(t, repo, Record{Message: "one"})
	second := mustAppend(t, repo, Record{Message: "two"})
	if tips, err := repo.Tips(ctx); tips[repo.Writer()] != second.ID || second.Parent != first.ID || err != nil {
		t.Errorf("tips %v, %v", tips, err)
	}
	testGit(t, dir, "fsck", "--strict")
}
