package queue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/runtest"
)

// TestDropStatuses: the next worker removes all files of one that was killed, also a status file that was being
// written, and none of one that is at work.
func TestDropStatuses(t *testing.T) {
	s := runtest.NewStore(t)
	const dead, alive = "20260107120000-aaaaaa", "20260107120000-bbbbbb"
	if err := os.MkdirAll(s.Repo.StateDir(), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{dead, alive} {
		for _, end := range []string{".json", ".json.tmp2qsk1f5uuvlwm"} {
			if err := os.WriteFile(statusPath(s, id)+strings.TrimPrefix(end, ".json"), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	unlock, err := tryLock(s.Repo, reviewLock(alive))
	if err != nil || unlock == nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := dropStatuses(s); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(s.Repo.StateDir(), "review-*"))
	for _, file := range left {
		if !strings.Contains(file, alive) {
			t.Errorf("left %s", file)
		}
	}
	if len(left) < 2 {
		t.Errorf("of the worker that runs %q is left", left)
	}
}
