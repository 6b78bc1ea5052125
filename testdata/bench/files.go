package main

import (
	"bufio"
	"fmt"
	"log"
	"path/filepath"
	"strings"
)

// largeTree times the snapshot of a large working tree with one change.
func (b *bench) largeTree() {
	dir := b.scratch("tree")
	b.must(b.work, "git", "init", "-q", dir)
	b.imported(dir, func(w *bufio.Writer) {
		fmt.Fprint(w, "commit refs/heads/main\ncommitter Bench <bench@example.com> 1767323045 +0000\ndata 5\nfiles\n")
		for i := range b.files {
			text := fmt.Sprintf("file %d\n", i)
			fmt.Fprintf(w, "M 100644 inline %d/%d/f%d\ndata %d\n%s\n", i/10000, i/100, i, len(text), text)
		}
	})
	b.must(dir, "git", "reset", "-q", "--hard")
	b.must(dir, "git", "status")
	n := 0
	change := func() {
		n++
		write(filepath.Join(dir, "0", "0", "f0"), fmt.Sprintln("changed", n), 0o644)
	}
	change()
	argv := []string{b.bin, "review", "--worktree", "--reviewer", "human", "--no-serve"}
	b.must(dir, argv...)
	_, tree, _ := strings.Cut(b.must(dir, b.bin, "--json", "inbox", "get", "latest"), `"tree":"`)
	tree, _, _ = strings.Cut(tree, `"`)
	b.says(dir, []string{"git", "show", tree + ":0/0/f0"}, "changed 1")
	b.atMost(7, func() {
		b.add("snapshot of a large tree", measured{size: fmt.Sprintf("%d files", b.files)}, atMostTimes(1.5),
			command{dir: dir, argv: []string{"git", "status", "--porcelain"}, before: change},
			command{dir: dir, argv: argv, before: change})
	})
	b.remove(dir)
}

// largeChange times the built-in review of a commit of many files.
func (b *bench) largeChange() {
	dir := b.repo("change")
	b.imported(dir, func(w *bufio.Writer) {
		fmt.Fprint(w,
			"commit refs/heads/main\ncommitter Bench <bench@example.com> 1767323045 +0000\ndata 5\nfiles\n"+
				"from refs/heads/main^0\n")
		for i := range b.changed {
			text := source(i)
			fmt.Fprintf(w, "M 100644 inline src/%d/m%d.py\ndata %d\n%s\n", i/100, i, len(text), text)
		}
	})
	b.must(dir, "git", "reset", "-q", "--hard")
	of := measured{size: fmt.Sprintf("%d files, %d lines", b.changed, b.changed*sourceLines)}
	argv := []string{b.bin, "review", "--wait", "--again", "--reviewer", "builtin"}
	lines := b.changed * sourceLines
	b.says(dir, argv, "checked by builtin: nothing found",
		fmt.Sprintf("(%d of %d files, %d of %d lines)", b.changed, b.changed, lines, lines))
	ours := command{dir: dir, argv: argv}
	defer b.remove(dir)
	b.atMost(5, func() {
		if b.gitleaks == "" {
			b.remark("SKIP the comparison with gitleaks, which is not here.")
			took := b.compare(ours)
			b.counted("review of a large change", of, "", told(took[0]), "", true)
			return
		}
		peer := command{dir: dir, argv: []string{b.gitleaks, "detect", "--no-banner", "--log-level=error", "--log-opts=-1"}}
		took := b.compare(peer, ours)
		if took[0].CPU == 0 {
			log.Fatal("gitleaks took no time")
		}
		ratio := took[1].CPU / took[0].CPU
		b.put(row{what: "review of a large change, CPU", size: of.size, git: "gitleaks detect", gitDid: cpuTold(took[0]),
			ours: ours.name(), did: cpuTold(took[1]),
			ratio: ratio, aim: "≤ 1.2×", held: yes(ratio <= 1.2)})
	})
}

func cpuTold(u usage) string { return fmt.Sprintf("%s CPU, %.0f MB", duration(u.CPU), u.Peak) }

const sourceLines = 25

// source returns a file of ordinary code that contains the words by which secrets are searched.
func source(i int) string {
	text := fmt.Sprintf("\"\"\"Part %d.\"\"\"\n", i)
	for k := 1; k < sourceLines; k++ {
		if k%5 == 0 {
			text += fmt.Sprintf("token_%d = client.login(api_key=settings.key(%d), password=ask(\"secret %d\"))\n", k, i, k)
			continue
		}
		text += fmt.Sprintf("value_%d = combine(first_%d, second[%d], \"name %d\")\n", k, i, k, i*k)
	}
	return text
}
