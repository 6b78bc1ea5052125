// Package lineage keeps reviews attached to code that git rewrites: Follow records where the
// code of a reviewed commit went, and Coverage reports which reviews apply to a commit.
//
// A change is identified by what it does to which content (gitstore.ChangeIDs). When a
// commit is replaced, each review of the old one becomes
//
//	carried   another commit makes the same change of the same content: the review counts for it
//	stale     its replacement makes another change: a new review is requested that names the old one
//	gone      no branch has it or a replacement: the review closes, and reopens if the commit returns
//
// Which old commit a new one replaces is known from git's hooks (NoteRewrite), or else found
// by the same change, by a row of commits squashed into one, by patch ids, by authors and
// times, by subjects and by files. Only the same change carries a review: the change of one
// commit, or of a row whose commits were all reviewed. Other matches lead to a new request.
//
// Coverage of a commit is the worst of each reviewer's last verdict on each change in it. A
// review of a range does not count for a commit whose change did not all survive to the end
// of the range. A review of some paths counts only if it found something. What people refuse
// also counts for commits that make the same edits, and a fix settles it only where the
// refused lines are gone or the fix is in effect.
//
// The files, lowest layer first: spool (rewrites reported by git, until Follow reads them),
// edits (which lines a change adds and removes), settled (copies of refused commits, and
// fixes), coverage, match (which commit replaced which), follow, round (the next round).
package lineage
