package entrylog

import (
	"sync"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
	"git-runr/gitstore/refdb"
)

// Store is the logs and notes of a repository, and what is exchanged of them.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
	writer  *writerID
}

// New is the logs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writer: new(writerID)}
}

// At is the same logs seen from another place of the repository.
func (s *Store) At(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writer: s.writer}
}

// writerID remembers the id that this process has made or found since the
// repository was opened.
type writerID struct {
	mu sync.Mutex
	id string
}

func (w *writerID) get() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

func (w *writerID) set(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id = id
}

// notesIdentity writes all notes: with the time given too, every clone that has the
// same notes makes the same commit of them.
var notesIdentity = gitdir.Identity{Name: "git-runr", Email: "runr@localhost"}
