//go:build !unix

package gitstore

// noFollow is no flag here: an os.Root does not leave its directory in any case.
const noFollow = 0

// inodeChanged is not known here.
func inodeChanged(string) int64 { return 0 }
