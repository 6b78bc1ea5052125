//go:build !unix

package gitstore

// noFollow is no flag here: an os.Root does not leave its directory anyway.
const noFollow = 0

// inodeChanged returns 0: the time is not known here.
func inodeChanged(string) int64 { return 0 }
