package entrylog

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-runr/gitstore/refdb"
)

// dropStaleLocks removes the lock files below a place of this tool's own refs that a
// killed git has left there, and tells them. git never does, so that one kill would
// stop every later fetch. A ref's lock is held for milliseconds; one that is older
// than ten seconds is nobody's, and no writer of ours is at work meanwhile.
func (s *Store) dropStaleLocks(ctx context.Context, place string) []string {
	if s.dir.Reftable {
		return nil
	}
	unlock, err := s.dir.Lock(ctx, "refs")
	if err != nil {
		return nil // whoever holds it is at work
	}
	defer unlock()
	var dropped []string
	root := filepath.Join(s.dir.CommonDir, filepath.FromSlash(place))
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".lock") {
			return nil // what cannot be read stays
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < refdb.RefLockStale || os.Remove(path) != nil {
			return nil
		}
		below, _ := filepath.Rel(s.dir.CommonDir, path)
		dropped = append(dropped, fmt.Sprintf("%s (%s old)", filepath.ToSlash(below), time.Since(info.ModTime()).Round(time.Second)))
		return nil
	})
	return dropped
}
