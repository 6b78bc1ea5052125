//go:build unix

package gitstore

import "golang.org/x/sys/unix"

// noFollow makes opening a symbolic link fail.
const noFollow = unix.O_NOFOLLOW

// inodeChanged returns when a file was last changed in any way, in nanoseconds. Unlike the time of modification,
// nobody can set it. It returns 0 if the time is unknown.
func inodeChanged(path string) int64 {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return 0
	}
	return stat.Ctim.Nano()
}
