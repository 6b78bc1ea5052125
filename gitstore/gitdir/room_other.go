//go:build !(linux || darwin || freebsd)

package gitdir

// Unwritable returns nil: permissions are not checked here.
func (p *Place) Unwritable() error { return nil }

// Free returns no number: the space is not known here.
func (p *Place) Free() (bytes int64, known bool) { return 0, false }
