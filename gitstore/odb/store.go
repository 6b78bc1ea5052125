package odb

import (
	"os"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Store is the objects of a repository. It keeps the pack files that it has read from
// open until Close. Its methods may be called from several goroutines.
type Store struct {
	dir    *gitdir.Dir
	native *nativeStore
}

// nativeStore reads and writes the objects of a SHA-1 repository without a git
// process. What it cannot read, it leaves to git.
type nativeStore struct {
	own  string       // our own directory
	mu   sync.Mutex   // held while a pack is read, so that none is closed under a reader
	dirs []*objectDir // our own first, then the alternates; nil until first needed

	bases baseCache
}

// objectDir is one directory of objects: the repository's own or an alternate.
type objectDir struct {
	path   string
	packs  []*packFile // the one used last first
	listed time.Time   // when packs was read
	stamp  time.Time   // of the pack directory at that moment
	stale  bool        // a listed pack is gone
	bases  *baseCache
}

// packFile is one pack, opened when it is first looked into.
type packFile struct {
	path  string // without .pack or .idx
	idx   *os.File
	pack  *os.File
	bases *baseCache
	index *packIndex

	scanner *packfile.Scanner // one object after the other
}
