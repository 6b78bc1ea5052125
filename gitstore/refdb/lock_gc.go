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
// needs them by now or not. Objects that the caller has in memory are written again where gc
// does not delete them; a ref to any other object has to wait.

// MoveToNew moves a ref to new objects, like SwapAnyNow, and protects them from a running gc:
// it also writes them to a pack of their own with a .keep file. The next writer that finds no
// running gc removes the .keep file.
func (s *Store) MoveToNew(ctx context.Context, ref string, new, old odb.ID, objects odb.Batch) error {
	kept := s.dir.GcRuns()
	if kept {
		if err := s.keepObjects(ctx, objects); err != nil {
			return fmt.Errorf("keep objects from gc: %w", err)
		}
	}
	if err := s.SwapAnyNow(ctx, ref, new, old); err != nil {
		return err
	}
	if !kept && s.dir.GcRuns() {
		_ = s.keepObjects(ctx, objects) // the ref has moved, so a gc that starts later sees it
	}
	return nil
}

// keepObjects writes objects as a pack that gc does not delete, and records its name in the file of
// the lock "kept".
func (s *Store) keepObjects(ctx context.Context, objects odb.Batch) error {
	pack, err := s.objects.EncodePack(objects)
	if err != nil {
		return err
	}
	held, err := s.dir.LockFile(ctx, "kept")
	if err != nil {
		return err
	}
	defer held.Close()
	if _, err := held.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	name := hex.EncodeToString(pack[len(pack)-len(s.objects.ZeroID())/2:]) // git names a pack by its checksum
	if _, err := held.WriteString(name + "\n"); err != nil {
		return err
	}
	for range gitdir.RenameTries { // gc deletes temporary files too
		_, err = s.dir.GitIn(ctx, pack, "index-pack", "--stdin", "--keep=git-runr")
		if !errors.As(err, new(*gitdir.GitError)) {
			break
		}
	}
	return err
}

// ReleaseKept removes the .keep files of packs that were protected from a gc that has ended.
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
