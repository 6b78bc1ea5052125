package odb

import (
	"os"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Store reads and writes the objects of a repository. It keeps pack files open until
// Close. Its methods may be called from several goroutines.
type Store struct {
	dir    *gitdir.Dir
	native *nativeStore
}

// nativeStore reads and writes the objects of a SHA-1 repository without a git
// process. Store falls back to git for what it cannot read.
type nativeStore struct {
	own  string       // our own directory
	mu   sync.Mutex   // held while a pack is read, so that nobody closes it meanwhile
	dirs []*objectDir // our own first, then the alternates; nil until first needed

	bases baseCache
}

// objectDir is one directory of objects: the repository's own or an alternate.
type objectDir struct {
	path   string
	packs  []*packFile // most recently used first
	listed time.Time   // when packs was read
	stamp  time.Time   // time of modification of the pack directory at that moment
	stale  bool        // a listed pack no longer exists
	packed bool        // the object found last was packed, and so is probably the next one
	bases  *baseCache
}

// packFile is one pack. It is opened when it is first searched.
type packFile struct {
	path  string // without .pack or .idx
	idx   *os.File
	pack  *os.File
	bases *baseCache
	index *packIndex

	scanner *packfile.Scanner // reads one object at a time
}
