// Package entrylog keeps append-only logs in a repository, one for each writer, and the
// notes that are made from them, and exchanges both with a remote. An entry is a commit;
// a log is a chain of them on refs/runr/log/<writer>, which only its writer moves, and
// only forward. The form of entries and notes is told in package gitstore.
//
// A damaged log is taken up at its last sound entry and fetched again from the remote; a
// log of somebody else's is taken over when every new entry of it is sound. Entries that
// are read again soon are kept with their objects in a tail file beside the refs.
package entrylog
