package refdb

import (
	"strings"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
)

// Store is the refs of a repository.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
}

// New is the refs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store) *Store { return &Store{dir: dir, objects: objects} }

// ownRef reports whether only this tool writes refs of this name.
func ownRef(name string) bool {
	for _, prefix := range []string{"refs/runr/", "refs/runr-local/", "refs/runr-remotes/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "refs/notes/runr"
}
