// Package safefile writes files so that a reader sees the old content or the new, and
// that a power cut leaves one of both.
package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// WriteFile replaces a file as a whole: a reader sees the old content or the new,
// never a part, and a symbolic link is replaced, not followed. Missing parent
// directories are made; the umask narrows perm. It is not synced to disk: it is for
// what can be made again.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false, false)
}

// WriteDurable is WriteFile for what cannot be made again: it is on the disk when
// it returns.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true, false)
}

// WriteExact is WriteDurable with just the permissions that are given, whatever the
// umask is: for a file that somebody else set up.
func WriteExact(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true, true)
}

func replace(path string, data []byte, perm fs.FileMode, durable, exact bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp := path + ".tmp" + strconv.FormatUint(rand.Uint64(), 36)
	err := create(temp, data, perm, durable)
	if err == nil && exact {
		err = os.Chmod(temp, perm)
	}
	if err == nil {
		err = inPlace(path, os.Rename(temp, path))
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	if durable {
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

// Create writes a file that must not exist, nor a symbolic link in its place, and
// syncs its content. After an error there is none, unless it is fs.ErrExist.
func Create(path string, data []byte, perm fs.FileMode) error { return create(path, data, perm, true) }

func create(path string, data []byte, perm fs.FileMode, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// ErrIrregular is something else than a file, such as a pipe or a directory, where a file of
// this tool's belongs.
var ErrIrregular = errors.New("something that is no file is in its place")

// ReadFile reads a file of this tool's. It waits for nobody: what is no file is ErrIrregular.
func ReadFile(path string) ([]byte, error) {
	if err := irregular(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// OpenFile is os.OpenFile of a file of this tool's; what is no file is ErrIrregular.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := irregular(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag, perm)
	return f, inPlace(path, err)
}

// irregular is ErrIrregular where path names, or leads to, something that is no file.
func irregular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q: %w", path, ErrIrregular)
	}
	return nil
}

// inPlace says which file could not be opened or replaced because something else is there,
// also a symbolic link that leads nowhere; other errors are as they were.
func inPlace(path string, err error) error {
	if err == nil {
		return nil
	}
	if wrong := irregular(path); wrong != nil {
		return wrong
	}
	if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&fs.ModeSymlink != 0 && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: %w", path, ErrIrregular)
	}
	return err
}

// SyncDir makes the names in a directory durable. File systems that cannot sync
// a directory, and Windows, are taken as they are.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
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

// Hash names a file's content: its SHA-256, in hexadecimal digits.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Touch gives a file the present time, in access and modification.
func Touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}
