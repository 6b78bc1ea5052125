//go:build !unix

package refdb

import "io/fs"

// Inode returns "unknown": there are no inode numbers here.
func Inode(fs.FileInfo) string { return "unknown" }
