//go:build !unix

package gitstore

// noFollow is no flag here: an os.Root does not leave its directory in any case.
const noFollow = 0
