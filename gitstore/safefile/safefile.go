// Package safefile writes files so that a reader sees the old content or the new, and
// that a power cut leaves one of both.
package safefile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// WriteFile replaces a file as a whole: a reader sees the old content or the new,
// never a part. Missing parent directories are made. It is not synced to disk: it
// is for what can be made again.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return putFile(path, data, perm, false)
}

// WriteDurable is WriteFile for what cannot be made again: it is on the disk when
// it returns.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	if err := putFile(path, data, perm, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func putFile(path string, data []byte, perm fs.FileMode, sync bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp := path + ".tmp" + strconv.FormatUint(rand.Uint64(), 36)
	err := writeNewFile(temp, data, perm, sync)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// writeNewFile creates a file, which must not exist.
func writeNewFile(path string, data []byte, perm fs.FileMode, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes the names in a directory durable. File systems that cannot sync
// a directory are taken as they are.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func Touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}
