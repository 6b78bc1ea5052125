package refdb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// `git gc --prune=now` deletes objects that were written while it ran, whether a ref
// has come to need them or not. What is at hand is written once more where gc leaves
// it alone; a ref to anything else waits.

// MoveToNew moves a ref to new objects, as SwapAnyNow does. A gc that runs does not
// take them: then they are in a pack of their own with a .keep file, which the next
// writer who finds no gc removes.
func (s *Store) MoveToNew(ctx context.Context, ref string, new, old odb.ID, objects odb.Batch) error {
	kept := s.dir.GcRuns()
	if kept {
		if err := s.keepObjects(ctx, objects); err != nil {
			return err
		}
	}
	err := s.SwapAnyNow(ctx, ref, new, old)
	if err == nil && !kept && s.dir.GcRuns() {
		_ = s.keepObjects(ctx, objects) // the ref has moved, and a gc that began after that sees it
	}
	return err
}

// keepObjects writes objects as a pack that gc leaves alone. Which one it is stands in
// the file of the lock.
func (s *Store) keepObjects(ctx context.Context, objects odb.Batch) error {
	pack, err := s.objects.EncodePack(objects)
	if err != nil {
		return fmt.Errorf("keep objects from gc: %w", err)
	}
	held, err := s.dir.LockFile(ctx, "kept")
	if err != nil {
		return fmt.Errorf("keep objects from gc: %w", err)
	}
	defer held.Close()
	name := hex.EncodeToString(pack[len(pack)-len(s.objects.ZeroID())/2:]) // as git names it: by its checksum
	if _, err = held.Seek(0, io.SeekEnd); err == nil {
		_, err = held.WriteString(name + "\n")
	}
	var exit *gitdir.GitError
	for tries := 0; err == nil || errors.As(err, &exit) && tries < gitdir.RenameTries; tries++ { // gc takes temporary files too
		if _, err = s.dir.GitIn(ctx, pack, "index-pack", "--stdin", "--keep=git-runr"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("keep objects from gc: %w", err)
}

// ReleaseKept lets gc have the packs that were kept from one that has ended.
func (s *Store) ReleaseKept(ctx context.Context) error {
	path, err := s.dir.LockPath("kept")
	if info, statErr := os.Stat(path); err != nil || statErr != nil || info.Size() == 0 || s.dir.GcRuns() {
		return err
	}
	held, err := s.dir.LockFile(ctx, "kept")
	if err != nil {
		return err
	}
	defer held.Close()
	names, err := io.ReadAll(held)
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(names)) {
		if odb.IsHex(name) {
			_ = os.Remove(filepath.Join(s.objects.ObjectsPath(), "pack", "pack-"+name+".keep"))
		}
	}
	return held.Truncate(0)
}
