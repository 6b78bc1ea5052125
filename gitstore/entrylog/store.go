package entrylog

import (
	"sync"
	"sync/atomic"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// Store is the logs and notes of a repository, and what is exchanged of them.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
	writers *sync.Map // the ids, by Audience, that this process has made or found
	// configured are the audiences with a writer of their own when the store was opened; nil until somebody asks.
	configured *atomic.Pointer[[]Audience]
	elects     *atomic.Pointer[string]  // see Elects
	cameFrom   *atomic.Pointer[origins] // as read last
	stood      *atomic.Value            // an odb.ID: where this clone's own log was as its writer left it

	archives *sync.Map // the Tips in a chain of archives, by its end, as read
}

// New is the logs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writers: new(sync.Map), configured: new(atomic.Pointer[[]Audience]), elects: new(atomic.Pointer[string]),
		cameFrom: new(atomic.Pointer[origins]), stood: new(atomic.Value), archives: new(sync.Map)}
}

// At is the same logs seen from another place of the repository.
func (s *Store) At(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writers: s.writers, configured: s.configured, elects: s.elects, cameFrom: s.cameFrom,
		stood: s.stood, archives: s.archives}
}

// notesIdentity writes all notes: with the time given too, every clone that has the
// same notes makes the same commit of them.
var notesIdentity = gitdir.Identity{Name: "git-runr", Email: "runr@localhost"}
