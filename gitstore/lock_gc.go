package gitstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	gcWait  = 30 * time.Second // how long a write is held back for a running gc
	gcStale = 12 * time.Hour   // after which git too takes a gc.pid for left over
)

// `git gc --prune=now` deletes objects that were written while it ran, whether a ref
// has come to need them or not. What is at hand is written once more where gc leaves
// it alone; a ref to anything else waits.

// moveToNew moves a ref to new objects, as swapRefNow does. A gc that runs does not
// take them: then they are in a pack of their own with a .keep file, which the next
// writer who finds no gc removes.
func (r *Repo) moveToNew(ctx context.Context, ref string, new, old ID, objects objectBatch) error {
	kept := r.gcRuns()
	if kept {
		if err := r.keepObjects(ctx, objects); err != nil {
			return err
		}
	}
	err := r.swapRefNow(ctx, ref, new, old)
	if err == nil && !kept && r.gcRuns() {
		_ = r.keepObjects(ctx, objects) // the ref has moved, and a gc that began after that sees it
	}
	return err
}

// keepObjects writes objects as a pack that gc leaves alone. Which one it is stands in
// the file of the lock.
func (r *Repo) keepObjects(ctx context.Context, objects objectBatch) error {
	pack, err := r.encodePack(objects)
	if err != nil {
		return fmt.Errorf("keep objects from gc: %w", err)
	}
	held, err := r.lockFile(ctx, "kept")
	if err != nil {
		return fmt.Errorf("keep objects from gc: %w", err)
	}
	defer held.Close()
	name := hex.EncodeToString(pack[len(pack)-len(r.zeroID())/2:]) // as git names it: by its checksum
	if _, err = held.Seek(0, io.SeekEnd); err == nil {
		_, err = held.WriteString(name + "\n")
	}
	var exit *GitError
	for tries := 0; err == nil || errors.As(err, &exit) && tries < renameTries; tries++ { // gc takes temporary files too
		if _, err = r.gitIn(ctx, pack, "index-pack", "--stdin", "--keep=git-runr"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("keep objects from gc: %w", err)
}

// releaseKept lets gc have the packs that were kept from one that has ended.
func (r *Repo) releaseKept(ctx context.Context) error {
	path, err := r.lockPath("kept")
	if info, statErr := os.Stat(path); err != nil || statErr != nil || info.Size() == 0 || r.gcRuns() {
		return err
	}
	held, err := r.lockFile(ctx, "kept")
	if err != nil {
		return err
	}
	defer held.Close()
	names, err := io.ReadAll(held)
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(names)) {
		if isHex(name) {
			_ = os.Remove(filepath.Join(r.objectsPath(), "pack", "pack-"+name+".keep"))
		}
	}
	return held.Truncate(0)
}

// waitForGC waits until no gc runs in the repository, at most 30 s. Not to be called
// with a lock held.
func (r *Repo) waitForGC(ctx context.Context) error {
	err := waitFor(ctx, gcWait, 200*time.Millisecond, func() (bool, error) { return !r.gcRuns(), nil })
	if errors.Is(err, errWaited) {
		return nil
	}
	return err
}

// gcRuns reads gc.pid: a process id and a host name. A process of another host is
// taken to be alive.
func (r *Repo) gcRuns() bool {
	path := filepath.Join(r.CommonDir, "gc.pid")
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > gcStale {
		return false
	}
	text, err := os.ReadFile(path)
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
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
