// Package safefile writes files atomically: a reader sees the old content or the new, and after a
// power cut the file has one of the two. It also refuses to open anything that is not a file.
package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// WriteFile replaces a file as a whole: a reader sees the old content or the new, never a part.
// It replaces a symbolic link and does not follow it. It creates missing parent directories. The
// umask applies to perm. It does not sync, so it is only for content that can be regenerated.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false, false)
}

// WriteDurable is WriteFile for content that cannot be regenerated: it syncs before it returns.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true, false)
}

// WriteExact is WriteDurable with exactly the permissions perm, whatever the umask: for a file
// that somebody else set up.
func WriteExact(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true, true)
}

func replace(path string, data []byte, perm fs.FileMode, durable, exact bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp := tempFor(path)
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

// tempMark is in the name of every temporary file, after that of the file for which it is written.
const tempMark = ".tmp-git-runr-"

func tempFor(path string) string { return path + tempMark + strconv.FormatUint(rand.Uint64(), 36) }

// Left returns the temporary files that killed processes left beside path. A live one may be writing such a file.
func Left(path string) (left []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // a directory that is missing has none
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+tempMark) && entry.Type().IsRegular() {
			left = append(left, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	return left
}

// CreateWhole is Create for a file that has its content as soon as it exists, even if the process is killed. On a file
// system without hard links it is Create.
func CreateWhole(path string, data []byte, perm fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	temp := tempFor(path)
	if err := create(temp, data, perm, true); err != nil {
		return err
	}
	defer os.Remove(temp)
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return create(path, data, perm, true)
}

// Create writes a new file and syncs its content. If the file or a symbolic link exists, it returns
// fs.ErrExist. After any other error there is no file.
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

// ErrIrregular reports something other than a file, such as a pipe or a directory, at the path of a
// file of this tool.
var ErrIrregular = errors.New("something other than a file is in its place")

// ReadFile reads a file of this tool or of git. It never blocks: it returns ErrIrregular for a pipe or the like.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Open is os.Open for a file of this tool or of git. It never blocks: it returns ErrIrregular for a
// pipe or the like, and opens the null device.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Mode().IsRegular() || isNull(info)) {
		return f, nil
	}
	f.Close()
	if err == nil {
		err = &IrregularError{path, info.IsDir()}
	}
	return nil, err
}

// isNull reports whether a file is the null device, which stands for an empty file.
func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// IrregularError is ErrIrregular with the path. For a directory it is EISDIR as well.
type IrregularError struct {
	Path string
	dir  bool
}

func (e *IrregularError) Error() string { return fmt.Sprintf("%q: %v", e.Path, ErrIrregular) }

// Unwrap returns what errors.Is finds in the error.
func (e *IrregularError) Unwrap() []error {
	if e.dir {
		return []error{ErrIrregular, syscall.EISDIR}
	}
	return []error{ErrIrregular}
}

// OpenFile is os.OpenFile for a file of this tool. It returns ErrIrregular for anything but a file.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := CheckRegular(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag, perm)
	return f, inPlace(path, err)
}

// CheckRegular returns ErrIrregular if path is something other than a file or leads to it.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !isNull(info) {
		return &IrregularError{path, info.IsDir()}
	}
	return nil
}

// inPlace turns an error of opening or replacing a file into ErrIrregular if something else is at
// the path, or a symbolic link that leads nowhere. It returns other errors unchanged.
func inPlace(path string, err error) error {
	if err == nil {
		return nil
	}
	if wrong := CheckRegular(path); wrong != nil {
		return wrong
	}
	if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&fs.ModeSymlink != 0 &&
		errors.Is(err, fs.ErrNotExist) {
		return &IrregularError{Path: path}
	}
	return err
}

// SyncDir makes the names in a directory durable. It does nothing on Windows and on file systems
// that cannot sync a directory.
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

// Hash returns the SHA-256 of data in hexadecimal digits.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Touch sets a file's times of access and modification to now.
func Touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}
