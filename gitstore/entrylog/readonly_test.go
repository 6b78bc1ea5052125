//go:build unix

package entrylog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testtmp"
)

func TestReadOnlyRepository(t *testing.T) {
	dir := os.Getenv(testtmp.Place)
	if dir == "" {
		repo := newTestRepo(t)
		if _, err := repo.Append(context.Background(), appendText("before")); err != nil {
			t.Fatal(err)
		}
		if testtmp.AsNobody(t, repo.dir.WorkTree) {
			return
		}
		dir = repo.dir.WorkTree
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git that another user may run")
	}
	repo, ctx := openTestRepo(t, dir), context.Background()
	if err := repo.dir.Unwritable(); err != nil {
		t.Errorf("before: %v", err)
	}
	var dirs []string
	filepath.WalkDir(repo.dir.GitDir, func(path string, entry fs.DirEntry, _ error) error {
		if entry.IsDir() {
			dirs = append(dirs, path)
		} else {
			os.Chmod(path, 0o444)
		}
		return nil
	})
	for _, d := range dirs {
		os.Chmod(d, 0o555)
		defer os.Chmod(d, 0o755)
	}
	if err := repo.dir.Unwritable(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("it may be written to: %v", err)
	}
	if tips, err := repo.Tips(ctx); len(tips) != 1 || err != nil {
		t.Errorf("tips %v, %v", tips, err)
	}
	if _, err := repo.Append(ctx, appendText("after")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("append: %v", err)
	}
	if err := repo.refs.SwapRef(ctx, "refs/runr-local/x", testHead(t, repo), ""); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("move ref: %v", err)
	}
	if _, err := repo.objects.Write(ctx, "blob", []byte("new")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write object: %v", err)
	}
}
