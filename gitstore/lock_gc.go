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
