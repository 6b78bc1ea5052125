// Package builtin is the reviewer that needs no model.
//
// It reads a diff and reports what is wrong whatever the project: conflict
// markers, secrets, debug lines, stubs, whitespace errors, files that do not
// belong in a repository, and checks that fail. Only added lines are judged: a
// fault that was there before is not the author's today.
//
// It is the default reviewer, so a clean commit must pass. A rule that cannot
// tell a fault from a habit reports a note, and a note never asks for a fix.
//
//	rule             severity   what
//	conflict-marker  critical   what a merge left behind
//	secret           critical   gitleaks' rules, and passwords in URLs and literals
//	debug            warning    print and breakpoint statements of the writer
//	stub             warning    FIXME, "not implemented"; a TODO is a note
//	focused-test     warning    a test that hides the others
//	skipped-test     warning    a test that was switched off for later
//	deleted-test     note       a test that goes while its code stays
//	code-from-text   warning    eval and os.system of a text that is not in the line
//	sql-from-text    warning    SQL that is put together from strings
//	lock-file        warning    a manifest gains a dependency, and the lock file beside it stays
//	executable-bit   note       a script that lost it, a text that got it
//	env-file         warning    an .env file with values
//	leftover-file    warning    *.orig, *.rej, editor backups
//	build-artefact   warning    what a build makes
//	large-file       warning    over 1 MiB of text, over 500 KiB of binary
//	binary-file      note       a binary that cannot be reviewed
//	whitespace       note       trailing blanks, mixed line ends, no final newline
//	check:NAME       warning    a check that fails, with the places in its output
//
// On the newest 400 commits of each of cobra, requests, express, ripgrep, gogs and flask, the rules from
// deleted-test to executable-bit were wrong four times: deleted-test of three commits whose tests were to
// go, lock-file of one that pinned a version by hand. That is one in 600. A lock file that changes alone is how versions are raised,
// and no finding.
//
// What a check's result means is decided by Judge, for every reviewer and for runs: it
// reads the output for the tests and places that failed, compares them with those on the
// base, and tells a check that failed from one that could not be run.
//
// Generated, vendored, minified and lock files are read for conflict markers and
// secrets only. In test fixtures everything weighs one step less.
//
// The patterns for secrets are those that gitleaks publishes, in its config
// package; its detect package would make every start of the program another 2 ms
// slower. The keywords are read when the first text is scanned that may hold a
// secret, a rule when one of its keywords occurs: the post-commit hook redacts
// what it writes, and nearly all of it is ids and paths.
package builtin
