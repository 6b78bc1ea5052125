package main

import (
	"fmt"
	"log"
	"strings"
)

// withoutOurs is git log --all without git-runr's refs. It prints whole ids, because the length of short ones depends
// on the number of objects.
var withoutOurs = []string{"git", "log", "--format=%H", "--exclude=refs/runr*", "--exclude=refs/notes/*", "--all"}

// beside times the user's own git commands in a repository with many events and in the same one without.
func (b *bench) beside() {
	h := b.largest()
	of := measured{size: fmt.Sprintf("%d events", h.Events)}
	with, without := b.userOf(h, true), b.userOf(h, false)
	defer b.remove(with, without, with+".git", without+".git")
	for _, argv := range [][]string{
		{"git", "status"}, {"git", "log", "-1000", "--format=%H"}, withoutOurs, {"git", "fetch", "-q"},
		{"git", "push", "-q", "origin", "main"},
	} {
		b.besides(of, with, without, argv)
	}
	if a, z := b.must(with, withoutOurs...), b.must(without, "git", "log", "--format=%H", "--all"); a != z {
		log.Fatalf("%s shows %d lines, not %d", strings.Join(withoutOurs, " "), strings.Count(a, "\n")+1,
			strings.Count(z, "\n")+1)
	}
	b.besides(of, with, without, []string{"git", "log", "--format=%H", "--all"})
	b.atMost(3, func() { b.besides(of, with, without, []string{"git", "gc", "-q"}) })
}

func (b *bench) besides(of measured, with, without string, argv []string) {
	took := b.compare(command{dir: without, argv: argv}, command{dir: with, argv: argv})
	name := command{argv: argv}.name()
	b.both("the user's "+name, of, aim{}, "without us", took[0], "with us", took[1])
}

// userOf returns a clone of a history, with its remote. Both have git-runr's refs, or neither does.
func (b *bench) userOf(h history, ours bool) string {
	dir := b.scratch("user")
	b.must(b.work, "git", "clone", "-q", "--bare", "file://"+h.Dir, dir+".git")
	if ours {
		b.must(dir+".git", "git", "fetch", "-q", "file://"+h.Dir, "refs/runr/*:refs/runr/*")
	}
	b.must(b.work, "git", "clone", "-q", "file://"+dir+".git", dir)
	if ours {
		b.must(dir, "git", "fetch", "-q", "origin", "refs/runr/*:refs/runr/*")
	}
	return dir
}
