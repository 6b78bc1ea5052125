// Package hooks puts calls of git-runr into a repository's hooks, takes them out again,
// tells whether git would really run them, and decides whether a hook run has anything to do.
//
//	post-commit   asks for a review of the commit
//	post-merge    asks for a review of a merge that is more than what git makes by itself
//	post-rewrite  notes which commits took the place of which
//	pre-push      a gate, only where it is asked for: the one that may fail
//
// # What is written
//
// A hook that does not exist becomes a small sh script. A shell script that is
// there gets a block between two marker lines, after its first comment lines: it
// runs whatever the script does later, an early exit included. The block sets no variable
// that stays, so the script's variables, options and exit status stay as they were, and its
// failure is never seen, but for exit status 1 of pre-push. Its standard error is dropped;
// what the program prints on standard output, which it keeps to one line unless it holds up
// a push, reaches the user.
//
// During a rebase the block of post-commit and post-merge starts nothing: the shell itself looks
// for rebase-merge and rebase-apply/rebasing. post-rewrite notes at the end what a rebase made of
// what.
//
// What git feeds post-rewrite and pre-push the block reads to its end, gives to the program,
// and gives to the script again as a here-document.
//
// From git 2.54 on the hooks are in git's configuration instead, which works beside any file
// and any manager: hook.git-runr-post-commit.command and .event, and so on. A repository in
// which an older git works as well has to be installed by that one.
//
// Everything else is left alone, with a text to add by hand: a hook that is not a
// shell script, a symbolic link, a directory in the working tree that is not ignored
// or shared by several repositories, and the files of a hook manager, unless Setup.Write
// says to add to them. Where a relative core.hooksPath gives each worktree a directory of its
// own, those without the hook are told of. What was installed is remembered in the state
// directory, so that a hook that went away is missed.
//
// # When a hook run does nothing
//
// See ShouldRun. What git leaves in its directory while post-commit runs
// (measured with git 2.39):
//
//	commit, amend, merge --squash then commit      nothing
//	commit or merge --continue that ends a merge   nothing: MERGE_HEAD is gone
//	cherry-pick of one commit                      CHERRY_PICK_HEAD, or nothing after a conflict or with -e
//	revert of one commit                           nothing
//	cherry-pick or revert of several               sequencer/, the last one included
//	rebase: picks, exec, a commit or amend at a stop   rebase-merge/
//	rebase --apply: a commit at a stop             rebase-apply/rebasing (its own commits run no post-commit)
//	am: a commit at a stop                         rebase-apply/ (its own commits run no post-commit)
//	commit during a bisection                      BISECT_LOG
//
// So every commit counts but those of a rebase, which post-rewrite tells of, and those of a
// bisection. The files lie in the git
// directory of the worktree: a rebase in another worktree does not matter. While post-rewrite
// runs at the end of a rebase its directory is still there, and MERGE_HEAD while post-merge does.
package hooks
