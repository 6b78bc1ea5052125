package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// clear sees to it that nothing in the checkout that no argument stops instructs the tool:
// a reviewer works without it, and no implementer is started beside what would be run. It
// returns how to put back what it put aside.
func (p *preset) clear(ask Ask) (back func() error, err error) {
	nothing := func() error { return nil }
	if p == nil || ask.Dir == "" {
		return nothing, nil
	}
	if ask.Role != Implementer {
		return putAside(ask.Dir, slices.Concat(p.instructs, p.executes))
	}
	there, err := found(ask.Dir, p.executes)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("it would obey %s of the checkout, which may run commands, and no argument of it stops that", filepath.ToSlash(strings.Join(there, ", ")))
	}
	return nothing, err
}
