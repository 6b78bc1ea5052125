//go:build unix

package refdb

import (
	"io/fs"
	"strconv"
	"syscall"
)

// inode tells a file from another one of its name; "unknown" where that cannot be told.
func inode(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return strconv.FormatUint(uint64(stat.Ino), 10)
}
