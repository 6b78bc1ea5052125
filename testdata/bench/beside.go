package main

import (
	"fmt"
	"log"
	"strings"
)

// withoutOurs is git log --all as it was before there were events. Ids are whole: git
// shortens them by how many objects there are.
var withoutOurs = []string{"git", "log", "--format=%H", "--exclude=refs/runr*", "--exclude=refs/notes/*", "--all"}

// beside is the user's own git in a repository with many events and in the same without.
func (b *bench) beside() {
	h := b.largest()
	of := measured{size: fmt.Sprintf("%d events", h.Events)}
	with, without := b.userOf(h, true), b.userOf(h, false)
	defer b.remove(with, without, with+".git", without+".git")
	for _, argv := range [][]string{
		{"git", "status"}, {"git", "log", "-1000", "--format=%H"}, withoutOurs, {"git", "fetch", "-q"}, {"git", "push", "-q", "origin", "main"},
	} {
		b.besides(of, with, without, argv)
	}
	if a, z := b.must(with, withoutOurs...), b.must(without, "git", "log", "--format=%H", "--all"); a != z {
		log.Fatalf("%s shows %d lines, not %d", strings.Join(withoutOurs, " "), strings.Count(a, "\n")+1, strings.Count(z, "\n")+1)
	}
	b.besides(of, with, without, []string{"git", "log", "--format=%H", "--all"})
	b.atMost(3, func() { b.besides(of, with, without, []string{"git", "gc", "-q"}) })
}

func (b *bench) besides(of measured, with, without string, argv []string) {
	took := b.compare(command{dir: without, argv: argv}, command{dir: with, argv: argv})
	name := command{argv: argv}.name()
	b.both("the user's "+name, of, aim{}, "without us", took[0], "with us", took[1])
}

// userOf is a clone of a history with its remote; both have our refs, or neither.
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
