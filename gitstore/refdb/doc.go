// Package refdb is the ref database of a repository: it reads refs from their files and
// from packed-refs, moves them by compare-and-swap under git's own lock files, and gives
// the commits that revisions mean. What needs git (reftable, branches, whose move has a
// line in the reflog, deletion) git does.
//
// Lock order: the lock "refs" of package gitdir is held while a ref of this tool's own is
// moved, so that a lock file of git's kind that is found and is old is nobody's. A ref is
// not moved to an object that a gc which runs may delete.
package refdb
