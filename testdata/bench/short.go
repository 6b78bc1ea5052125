package main

import (
	"bufio"
	"fmt"
	"log"
	"strings"
	"time"
)

// shortLived measures a remote with many writers that recorded only a few events each.
func (b *bench) shortLived() {
	if b.short == 0 {
		return
	}
	remote := b.comeAndGone()
	defer b.remove(remote)
	of := measured{size: fmt.Sprintf("%d writers of 20 events", b.short)}
	b.teamsYear("before they are retired", of, remote)
	s := b.clone(remote)
	defer b.remove(s.dir)
	if !strings.Contains(b.must(s.dir, b.bin, "sync", "--help"), "--retire") {
		b.remark("SKIP short-lived writers after they are retired: this program cannot.")
		return
	}
	s.sync()
	s.tell("short: retiring sync, clone", 0, of, s.took(command{dir: s.dir, argv: []string{b.bin, "sync", "--retire"}}))
	b.teamsYear("after they are retired", of, remote)
}

// teamsYear measures a clone and the user's own git with these writers.
func (b *bench) teamsYear(when string, of measured, remote string) {
	b.counted("short: refs on the remote, "+when, of, "", fmt.Sprint(len(b.refs(remote, "refs/runr"))), "", true)
	s := b.clone(remote)
	defer b.remove(s.dir)
	fetch := command{dir: s.dir, argv: []string{"git", "fetch", "-q", "origin"}}
	b.atMost(5, func() { b.counted("short: the user's own fetch, "+when, of, "", told(b.compare(fetch)[0]), "", true) })
	_, _, _ = s.moved()
	s.must(s.dir, fetch.argv...)
	_, _, got := s.moved()
	b.counted("short: bytes of the user's own fetch, "+when, of, "", bytesText(float64(got)), "", true)
	s.tell("short: first sync, "+when+", clone", 0, of, s.sync())
	s.submitted()
	s.tell("short: sync after one event, "+when+", clone", 0, of, s.sync())
	s.tell("short: sync, nothing new, "+when+", clone", 0, of, s.sync())
}

// comeAndGone makes that remote: each writer did five reviews.
func (b *bench) comeAndGone() string {
	dir := b.scratch("short.git")
	b.must(b.work, "git", "init", "-q", "--bare", dir)
	at := time.Now().UTC().Truncate(time.Hour).Add(-year)
	h := history{Writers: b.short, At: at}
	m := maker{h: &h, t: b.templates()}
	const perWriter = 5
	b.imported(dir, func(w *bufio.Writer) {
		m.code(w, at, -1)
		for i := range b.short * perWriter {
			t := at.Add(time.Duration(i) * (year / time.Duration(b.short*perWriter)))
			f := m.code(w, t, i)
			f.id, f.writer = reviewID(t, i), writerID(i/perWriter)
			m.events(w, f, m.t.resolved)
		}
	})
	if m.clock != 20*b.short {
		log.Fatalf("%d writers made %d events", b.short, m.clock)
	}
	b.must(dir, "git", "pack-refs", "--all")
	return dir
}
