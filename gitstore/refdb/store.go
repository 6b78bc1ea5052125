package refdb

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Store is the refs of a repository.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
}

// New is the refs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store) *Store { return &Store{dir: dir, objects: objects} }

// notesRef is made from the logs and can be made again, so its moves are not synced. A file
// that a power cut has torn names nothing.
const notesRef = "refs/notes/runr"

// ownRef reports whether only this tool writes refs of this name.
func ownRef(name string) bool {
	return name == notesRef || beginsWith(name, "refs/runr/", "refs/runr-local/", "refs/runr-remotes/")
}

func beginsWith(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
