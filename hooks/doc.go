// Package hooks puts a call of git-runr into a repository's post-commit hook,
// takes it out again, tells whether git would really run it, and decides whether
// a hook run has anything to do.
//
// # What is written
//
// A hook that does not exist becomes a small sh script. A shell script that is
// there gets a block between two marker lines, after its first comment lines: it
// runs whatever the script does later, an early exit included. The block is a
// subshell with its own standard input, so the script's variables, options,
// input and exit status stay as they were, and its failure is never seen. Its
// standard error is dropped; what the program prints on standard output, which
// it keeps to one line, reaches the user.
//
// Everything else is left alone, with a line to add by hand: a hook that is not a
// shell script, a symbolic link, a directory in the working tree that is not ignored
// or shared by several repositories, and the files of a hook manager. Where a relative
// core.hooksPath gives each worktree a directory of its own, those without the hook are
// told of.
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
//	rebase --apply, am: a commit at a stop         rebase-apply/ (their own commits run no post-commit)
//	commit during a bisection                      BISECT_LOG
//
// So a commit that a person makes one at a time counts, a single cherry-pick
// included, and those that git makes in a row do not. The files lie in the git
// directory of the worktree: a rebase in another worktree does not matter.
package hooks
