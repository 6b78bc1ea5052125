package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
)

// shared is a clone and its remote. The clone stores a copy of the data that it exchanges.
type shared struct {
	*bench
	dir, remote string
}

// share gives a clone an empty remote.
func (b *bench) share(dir string) shared {
	s := shared{b, dir, b.scratch("remote.git")}
	b.must(b.work, "git", "init", "-q", "--bare", s.remote)
	b.must(dir, "git", "remote", "add", "origin", "file://"+s.remote)
	b.must(dir, "git", "push", "-q", "origin", "main")
	s.listen()
	return s
}

// listen makes a clone use its remote through programs that store the data.
func (s shared) listen() {
	sent := filepath.Join(s.dir, ".git", "sent")
	got := filepath.Join(s.dir, ".git", "got")
	push, fetch := filepath.Join(s.dir, ".git", "push"), filepath.Join(s.dir, ".git", "fetch")
	write(push, "#!/bin/sh\ntee -a '"+sent+"' | git-receive-pack \"$@\"\n", 0o755)
	write(fetch, "#!/bin/sh\ngit-upload-pack \"$@\" | tee -a '"+got+"'\n", 0o755)
	s.must(s.dir, "git", "config", "remote.origin.receivepack", push)
	s.must(s.dir, "git", "config", "remote.origin.uploadpack", fetch)
}

// moved returns the objects and bytes that the remote received, and the bytes that it sent, since the last call.
func (s shared) moved() (objects uint32, sent, got int) {
	for _, pack := range bytes.Split(s.taken("sent"), []byte("PACK\x00\x00\x00\x02"))[1:] {
		objects += binary.BigEndian.Uint32(pack)
	}
	return objects, s.size("sent"), s.size("got")
}

// taken returns the content of a file, or nothing if it does not exist.
func (s shared) taken(name string) []byte {
	text, err := os.ReadFile(filepath.Join(s.dir, ".git", name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Fatal(err)
	}
	return text
}

func (s shared) size(name string) int {
	n := len(s.taken(name))
	if err := os.Remove(filepath.Join(s.dir, ".git", name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Fatal(err)
	}
	return n
}

func (s shared) sync() usage { return s.took(command{dir: s.dir, argv: s.syncing()}) }

func (s shared) syncing() []string { return []string{s.bin, "sync"} }

// asked requests a review of the newest commit, and shares it.
func (s shared) asked() {
	s.must(s.dir, s.bin, "review", "--reviewer", "human", "--no-serve")
	s.must(s.dir, s.bin, "sync")
	s.moved()
}

// submitted adds one event and its note.
func (s shared) submitted() {
	s.asked()
	s.answered()
}

func (s shared) answered() { s.must(s.dir, s.bin, "inbox", "submit", "latest", "--request-changes") }

func (b *bench) sharing(h history, of measured) {
	s := b.share(b.copied(h.Dir))
	defer b.remove(s.dir, s.remote)
	first := s.sync()
	objects, sent, _ := s.moved()
	b.counted("sync, first push of all", of, "",
		fmt.Sprintf("%s, %d objects, %s", told(first), objects, bytesText(float64(sent))), "", true)
	b.firstSync(h, of, s)
	b.nothingNew(of, s)
	b.oneNote(of, s)
}

func (b *bench) nothingNew(of measured, s shared) {
	peer := command{dir: s.dir, argv: []string{"sh", "-c", "git fetch -q origin && git push -q origin main"}}
	b.add("sync, nothing new", of, atMostTimes(3), peer, command{dir: s.dir, argv: s.syncing()})
}

// oneNote times a sync with one event and its note. git pushes one note.
func (b *bench) oneNote(of measured, s shared) {
	s.must(s.dir, "git", "update-ref", "refs/notes/peer", "refs/notes/runr")
	push := []string{"git", "push", "-q", "origin", "refs/notes/peer"}
	s.must(s.dir, push...)
	noted := func() {
		s.must(s.dir, "git", "notes", "--ref=peer", "append", "-m", "x", "HEAD")
		s.moved()
	}
	b.atMost(7, func() {
		b.add("sync, one new note", of, aim{}, command{dir: s.dir, argv: push, before: noted},
			command{dir: s.dir, argv: s.syncing(), before: s.submitted})
	})
	noted()
	s.must(s.dir, push...)
	gitObjects, gitSent, _ := s.moved()
	s.asked() // an event without a note, which is sent first
	s.sync()
	s.moved()
	s.answered()
	s.sync()
	objects, sent, _ := s.moved()
	if objects == 0 {
		log.Fatal("the sync sent nothing")
	}
	b.counted("sync, one new note: sent", of, fmt.Sprintf("%d objects, %s", gitObjects, bytesText(float64(gitSent))),
		fmt.Sprintf("%d objects, %s", objects, bytesText(float64(sent))), "≤ 5 objects, ≤ 4 KB", objects <= 5 && sent <= 4096)
}

// firstSync times the first sync of a fresh clone.
func (b *bench) firstSync(h history, of measured, s shared) {
	clone, fresh := b.scratch("clone"), b.scratch("fresh")
	b.must(b.work, "git", "clone", "-q", "file://"+s.remote, clone)
	defer func() { b.remove(clone, fresh) }()
	before := func() {
		b.remove(fresh)
		b.must(b.work, "cp", "-r", clone, fresh)
	}
	before()
	b.must(fresh, s.syncing()...)
	b.says(fresh, []string{b.bin, "inbox", "list", "--json", "--limit", "1", "--archived", "--status", "all"},
		fmt.Sprintf(`"total":%d`, h.Reviews))
	b.atMost(5, func() {
		b.add("sync, first of a clone", of, atMostTimes(2),
			command{dir: fresh, argv: []string{"git", "fetch", "-q", "origin", "refs/runr/*:refs/peer/*",
				"refs/notes/*:refs/peer-notes/*"}, before: before},
			command{dir: fresh, argv: s.syncing(), before: before})
	})
}
