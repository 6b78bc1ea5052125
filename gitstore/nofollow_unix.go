//go:build unix

package gitstore

import "golang.org/x/sys/unix"

// noFollow opens no symbolic link.
const noFollow = unix.O_NOFOLLOW

// inodeChanged is when a file was last changed in any way, in nanoseconds: unlike its time of modification
// nobody sets it. It is 0 where that is not known.
func inodeChanged(path string) int64 {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return 0
	}
	return stat.Ctim.Nano()
}
