// Package refdb is the ref database of a repository. It reads refs from their files and from
// packed-refs, moves them by compare-and-swap under git's own lock files, and resolves revisions
// to commits. git does the rest: reftable, deletions, and branches, whose moves need a line in
// the reflog.
//
// Lock order: the lock "refs" of package gitdir is held while one of this tool's own refs moves.
// So an old lock file of git beside such a ref belongs to nobody. A ref never moves to an object
// that a running gc may delete.
package refdb
