package proctest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// TestIndexOfManyProcesses: while some processes record reviews, some list them, one removes the cache and one is
// killed, no list is shorter than the number of reviews at its start. In the end all are listed.
func TestIndexOfManyProcesses(t *testing.T) {
	dir, env := scripttest.Repo(t)
	const writers, each, readers = 3, 8, 2
	list := func(ctx context.Context) (total int) {
		cmd := exec.CommandContext(ctx, "git-runr", "inbox", "list", "--json", "--status", "all")
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		var doc struct{ Total int }
		if err == nil {
			err = json.Unmarshal(out, &doc)
		}
		if err != nil && ctx.Err() == nil {
			t.Errorf("list: %v: %s", err, out)
		}
		return doc.Total
	}
	var writing, reading sync.WaitGroup
	done, stop := context.WithCancel(t.Context())
	defer stop()
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				cmd := exec.Command("git-runr", "review", "--reviewer", "human", "--no-serve", "-m", fmt.Sprint(w, i), "HEAD")
				cmd.Dir, cmd.Env = dir, env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("review: %v: %s", err, out)
				}
				list(t.Context())
			}
		})
	}
	for r := range readers {
		reading.Go(func() {
			least := 0
			for n := 0; done.Err() == nil; n++ {
				total := list(t.Context())
				if total < least {
					t.Errorf("%d reviews are listed, there were %d", total, least)
				}
				least = total
				switch {
				case r == 0 && n%4 == 3:
					_ = os.RemoveAll(filepath.Join(dir, ".git", "runr", "cache"))
				case r == 1: // killed anywhere
					ctx, cancel := context.WithCancel(t.Context())
					go func() { defer cancel(); list(t.Context()) }()
					list(ctx)
				}
			}
		})
	}
	writing.Wait()
	stop()
	reading.Wait()
	if total := list(t.Context()); total != writers*each {
		t.Errorf("%d reviews are listed, want %d", total, writers*each)
	}
	files, err := filepath.Glob(filepath.Join(dir, ".git", "runr", "cache", "*"))
	if err != nil || len(files) > 40 {
		t.Errorf("%d files are left: %v, %v", len(files), files, err)
	}
}
