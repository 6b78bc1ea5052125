package refdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// whenAsked is a context that calls a function at the first call of Done.
type whenAsked struct {
	context.Context
	once *sync.Once
	call func()
}

func (c whenAsked) Done() <-chan struct{} {
	c.once.Do(c.call)
	return c.Context.Done()
}

// TestSwapAfterGC checks that the ref stays if a running gc deletes the new object, which no ref names yet.
func TestSwapAfterGC(t *testing.T) {
	repo := newTestRepo(t)
	ids := testCommits(t, repo, 2)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(repo.dir.CommonDir, "gc.pid")
	for i, deleted := range []bool{true, false} {
		if err := os.WriteFile(pid, fmt.Append(nil, os.Getpid(), " ", host), 0o666); err != nil {
			t.Fatal(err)
		}
		ended := func() { // while SwapAny waits for it
			if deleted {
				os.Remove(repo.objects.LoosePath(ids[i]))
			}
			os.Remove(pid)
		}
		err := repo.SwapAny(whenAsked{context.Background(), new(sync.Once), ended}, "refs/runr/log/aa", ids[i], "")
		if deleted != errors.Is(err, gitdir.ErrLostRace) || !deleted && err != nil {
			t.Errorf("deleted %v: %v", deleted, err)
		}
		if have, err := repo.Ref(t.Context(), "refs/runr/log/aa"); (have == "") != deleted || err != nil {
			t.Errorf("deleted %v: the ref is at %q, %v", deleted, have, err)
		}
	}
}
