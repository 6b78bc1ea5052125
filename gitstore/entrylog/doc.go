// Package entrylog keeps append-only logs in a repository, one for each writer, derives notes from them, and exchanges
// both with a remote. An entry is a commit. A log is a chain of entries on refs/runr/log/<writer>, which only its
// writer moves, and only forward. Package gitstore describes the form of entries and notes.
//
// A damaged log is reset to its last readable entry and fetched again from the remote. The log of another writer is
// accepted only if every new entry of it passes the check. Recent entries and their objects are also kept in a tail
// file beside the refs.
package entrylog
