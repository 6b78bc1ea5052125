package entrylog

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// Store gives access to the logs and notes of a repository, and exchanges them with remotes.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
	writers *sync.Map // writer ids by Audience, made or found by this process
	// configured holds the audiences that had a writer when the store was opened; nil until first used.
	configured *atomic.Pointer[[]Audience]
	elects     *atomic.Pointer[string]  // see Elects
	cameFrom   *atomic.Pointer[origins] // as read last
	stood      *atomic.Value            // an odb.ID: where this clone's own log was as its writer left it

	archives *sync.Map // Tips of an archive chain, by its last commit

	// Guarded reports whether what was added to a log of this clone, up to tip, may be an agent's. Nil means that it is
	// not.
	Guarded func(ctx context.Context, ref string, tip odb.ID) bool
}

// New returns the Store of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writers: new(sync.Map),
		configured: new(atomic.Pointer[[]Audience]), elects: new(atomic.Pointer[string]),
		cameFrom: new(atomic.Pointer[origins]), stood: new(atomic.Value), archives: new(sync.Map)}
}

// At returns a Store for another worktree of the repository, with the caches of s.
func (s *Store) At(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	view := *s
	view.dir, view.objects, view.refs = dir, objects, refs
	return &view
}

// notesIdentity is the author of all notes. With the time given too, clones that have the same notes make the same
// commit.
var notesIdentity = gitdir.Identity{Name: "git-runr", Email: "runr@localhost"}
