//go:build !unix

package refdb

import "io/fs"

// inode returns "unknown": there are no inode numbers here.
func inode(fs.FileInfo) string { return "unknown" }
