//go:build linux || darwin || freebsd

package checkup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/store"
)

func TestRoom(t *testing.T) {
	for free, want := range map[int64]string{0: Fail, 1<<20 - 1: Fail, 1 << 20: Warn, lowDisk - 1: Warn, lowDisk: OK} {
		if got := room(free, true); got.State != want {
			t.Errorf("%d bytes: %+v", free, got)
		}
	}
}

// A repository that this user cannot write to is reported, although everything can be read.
func TestUnwritable(t *testing.T) {
	dir := os.Getenv(testtmp.Place)
	if dir == "" {
		dir = t.TempDir()
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Setenv("HOME", t.TempDir())
		if testtmp.AsNobody(t, dir) {
			return
		}
	}
	repo, err := gitstore.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	state := func() Result {
		all := Of(t.Context(), store.NewStore(repo, time.Now), nil, errors.New("left out"), Terms{Offline: true})
		return all[slices.IndexFunc(all, func(r Result) bool { return r.Name == "repository" })]
	}
	if got := state(); got.State != OK {
		t.Errorf("before: %+v", got)
	}
	objects := filepath.Join(repo.CommonDir, "objects")
	if err := os.Chmod(objects, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(objects, 0o755)
	if got := state(); got.State != Fail || !strings.Contains(got.Detail, objects) || len(got.Type) != 1 ||
		got.Type[0] != "ls -ld "+objects {
		t.Errorf("after: %+v", got)
	}
}
