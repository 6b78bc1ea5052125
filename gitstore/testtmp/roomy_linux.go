package testtmp

import "syscall"

const (
	tmpfs    = 0x01021994 // statfs(2)
	noExec   = 0x8
	roomSize = 4 << 30 // bytes
)

// roomy reports whether a directory is in memory, with room for the tests and the
// programs that they make.
func roomy(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && int64(fs.Type) == tmpfs && int64(fs.Flags)&noExec == 0 &&
		int64(fs.Bavail)*int64(fs.Bsize) >= roomSize
}
