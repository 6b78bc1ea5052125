//go:build !(linux || darwin || freebsd)

package gitdir

// Unwritable is nil where permissions are not looked at.
func (p *Place) Unwritable() error { return nil }

// Free is not known.
func (p *Place) Free() (bytes int64, known bool) { return 0, false }
