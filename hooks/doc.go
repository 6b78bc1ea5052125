// Package hooks installs and removes calls of git-runr in a repository's hooks, finds out whether git would really run
// them, and decides whether a hook has anything to do.
//
//	post-commit   requests a review of the commit
//	post-merge    requests a review of a merge that differs from git's automatic merge
//	post-rewrite  records which commits replaced which
//	pre-push      a gate, only if requested; the only hook that may fail
//
// # What is written
//
// A missing hook becomes a small sh script. An existing shell script gets a block between two marker lines, after its
// first comment lines: the block runs even if the script exits early. The block leaves no variable set, so the script's
// variables, options and exit status stay as they were. Failures of the block are ignored, except for exit status 1 of
// pre-push. Its standard error is dropped. What the program prints on standard output reaches the user; that is at most
// one line, unless it stops a push.
//
// During a rebase the block of post-commit and post-merge starts nothing: the shell itself tests for rebase-merge and
// rebase-apply/rebasing. post-rewrite records at the end which commits the rebase replaced.
//
// The block reads all input that git gives to post-rewrite and pre-push, passes it to the program, and gives it to the
// script again as a here-document.
//
// With git 2.54 and later the hooks are in git's configuration instead (hook.git-runr-post-commit.command and .event,
// and so on), which works with any hook file and any manager. If older versions of git use the same repository, install
// the hooks with one of those.
//
// Everything else is left alone, and the user gets a text to add by hand: a hook that is not a shell script, a symbolic
// link, a directory in the working tree that is not ignored, a directory shared by several repositories, and the files
// of a hook manager, unless Setup.Write is set. If a relative core.hooksPath gives each worktree its own directory, the
// worktrees without the hook are reported. A file in the state directory lists the installed hooks, so that a removed
// hook is noticed.
//
// # When a hook does nothing
//
// See ShouldRun. While post-commit runs, git's directory contains (measured with git 2.39):
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
// So every commit counts except those of a rebase, which post-rewrite reports, and those of a bisection. The files are
// in the git directory of the worktree: a rebase in another worktree does not matter. The directory of a rebase still
// exists while post-rewrite runs at its end, and so does MERGE_HEAD while post-merge runs.
package hooks
