// Package gitstore is git as an append-only store. It opens repositories, keeps
// logs with one writer each, writes notes, takes snapshots of working trees,
// makes worktrees and exchanges logs with a remote. It knows nothing of runs and
// reviews, and it is the only package that runs git or reads git's files.
package gitstore
