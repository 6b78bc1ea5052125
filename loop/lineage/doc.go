// Package lineage has reviews live as the code does: where the code of a reviewed commit
// went (Follow), and what stands on a commit (Coverage).
//
// A change has a name made of what it does to which content (gitstore.ChangeIDs). Where a
// commit is replaced, the reviews of the old one are
//
//	carried   another commit makes the same change of the same content: the review speaks for it
//	stale     what took its place does not: asked again, and the new request names the old review
//	gone      no branch has it, nor anything in its place: the review closes; it opens when the commit comes back
//
// Which old commit a new one replaces is found by what git told its hooks (NoteRewrite),
// else by the same change, by a row of commits that one does together, by patch ids, authors
// and their times, subjects and files. Only the same change carries a review, of one commit or
// of a row of which each was reviewed; the others lead to a new one.
//
// Of a commit counts what each reviewer said last of each change in it, and of those the
// worst. A review of a range does not speak for commits that did more than is left at its
// end, one of some paths only where it found something.
//
// The files, from the bottom: spool (what git told, until it is looked at), coverage, match
// (which commit took the place of which), follow.
package lineage
