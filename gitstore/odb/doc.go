// Package odb is the object database of a repository: commits, trees and blobs, read
// from loose files and packs and written without a git process, durably unless what is
// written can be made again (see [Durability]). What it
// cannot read (a promised object, another hash) it has git read. An object that cannot
// be had is a [MissingError], which says why and what may mend it.
//
// An object is checked against its id when it is read, and its size against a limit
// before it is inflated. Many objects are written as one pack; see [Batch].
package odb
