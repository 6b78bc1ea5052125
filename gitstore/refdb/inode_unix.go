//go:build unix

package refdb

import (
	"io/fs"
	"strconv"
	"syscall"
)

// Inode returns a file's inode number, which tells it from a later file of the same name, or "unknown".
func Inode(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return strconv.FormatUint(uint64(stat.Ino), 10)
}
