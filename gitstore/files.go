package gitstore

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	return syncDir(filepath.Dir(path))
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

// syncDir makes the names in a directory durable. File systems that cannot sync
// a directory are taken as they are.
func syncDir(dir string) error {
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

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// mkdirShared makes a directory below the common directory, with its parents,
// durably and with the permissions that core.sharedRepository asks for.
func (r *Repo) mkdirShared(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return requireDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) && len(dir) > len(r.CommonDir) {
		if err := r.mkdirShared(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o777)
		if errors.Is(err, fs.ErrExist) {
			return requireDir(dir)
		}
	}
	if err != nil {
		return err
	}
	if err := r.share(dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// requireDir is nil for a directory, also through a symbolic link, and ENOTDIR for
// any other file.
func requireDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// share widens the permissions of a new file or directory as git does when
// core.sharedRepository is set, and does nothing otherwise.
func (r *Repo) share(path string) error {
	tweak, exact := sharedBits(r.Config.Get("core.sharedrepository"))
	if tweak == 0 {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	mode := sharedMode(info.Mode(), tweak, exact)
	if mode == info.Mode() {
		return nil
	}
	return os.Chmod(path, mode)
}

// sharedBits reads core.sharedRepository: the permissions to add, or (exact) to
// set. No bits means that the umask decides.
func sharedBits(value string) (bits fs.FileMode, exact bool) {
	switch strings.ToLower(value) {
	case "group", "true", "yes", "on", "1":
		return 0o660, false
	case "all", "world", "everybody", "2":
		return 0o664, false
	}
	octal, err := strconv.ParseUint(value, 8, 32)
	if err != nil || octal&0o600 != 0o600 {
		return 0, false
	}
	return fs.FileMode(octal & 0o666), true
}

// sharedMode applies sharedBits: read-only files stay so, and whoever may read a
// directory may enter it.
func sharedMode(mode, bits fs.FileMode, exact bool) fs.FileMode {
	if mode&0o200 == 0 {
		bits &^= 0o222
	}
	if mode.IsDir() || mode&0o100 != 0 {
		bits |= (bits & 0o444) >> 2
	}
	if exact {
		mode &^= 0o777
	}
	mode |= bits
	if mode.IsDir() {
		mode |= fs.ModeSetgid
	}
	return mode
}

// renameTries is how often a directory is made again that gc, which removes
// empty ones, took away before the file was in it.
const renameTries = 20
