package record

import (
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
)

// Instructions are what a project told a reviewer, as the base of the change has it.
type Instructions struct {
	Path  string      `json:"path"`
	Blob  gitstore.ID `json:"blob"`
	Base  gitstore.ID `json:"base"`
	Bytes int         `json:"bytes"`
	Told  int         `json:"told_bytes,omitempty"` // the first of them, where that is not all
}

// String is what was told, for people.
func (i Instructions) String() string {
	cut := ""
	if i.Told > 0 {
		cut = fmt.Sprintf(", the first %d of its %d bytes", i.Told, i.Bytes)
	}
	return fmt.Sprintf("%s of %s (blob %s%s)", i.Path, i.Base.Short(), i.Blob.Short(), cut)
}
