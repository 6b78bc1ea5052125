package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// hooks measures the additional time of git's commands with git-runr's hooks.
func (b *bench) hooks() {
	b.postCommit()
	b.postRewrite()
	b.prePush()
}

func (b *bench) postCommit() {
	argv := []string{"git", "commit", "-q", "--allow-empty", "-m", "x"}
	none, empty, record, full := b.repo("none"), b.repo("empty"), b.repo("record"), b.repo("full")
	write(filepath.Join(empty, ".git", "hooks", "post-commit"), "#!/bin/sh\n", 0o755)
	for _, dir := range []string{record, full} {
		b.must(dir, b.bin, "hooks", "install")
	}
	b.must(record, "git", "config", "runr.review.reviewer", "human")
	b.commit(record, "third")
	b.says(record, []string{b.bin, "inbox", "list"}, "third")
	took := b.compare(command{dir: none, argv: argv}, command{dir: empty, argv: argv}, command{dir: record, argv: argv},
		command{dir: full, argv: argv, after: func() { b.idle(full) }})
	for i, what := range []string{"an empty hook", "our hook, for a person", "our hook, starting the worker"} {
		a := aim{"≤ 20 ms more", func(git, ours usage) bool { return ours.Wall <= git.Wall+20 }}
		if i == 0 {
			a = aim{}
		}
		b.both("commit with "+what, measured{size: "–"}, a, "git commit", took[0], "git commit", took[i+1])
	}
}

// idle waits until the worker that the hook started has finished, so that it does not slow down the next turn.
func (b *bench) idle(dir string) {
	for strings.Contains(b.must(dir, b.bin, "--json", "work"), `"busy":true`) {
		time.Sleep(10 * time.Millisecond)
	}
}

// postRewrite times the hook alone, because git's own time for fifty commits varies by more than the hook takes.
func (b *bench) postRewrite() {
	dir := b.repo("rewrite")
	var pairs strings.Builder
	for i := range 50 {
		fmt.Fprintf(&pairs, "%040x %040x\n", 2*i+1, 2*i+2)
	}
	write(filepath.Join(dir, "pairs"), pairs.String(), 0o644)
	write(filepath.Join(dir, "empty"), "#!/bin/sh\n", 0o755)
	b.must(dir, b.bin, "hooks", "install")
	b.add("post-rewrite of 50 commits", measured{size: "–"},
		aim{"≤ 100 ms more", func(git, ours usage) bool { return ours.Wall <= git.Wall+100 }},
		command{dir: dir, argv: []string{"sh", "-c", "./empty rebase <pairs"}},
		command{dir: dir, argv: []string{"sh", "-c", ".git/hooks/post-rewrite rebase <pairs"}, after: func() { b.idle(dir) }})
}

// prePush measures the additional time of the gate for a push of a hundred reviewed commits.
func (b *bench) prePush() {
	dir := b.repo("gate")
	b.must(dir, "git", "init", "-q", "--bare", dir+".git")
	b.must(dir, "git", "remote", "add", "origin", dir+".git")
	b.must(dir, "git", "push", "-q", "origin", "main")
	for i := range 100 {
		b.commit(dir, fmt.Sprint("commit ", i))
	}
	b.must(dir, b.bin, "scan", "-q", "origin/main..main")
	b.idle(dir)
	b.must(dir, "git", "config", "runr.hooks.prePush", "refuse")
	b.must(dir, b.bin, "hooks", "install")
	tip, there := b.must(dir, "git", "rev-parse", "main"), b.must(dir, "git", "rev-parse", "origin/main")
	write(filepath.Join(dir, "refs"), fmt.Sprintf("refs/heads/main %s refs/heads/main %s\n", tip, there), 0o644)
	write(filepath.Join(dir, "empty"), "#!/bin/sh\n", 0o755)
	b.add("pre-push of 100 commits that were reviewed", measured{size: "–"}, within(50*time.Millisecond),
		command{dir: dir, argv: []string{"sh", "-c", "./empty origin url <refs"}},
		command{dir: dir, argv: []string{"sh", "-c", ".git/hooks/pre-push origin url <refs"}})
}
