package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// scratch returns the path of a new directory, which it does not make.
func (b *bench) scratch(name string) string {
	b.made++
	return filepath.Join(b.work, fmt.Sprintf("%s-%d", name, b.made))
}

// repo makes a repository with two commits.
func (b *bench) repo(name string) string {
	dir := b.scratch(name)
	b.must(b.work, "git", "init", "-q", dir)
	b.commit(dir, "first")
	b.commit(dir, "second")
	return dir
}

// commit makes a commit that changes a file: an empty one is not reviewed.
func (b *bench) commit(dir, message string) {
	b.must(dir, "sh", "-c", "echo \"$1\" >>file && git add file && git commit -q -m \"$1\"", "sh", message)
}

// copied copies a repository, so that turns can change it freely.
func (b *bench) copied(from string) string {
	to := b.scratch(filepath.Base(from))
	b.must(b.work, "cp", "-r", from, to)
	return to
}

func (b *bench) remove(dirs ...string) {
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			log.Fatal(err)
		}
	}
}

// cold returns a function that removes a clone's caches.
func (b *bench) cold(dir string) func() {
	return func() { b.remove(filepath.Join(dir, ".git", "runr", "cache")) }
}

// imported runs git fast-import with the output of write.
func (b *bench) imported(dir string, write func(*bufio.Writer)) {
	cmd := b.command(dir, "git", "fast-import", "--quiet", "--force", "--active-branches=64")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<16)
	write(w)
	w.Flush()
	in.Close()
	if err := cmd.Wait(); err != nil {
		log.Fatalf("git fast-import: %v", err)
	}
}

// head returns the id of HEAD.
func (b *bench) head(dir string) string { return b.must(dir, "git", "rev-parse", "HEAD") }

func (b *bench) refs(dir, pattern string) []string {
	return strings.Fields(b.must(dir, "git", "for-each-ref", "--format=%(refname)", pattern))
}
