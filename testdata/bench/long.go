package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"time"
)

// longReviews times one more event on reviews of different lengths.
func (b *bench) longReviews() {
	dir := b.scratch("long")
	b.must(b.work, "git", "init", "-q", dir)
	h := history{Dir: dir, Writers: 1, At: time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)}
	m := maker{h: &h, t: b.templates()}
	lengths := []int{10, max(b.long/10, 20), max(b.long, 100)}
	var ids []string
	b.imported(dir, func(w *bufio.Writer) {
		m.code(w, h.At, -1)
		for i, n := range lengths {
			f := m.code(w, h.At, i)
			f.id, f.writer = reviewID(h.At, i), writerID(0)
			ids = append(ids, f.id)
			m.events(w, f, m.t.waiting)
			for range (n - len(m.t.waiting)) / 2 {
				m.events(w, f, m.t.held[len(m.t.waiting):])
			}
		}
	})
	b.must(dir, "git", "config", "runr.writer", writerID(0))
	b.must(dir, "git", "reset", "-q", "--hard")
	b.says(dir, []string{b.bin, "--json", "fsck"}, fmt.Sprintf(`"events":%d,"unreadable":[]`, m.clock))
	var claims []command
	for _, id := range ids {
		b.says(dir, []string{b.bin, "--json", "inbox", "get", id}, `"status":"submitted"`)
		claims = append(claims, command{dir: dir, argv: []string{b.bin, "inbox", "claim", id, "--as", "chat"},
			after: func() { b.must(dir, b.bin, "inbox", "release", id, "--as", "chat", "--force") }})
	}
	took := b.compare(claims...)
	for i, n := range lengths {
		b.put(row{what: "claim on a long review", size: fmt.Sprintf("%d events", n), events: n, ours: "git-runr inbox claim",
			did: told(took[i]), took: took[i],
			ratio: took[i].Wall / took[0].Wall, aim: "flat within 2×", held: yes(took[i].Wall <= 2*took[0].Wall)})
	}
	b.remove(dir)
}

// longRun times the diagnosis of one long run.
func (b *bench) longRun() {
	dir := b.scratch("run")
	b.must(b.work, "git", "init", "-q", dir)
	at := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	m := maker{h: &history{Writers: 1}, t: b.templates()}
	turn := m.t.run[1 : len(m.t.run)-1]
	n := max(b.long, 100)
	id := runID(at, 0)
	b.imported(dir, func(w *bufio.Writer) {
		m.code(w, at, -1)
		f := m.code(w, at, 0)
		f.id, f.writer = id, writerID(0)
		for k := range n {
			t := turn[(k+len(turn)-1)%len(turn)]
			switch k {
			case 0:
				t = m.t.run[0]
			case n - 1:
				t = m.t.run[len(m.t.run)-1]
			}
			f.attempt, f.clock, f.at = 1+max(k-1, 0)/len(turn), k+1, at.Add(time.Duration(k)*time.Millisecond)
			t.event(w, &m.buf, &f)
		}
	})
	b.must(dir, "git", "config", "runr.writer", writerID(0))
	b.must(dir, "git", "reset", "-q", "--hard")
	b.says(dir, []string{b.bin, "--json", "fsck"}, fmt.Sprintf(`"events":%d,"unreadable":[]`, n))
	b.says(dir, []string{b.bin, "diagnose", id}, "Fix type errors")
	b.add("diagnose a long run", measured{size: fmt.Sprintf("%d events", n)}, within(300*time.Millisecond),
		command{dir: dir, argv: []string{"git", "log", "--format=%B", "--glob=refs/runr/log"}},
		command{dir: dir, argv: []string{b.bin, "diagnose", id}})
	b.remove(dir)
}

// largePack times reading one review from one big pack.
func (b *bench) largePack() {
	dir := b.repo("pack")
	b.must(dir, b.bin, "review", "--reviewer", "human", "--no-serve")
	n := 3 * b.files
	b.imported(dir, func(w *bufio.Writer) {
		var text bytes.Buffer
		for i := range n {
			text.Reset()
			fmt.Fprint(&text, "object ", i)
			fmt.Fprintf(w, "blob\nmark :%d\ndata %d\n%s\n", i+1, text.Len(), text.Bytes())
		}
		fmt.Fprint(w, "commit refs/heads/big\ncommitter Bench <bench@example.com> 1767323045 +0000\ndata 3\nbig\n")
		for i := range n {
			fmt.Fprintf(w, "M 100644 :%d %d/%d\n", i+1, i/1000, i)
		}
	})
	b.must(dir, "git", "repack", "-adq")
	b.must(dir, "git", "prune-packed")
	ref := b.refs(dir, "refs/runr/log")[0]
	id := b.must(dir, "git", "log", "-1", "--format=%(trailers:key=Runr-Review,valueonly)", ref)
	b.must(dir, b.bin, "inbox", "list")
	if id == "" {
		log.Fatal("the event names no review")
	}
	b.says(dir, []string{b.bin, "inbox", "get", id}, id)
	b.add("one review in a big pack", measured{size: fmt.Sprintf("%d objects", n)}, atMostTimes(3),
		command{dir: dir, argv: []string{"git", "cat-file", "-p", ref}},
		command{dir: dir, argv: []string{b.bin, "inbox", "get", id}})
	b.remove(dir)
}
