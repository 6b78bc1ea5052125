package refdb

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Store reads and moves the refs of a repository.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
}

// New returns the refs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store) *Store { return &Store{dir: dir, objects: objects} }

// notesRef is the ref of the notes. The notes can be rebuilt from the logs, so its moves are not synced.
// If a power cut truncates the file, the ref counts as missing.
const notesRef = "refs/notes/runr"

// ownRef reports whether only this tool writes refs of this name.
func ownRef(name string) bool {
	return name == notesRef || beginsWith(name, "refs/runr/", "refs/runr-local/", "refs/runr-remotes/")
}

func beginsWith(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
