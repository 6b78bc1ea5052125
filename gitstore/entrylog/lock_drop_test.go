package entrylog

import (
	"os"
	"testing"
)

func TestDropLock(t *testing.T) {
	repo := newTestRepo(t)
	unlock, ok, err := repo.dir.TryLock("review-1")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	path, err := repo.dir.LockPath("review-1")
	if err != nil {
		t.Fatal(err)
	}
	repo.dir.DropLock("review-1")
	unlock()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if unlock, ok, err := repo.dir.TryLock("review-1"); err != nil || !ok {
		t.Errorf("not free: %v %v", ok, err)
	} else {
		unlock()
	}
}
