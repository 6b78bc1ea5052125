package entrylog

import (
	"errors"
	"fmt"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
)

// DamagedError is an object that a log needs and that cannot be read: it is missing,
// or its content is not what its id says. It is an ErrCorrupt.
type DamagedError struct {
	Writer string // whose log it is, "" when that does not matter
	ID     odb.ID
	Of     odb.ID // the entry that it is attached to; "" when it is an entry itself
	Err    error  // ErrNotFound is in its chain when the object is missing
}

func (e *DamagedError) Error() string {
	what := "record " + string(e.ID)
	if e.Of != "" {
		what = fmt.Sprintf("object %s, attached to %s,", e.ID, e.Of.Short())
	}
	if errors.Is(e.Err, gitdir.ErrNotFound) {
		return what + " is missing"
	}
	return what + " is damaged"
}

// Is keeps a missing object of a log from being taken for a thing that does not exist.
func (e *DamagedError) Is(target error) bool { return target == gitdir.ErrCorrupt }
