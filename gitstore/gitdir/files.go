package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// MkdirShared creates a directory below the common directory, with its parents,
// durably and with the permissions of core.sharedRepository.
func (d *Dir) MkdirShared(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return requireDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) && len(dir) > len(d.CommonDir) {
		if err := d.MkdirShared(filepath.Dir(dir)); err != nil {
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
	if err := d.Share(dir); err != nil {
		return err
	}
	return safefile.SyncDir(filepath.Dir(dir))
}

// requireDir returns nil for a directory or a symbolic link to one, and ENOTDIR for
// any other file.
func requireDir(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
}

// Share widens the permissions of a new file or directory as git does if
// core.sharedRepository is set. Otherwise it does nothing.
func (d *Dir) Share(path string) error {
	tweak, exact := sharedBits(d.Config.Get("core.sharedrepository"))
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

// sharedBits parses core.sharedRepository: the permissions to add, or, if exact, to
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

// sharedMode applies sharedBits to mode. Read-only files stay read-only, and whoever may read a
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

// RenameTries is how often an operation creates a directory again that gc, which removes
// empty directories, deleted before the file was in it.
const RenameTries = 20
