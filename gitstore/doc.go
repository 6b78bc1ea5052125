// Package gitstore is git as an append-only store, for the packages that implement the review loop.
// It opens repositories, records entries in logs, writes notes, takes snapshots of working trees,
// makes worktrees and exchanges logs with a remote. Each log has one writer. The package knows
// nothing of runs and reviews. Only this package and the packages below it run git or read git's
// files; all others use [Repo].
//
//	gitstore   working trees: snapshots, reverts, landings, undo; the entry point for callers
//	entrylog   logs and notes, and their exchange with a remote
//	refdb      refs and revisions
//	odb        objects
//	gitdir     where a repository is, its configuration, git processes, locks
//	safefile   atomic writes of files
//
// # Terms
//
//	writer      one clone that writes; its id is 12 hex digits, in the configuration
//	log         the entries of one writer: a chain of commits on a ref of its own
//	entry       one immutable record in a log: a commit
//	attachment  a file that belongs to an entry: a file in the commit's tree
//	tip         the last entry of a log
//	note        a text about a commit, in a tree of notes as `git notes` keeps it
//	pin         a reference that keeps a commit from being deleted by gc
//
// # Refs
//
//	refs/runr/log/<writer>          a log; only its writer moves it, and only forward
//	refs/runr/archives/<month>      retired logs that no longer have their own ref: see below
//	refs/notes/runr                 the notes; derived from the logs, so they may be deleted
//	refs/runr-local/pins            a chain of commits whose second parents are pinned;
//	                                refs below runr-local are never pushed
//	refs/runr-local/log/<writer>    where this clone's own log was some entries ago
//	refs/runr-local/closed/<writer> where a former log of this clone ended, because somebody
//	                                else pushed to it; nothing more of it is accepted
//	refs/runr-local/foreign/...     <writer>/<commit>: what was found in the place of a log of
//	                                this clone and is no part of it
//	refs/runr-local/snapshots/...   recorded states of working trees; see Snapshot
//	refs/runr-local/undo/...        changes to working trees and branches that can be
//	                                undone; see Operation
//	refs/runr-local/journal/...     unfinished reverts and landings
//	refs/runr-local/stray/<commit>  commits that somebody made on a branch of this tool, and
//	                                that are no longer reachable from that branch
//	refs/runr-remotes/<remote>/...  what the remote had at the last fetch: log/<writer>
//	                                and archives before they are merged, and notes
//
// A ref moves by compare-and-swap: the caller gives the new value and the value that its
// decision was based on. [Repo.SwapRef] implements this with git's own lock protocol, or runs
// git where refs are not stored as files. All of it works in a linked worktree as in the main
// one.
//
// # Configuration
//
//	[runr]
//		writer = 3f9c0a12be47   # created at the first write, in the repository's own file; or a
//		                        # name, as in GIT_RUNR_WRITER: the id is then the first
//		                        # 12 hex digits of SHA-256 of "git-runr writer <name>"
//		sign = true             # sign entries as commits are signed; default: commit.gpgSign
//
// # The archives
//
// An archive is a commit with the empty tree. Its parents are the archive before it, if there is one,
// and the tips of up to 256 logs. The message names the logs in the order of the parents. Author,
// committer and times follow from the content, so that two clones that retire the same logs make the
// same commit. The month is that of a log's last entry, UTC (2026-03), or a later month that already
// holds the log. If a log is in several archives, the newest counts: by month, then by position in
// the chain. A ref of the log outranks any archive. A clone need not fetch old months.
//
//	git-runr archive: 2 logs
//
//	Logs of clones that have not written for a while ...
//	Runr-Archive: 1
//	Runr-Newest: 2026-03-04T05:06:07Z
//	Runr-Log: 3f9c0a12be47 92a1c55dbbb1b8b5b4d5ff7b5d9e1bd4e63e1c0a
//	Runr-Log: 61b2d5a00c3e 0b7f3c2d9be0d4a4a1d6a7f7f4f7b1b7f3c2d9be
//
// # An entry
//
// An entry is a commit whose only parent is the writer's previous entry. Author and committer
// are the person who acted; times are whole seconds, UTC. The caller provides the message.
// The tree holds the attachments by path, or is the empty tree, written as an object.
//
//	tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
//	parent 92a1c55dbbb1b8b5b4d5ff7b5d9e1bd4e63e1c0a
//	author A Person <a@example.com> 1767323045 +0000
//	committer A Person <a@example.com> 1767323045 +0000
//
//	review_submitted: 2 comments
//
//	{"v":1,"clock":41,...}
//
//	Runr-Type: review_submitted
//
// Package loop encodes an event in the message; nothing in this package reads it.
//
// # Notes
//
// Equal logs give an equal notes tree in every clone. Each write is a commit on the previous notes
// commit: author and committer are always "git-runr <runr@localhost>", the caller gives the time,
// in UTC. In the tree each note is a file named after its commit. When there are many notes, names
// are split after two digits, at the same number of notes as `git notes` splits them.
//
//	100644 blob 1f7391f92b6a3792204e07e99f71f643cc35e7e1	02/b1e0f5bb90c8a1d0e5c9ab3d0a3f4a8f5d4d21
//
// A sync commits the tree on top of the remote's notes commit, locally and on the remote. So only the
// difference is transferred, and git's own push and fetch of the notes are fast-forwards.
//
// # Files
//
// The directory runr in the common git directory is for files that can be regenerated or
// need not be shared. Among others, this package uses these:
//
//	<name>.lock   a flock; the kernel frees it when its holder dies, the file stays
//	refused.json  refs of remotes that could not be fetched, with their values and the reason
//	damaged       entries of logs that could not be read, for the next sync
//	aside/        damaged objects that have been replaced
//	log-<writer>  the newest entries of this clone's own log with all their objects
//	refetch.git   a temporary repository into which damaged logs are fetched again
//
// The locks are log (held from reading the tips to moving the ref), refs (held while one of this
// tool's own refs moves, so that an old lock file of git beside the ref must be a leftover),
// refetch, and kept (its file lists the packs that are protected from a running gc).
//
// # Order of writing
//
// Objects first, each synced and then renamed to its name. Then the directories with new names, each
// synced once. Then the ref, synced and renamed. Then, if a gc runs, a pack that the gc does not
// delete. Only then the call returns. The notes are the exception: they can be rebuilt from the logs,
// so what an append adds to them is not synced, as git does not sync its own notes. A power cut may
// leave a note empty or truncated, like any object that git wrote just before. A writer that finds a
// damaged note rebuilds all notes; fsck --rebuild looks for damage. A killed process leaves
// unreferenced objects, which gc removes, or a lock file, which the next writer removes after ten
// seconds.
package gitstore
