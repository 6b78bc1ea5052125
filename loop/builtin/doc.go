// Package builtin is the reviewer that needs no model.
//
// It reads a diff and reports what is wrong in any project: conflict markers, secrets,
// debug lines, stubs, whitespace errors, files that do not belong in a repository, and
// failing checks. Only added lines are judged, because an older fault is not the author's.
//
// It is the default reviewer, so a clean commit must pass. A rule that cannot distinguish
// a fault from a habit reports a note, and a note never asks for a fix.
//
// rule             severity   what
// conflict-marker  critical   markers of an unresolved merge
// secret           critical   gitleaks' rules, and passwords in URLs and literals
// secret-allowed   note       a match that gitleaks:allow in its line suppresses
// debug            warning    forgotten print and breakpoint statements
// stub             warning    FIXME, "not implemented"; a TODO is a note
// focused-test     warning    a test that hides the others
// skipped-test     warning    a test that was disabled until later
// deleted-test     note       a test that is deleted while its code stays
// code-from-text   warning    eval and os.system of a text that is not in the line
// sql-from-text    warning    SQL that is assembled from strings
// lock-file        warning    a manifest with a new dependency and an unchanged lock file beside it
// executable-bit   note       a script that lost it, a text that gained it
// env-file         warning    an .env file with values
// leftover-file    warning    *.orig, *.rej, editor backups
// build-artefact   warning    output of a build
// large-file       warning    over 1 MiB of text, over 500 KiB of binary
// binary-file      note       a binary that cannot be reviewed
// whitespace       note       trailing blanks, mixed line ends, no final newline
// check:NAME       warning    a failing check, with the places in its output
//
// rules.toml holds the patterns of lines and of paths, secrets.toml our own rules for secrets.
//
// On the newest 400 commits of each of cobra, requests, express, ripgrep, gogs and flask,
// the rules from deleted-test to executable-bit were wrong four times, once in 600 commits:
// deleted-test on three commits that removed tests on purpose, lock-file on one that pinned
// a version by hand. A lock file that changes alone raises versions and is no finding.
//
// Judge decides what a check's result means, for every reviewer and for runs. It reads the
// failed tests and places in the output, compares them with those on the base, and
// distinguishes a failed check from one that could not run.
//
// Generated, vendored, minified and lock files are examined for conflict markers and
// secrets only. In test fixtures every finding weighs one step less.
//
// The search for secrets also covers what reviewers do not see: files that are left out as generated or vendored,
// binary files and text in UTF-16, the headers of commits, and tags. In binary data, and in paths that gitleaks skips,
// it accepts only tokens with a known beginning that look random. A file above 16 MiB is listed as not examined.
//
// The patterns for secrets come from gitleaks' configuration, which the program gives to NewSecrets. The keywords are
// read when the first text that may hold a secret is searched, a rule when one of its keywords occurs: the post-commit
// hook redacts what it writes, and nearly all of that is ids and paths.
package builtin
