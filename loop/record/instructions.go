package record

import (
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
)

// Instructions names the file with a project's instructions to a reviewer, as it is at the base of the change.
type Instructions struct {
	Path  string      `json:"path"`
	Blob  gitstore.ID `json:"blob"`
	Base  gitstore.ID `json:"base"`
	Bytes int         `json:"bytes"`
	Told  int         `json:"told_bytes,omitempty"` // how many of the first bytes were used, if not all
}

// String describes the instructions for people.
func (i Instructions) String() string {
	cut := ""
	if i.Told > 0 {
		cut = fmt.Sprintf(", the first %d of its %d bytes", i.Told, i.Bytes)
	}
	return fmt.Sprintf("%s of %s (blob %s%s)", i.Path, i.Base.Short(), i.Blob.Short(), cut)
}
