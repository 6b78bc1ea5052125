//go:build unix

package entrylog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asNobody runs one test of this binary again as a user who is not root, for whom
// permissions count; false when that is the case already.
func asNobody(t *testing.T, dir string) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	const nobody = 65534
	binary := filepath.Join(t.TempDir(), "test")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{dir, os.Getenv("HOME"), filepath.Dir(binary)} {
		for parent := root; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
			os.Chmod(parent, 0o755)
		}
		filepath.WalkDir(root, func(path string, _ fs.DirEntry, _ error) error { return os.Lchown(path, nobody, nobody) })
	}
	child := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	child.Dir = dir
	child.Env = append(os.Environ(), "RUNR_TEST_REPO="+dir)
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := child.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("the directory for temporary files is closed to other users")
	}
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
	return true
}

func TestReadOnlyRepository(t *testing.T) {
	dir := os.Getenv("RUNR_TEST_REPO")
	if dir == "" {
		repo := newTestRepo(t)
		if _, err := repo.Append(context.Background(), appendText("before")); err != nil {
			t.Fatal(err)
		}
		if asNobody(t, repo.dir.WorkTree) {
			return
		}
		dir = repo.dir.WorkTree
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git that another user may run")
	}
	repo, ctx := openTestRepo(t, dir), context.Background()
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
