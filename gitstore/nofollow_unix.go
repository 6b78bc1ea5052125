//go:build unix

package gitstore

import "syscall"

// noFollow opens no symbolic link.
const noFollow = syscall.O_NOFOLLOW
