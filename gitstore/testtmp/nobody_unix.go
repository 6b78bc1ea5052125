//go:build unix

package testtmp

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Place is the variable that says where the other user works.
const Place = "RUNR_TEST_REPO"

// AsNobody runs one test of this binary again as a user who is not root, for whom
// permissions count; false when that is the case already.
func AsNobody(t *testing.T, dir string) bool {
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
	child.Env = append(os.Environ(), Place+"="+dir)
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
