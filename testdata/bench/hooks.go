package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// rewrite is what post-rewrite adds to a rebase, as the hook alone is called: git's own
// work on fifty commits varies by more than what is measured.
func (b *bench) rewrite() {
	dir := b.repo("rewrite")
	pairs := make([]string, 50)
	for i := range pairs {
		pairs[i] = fmt.Sprintf("%040x %040x\n", 2*i+1, 2*i+2)
	}
	write(filepath.Join(dir, "pairs"), strings.Join(pairs, ""), 0o644)
	write(filepath.Join(dir, "empty"), "#!/bin/sh\n", 0o755)
	b.must(dir, nil, b.bin, "hooks", "install")
	hook := func(name string) []string { return []string{"sh", "-c", name + " rebase <pairs"} }
	b.compare("post-rewrite of 50 commits", "at most 100 ms more than an empty hook",
		command{name: "an empty shell hook", dir: dir, argv: hook("./empty")},
		command{name: "ours, starting the worker", dir: dir, argv: hook(".git/hooks/post-rewrite"), after: func() { b.idle(dir) }})
}

// gate is what pre-push adds to a push of a hundred reviewed commits.
func (b *bench) gate() {
	dir := b.repo("gate")
	b.must(dir, nil, "git", "init", "-q", "--bare", dir+".git")
	b.must(dir, nil, "git", "remote", "add", "origin", dir+".git")
	b.must(dir, nil, "git", "push", "-q", "origin", "main")
	for i := range 100 {
		b.commit(dir, fmt.Sprint("commit ", i))
	}
	b.must(dir, nil, b.bin, "scan", "-q", "origin/main..main")
	b.idle(dir)
	b.must(dir, nil, "git", "config", "runr.hooks.prePush", "refuse")
	b.must(dir, nil, b.bin, "hooks", "install")
	tip, there := b.must(dir, nil, "git", "rev-parse", "main"), b.must(dir, nil, "git", "rev-parse", "origin/main")
	write(filepath.Join(dir, "refs"), fmt.Sprintf("refs/heads/main %s refs/heads/main %s\n", tip, there), 0o644)
	write(filepath.Join(dir, "empty"), "#!/bin/sh\n", 0o755)
	hook := func(name string) []string { return []string{"sh", "-c", name + " origin url <refs"} }
	b.compare("pre-push of 100 commits that were reviewed one by one", "under 50 ms",
		command{name: "an empty shell hook", dir: dir, argv: hook("./empty")},
		command{name: "ours, which lets them through", dir: dir, argv: hook(".git/hooks/pre-push")})
}
