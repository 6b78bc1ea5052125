// Package gitstore is git as an append-only store. It opens repositories, keeps
// logs with one writer each, writes notes, takes snapshots of working trees,
// makes worktrees and exchanges logs with a remote. It knows nothing of runs and
// reviews. It and the packages below it are the only ones that run git or read git's
// files; others use [Repo], which stands for them.
//
//	gitstore   working trees: snapshots, reverts, landings, undo; and the face of the rest
//	entrylog   logs and notes, and their exchange with a remote
//	refdb      refs and revisions
//	odb        objects
//	gitdir     where a repository is, its configuration, git processes, locks
//	safefile   files that are written whole
//
// # Terms
//
//	writer      one clone that writes; its id is 12 hex digits, in the configuration
//	log         the entries of one writer: a chain of commits on a ref of its own
//	entry       one immutable record in a log: a commit
//	attachment  a file that belongs to an entry: a file in the commit's tree
//	tip         the last entry of a log
//	note        a text about a commit, in a tree of notes as `git notes` keeps it
//	pin         what keeps a commit from being deleted by gc
//
// # Refs
//
//	refs/runr/log/<writer>          a log; its writer alone moves it, and only forward
//	refs/runr/archives/<month>      logs that have no ref of their own any more: see below
//	refs/notes/runr                 the notes; made from the logs, may be deleted
//	refs/runr-local/pins            a chain of commits whose second parents are pinned;
//	                                everything in runr-local is never pushed
//	refs/runr-local/log/<writer>    where this clone's own log was some entries ago
//	refs/runr-local/snapshots/...   working trees as they were; see Snapshot
//	refs/runr-local/undo/...        what was done to working trees and branches and can
//	                                be undone; see Operation
//	refs/runr-local/journal/...     reverts and landings that have not ended
//	refs/runr-local/stray/<commit>  commits that somebody made on a branch of ours, and
//	                                that it does not come from any more
//	refs/runr-remotes/<remote>/...  what the remote had at the last fetch: log/<writer>
//	                                and archives before they are taken over, and notes
//
// A ref moves by compare-and-swap: new value, and the value that the decision was
// made on. [Repo.SwapRef] does it with git's own lock protocol, or by git itself
// where files are not how refs are stored. All of it works in a linked worktree as
// in the main one.
//
// # Configuration
//
//	[runr]
//		writer = 3f9c0a12be47   # made at the first write, in the repository's own file; or a
//		                        # name, as GIT_RUNR_WRITER gives one: the id is then the first
//		                        # 12 hex digits of SHA-256 of "git-runr writer <name>"
//		sign = true             # entries are signed as commits are; else commit.gpgSign says
//
// # The archives
//
// A commit with the empty tree. Its parents are the archive before it, if there is one, and
// the tips of up to 256 logs, which its message names in that order. Author, committer and
// times are fixed by what is in it, so that two clones that retire the same make the same
// commit. The month is that of a log's last entry, UTC (2026-03), or a later one that holds the
// log already. Where a log is in several archives, the newest counts, by month and then in the
// chain; where it has a ref, that. A clone need not fetch old months.
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
// A commit whose one parent is the writer's entry before it. Author and committer
// are the one who acted; times are whole seconds, UTC. The message is the caller's.
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
// The message is what package loop makes of an event; nothing here reads it.
//
// # Notes
//
// Equal logs give an equal tree in every clone. Each write is a commit on the notes commit before it:
// author and committer are always "git-runr <runr@localhost>", the time is the
// caller's, in UTC. In the tree each note is a file named by the commit it is on.
// Where there are many, names are split after two digits, exactly as `git notes`
// would do it at the same moment.
//
//	100644 blob 1f7391f92b6a3792204e07e99f71f643cc35e7e1	02/b1e0f5bb90c8a1d0e5c9ab3d0a3f4a8f5d4d21
//
// A sync puts the tree on the commit that the remote has, here and there, so that only the
// difference travels and git's own push and fetch of the notes go forward.
//
// # Files
//
// The directory runr in the common git directory is for what can be made again or
// need not be shared. Of it this package itself uses
//
//	<name>.lock   a flock; the kernel frees it when its holder dies, the file stays
//	refused.json  what refs of remotes were at that could not be fetched, and why
//	damaged       entries of logs that could not be read, for the next sync
//	aside/        damaged objects that were written again
//	log-<writer>  the newest entries of this clone's own log with all their objects
//	refetch.git   where damaged logs are fetched again, while that goes on
//
// with the names log (held from reading the tips to moving the ref), refs (held
// while a ref of this tool's own is moved, so that a lock file of git's kind that is
// found beside it and is old can only be left over), refetch, and kept (whose file names
// the packs that are kept from a gc that runs).
//
// # Order of writing
//
// Objects first, each synced and then renamed to its name; then the directories that have new
// names, each synced once; then the ref, synced and renamed; then, when a gc runs, a pack that
// it leaves alone; then the answer. The notes are the exception: they can be made again from
// the logs, so what an append adds to them is not synced, as git does not sync its own notes.
// A power cut may leave a note empty or cut, as it may leave any object that git itself wrote
// just before. Who meets that while writing notes makes all of them again; fsck --rebuild
// looks for it. What
// a killed process leaves behind are objects that nothing names, which gc removes,
// or a lock file, which the next writer removes after ten seconds.
package gitstore
