// Package odb is the object database of a repository. It reads commits, trees and blobs from loose
// files and packs, and writes them, without a git process. Writes are durable unless the caller can
// regenerate the object (see [Durability]). The package leaves to git what it cannot read: objects
// of promisor remotes and other hashes. For an unavailable object it returns a [MissingError], which
// has the reason and a command that may help.
//
// Each object is checked against its id when it is read, and its size against a limit
// before it is inflated. Large batches are written as one pack; see [Batch].
package odb
