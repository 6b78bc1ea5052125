package gitdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

const (
	gcWait  = 30 * time.Second // how long a write waits for a running gc
	gcStale = 12 * time.Hour   // the age from which git too ignores a gc.pid
)

// WaitForGC waits until no gc runs in the repository, at most 30 s. The caller must not hold
// a lock.
func (d *Dir) WaitForGC(ctx context.Context) error {
	err := WaitFor(ctx, gcWait, 200*time.Millisecond, func() (bool, error) { return !d.GcRuns(), nil })
	if errors.Is(err, ErrWaited) {
		return nil
	}
	return err
}

// GcRuns reports whether a gc runs. It reads gc.pid, a process id and a host name, and assumes
// that a process of another host is alive.
func (d *Dir) GcRuns() bool {
	path := filepath.Join(d.CommonDir, "gc.pid")
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > gcStale {
		return false
	}
	text, err := safefile.ReadFile(path)
	if err != nil {
		return false
	}
	var pid int
	var host string
	if n, _ := fmt.Sscan(string(text), &pid, &host); n < 2 || pid <= 0 {
		return false
	}
	here, err := os.Hostname()
	if err != nil || !strings.EqualFold(host, here) {
		return true
	}
	return !processGone(pid)
}
