package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"
)

// history is a repository with reviews over a year, each of its own commit, most of them closed, and a run for every
// twentieth. It has no caches yet.
type history struct {
	Form                  int
	Dir                   string
	Reviews, Runs, Events int
	Writers, Waiting      int
	First, Last           string // reviews; the last did not pass and was resolved
	LastRun               string
	At                    time.Time // of the first commit
}

const (
	week = 7 * 24 * time.Hour
	year = 365 * 24 * time.Hour
)

// historyForm must change when the way to make histories changes. Stored histories are then made again, as are those
// whose last month is over.
const historyForm = 1

// These functions return the kind of the i-th review.
func passes(i int) bool { return i%20 < 12 }
func waits(i int) bool  { return i%20 == 12 }
func runs(i int) bool   { return i%20 == 13 }

// reviewsFor returns the number of reviews that have about so many events.
func (t *templates) reviewsFor(events int) int {
	perTwenty := 12*len(t.passed) + 7*len(t.resolved) + len(t.waiting) + len(t.run)
	return max(20*events/perTwenty, 20)
}

// history makes a history, or returns a stored one.
func (b *bench) history(reviews, writers int) history {
	dir := filepath.Join(b.keep, fmt.Sprintf("reviews-%d-%d", reviews, writers))
	if h, ok := kept(dir); ok {
		return h
	}
	start := time.Now()
	b.remove(dir)
	b.must(b.work, "git", "init", "-q", dir)
	h := history{Form: historyForm, Dir: dir, Reviews: reviews, Writers: writers,
		At: time.Now().UTC().Truncate(time.Hour).Add(-year)}
	m := maker{h: &h, t: b.templates()}
	b.imported(dir, func(w *bufio.Writer) { m.all(w) })
	fmt.Fprintf(b.log, "made %d reviews, %d events of %d writers: %.0f s\n", reviews, h.Events, writers,
		time.Since(start).Seconds())
	if tip := b.must(dir, "git", "rev-parse", "refs/heads/main"); tip != m.tip {
		log.Fatalf("the commits are others than was worked out: %s, %s", tip, m.tip)
	}
	b.must(dir, "git", "config", "runr.writer", writerID(0))
	b.must(dir, "git", "reset", "-q", "--hard")
	b.must(dir, "git", "pack-refs", "--all")
	b.right(&h)
	keep(dir, h)
	fmt.Fprintf(b.log, "  read as it was meant: %.0f s with that\n", time.Since(start).Seconds())
	return h
}

// right fails unless the program reads the history as expected.
func (b *bench) right(h *history) {
	dir := b.copied(h.Dir)
	defer b.remove(dir)
	count := func(status string, n int) {
		b.says(dir, []string{b.bin, "--json", "inbox", "list", "--archived", "--status", status, "--limit", "1"},
			fmt.Sprintf(`"total":%d`, n))
	}
	count("all", h.Reviews)
	count("waiting", h.Waiting)
	b.says(dir, []string{b.bin, "--json", "fsck"}, fmt.Sprintf(`"events":%d,"unreadable":[]`, h.Events))
}

func kept(dir string) (h history, ok bool) {
	text, err := os.ReadFile(dir + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return h, false
	}
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		log.Fatal(err)
	}
	h.Dir = dir
	return h, time.Since(h.At) < year+week && h.Form == historyForm
}

// keep records that the history in dir is complete.
func keep(dir string, h history) {
	text, err := json.Marshal(h)
	if err != nil {
		log.Fatal(err)
	}
	write(dir+".json", string(text), 0o644)
}

// maker writes a history as one stream for git fast-import.
type maker struct {
	h     *history
	t     *templates
	buf   bytes.Buffer
	tip   string // the newest commit of main
	blob  string // and its file
	clock int
}

func (m *maker) all(w *bufio.Writer) {
	m.code(w, m.h.At, -1)
	for i := range m.h.Reviews {
		at := m.h.asked(i)
		f := m.code(w, at, i)
		f.id, f.writer = reviewID(at, i), writerID(i%m.h.Writers)
		m.review(w, f, i)
		if runs(i) {
			f.id = runID(at, i)
			m.h.LastRun = f.id
			m.h.Runs++
			m.events(w, f, m.t.run)
		}
	}
	m.h.Events = m.clock
}

func (m *maker) review(w *bufio.Writer, f fields, i int) {
	if i == 0 {
		m.h.First = f.id
	}
	m.h.Last = f.id
	switch {
	case i < m.h.Reviews-1 && passes(i):
		m.events(w, f, m.t.passed)
	case i < m.h.Reviews-1 && waits(i):
		m.h.Waiting++
		m.events(w, f, m.t.waiting)
	default:
		m.events(w, f, m.t.resolved)
	}
}

func (m *maker) events(w *bufio.Writer, f fields, list []template) {
	for _, t := range list {
		m.clock++
		f.clock, f.attempt = m.clock, 1
		f.at = f.at.Add(time.Second)
		t.event(w, &m.buf, &f)
	}
}

// code writes a commit that changes one file, and returns the fields of its review.
func (m *maker) code(w *bufio.Writer, at time.Time, i int) fields {
	text, title := fmt.Sprintf("line %d\n", i), fmt.Sprintf("change %d", i)
	who := fmt.Sprintf("Bench <bench@example.com> %d +0000", at.Unix())
	fmt.Fprintf(w, "commit refs/heads/main\ncommitter %s\ndata %d\n%s\nM 100644 inline file\ndata %d\n%s\n", who,
		len(title), title, len(text), text)
	f := fields{base: m.tip, title: title, at: at}
	blob := object("blob", text)
	tree := object("tree", "100644 file\x00"+string(blob))
	parent := ""
	if m.tip != "" {
		parent = "parent " + m.tip + "\n"
	}
	m.tip = fmt.Sprintf("%x", object("commit", fmt.Sprintf("tree %x\n%sauthor %s\ncommitter %s\n\n%s", tree, parent, who,
		who, title)))
	id := fmt.Sprintf("%x", blob)
	change := sha256.Sum256(fmt.Appendf(nil, ":100644 100644 %s %s M\x00file\x00", m.blob, id))
	m.blob = id
	f.commit, f.change = m.tip, fmt.Sprintf("%x", change)[:40]
	return f
}

// object returns the id that git gives an object.
func object(kind, text string) []byte {
	id := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(text), text))
	return id[:]
}

func reviewID(at time.Time, i int) string { return at.Format("20060102150405-") + suffix(2*i) }
func runID(at time.Time, i int) string    { return at.Format("20060102150405-") + suffix(2*i+1) }
func writerID(i int) string               { return fmt.Sprintf("b%011x", i) }

// suffix returns the i-th suffix of an id.
func suffix(i int) string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	s := make([]byte, 6)
	for k := range s {
		s[k] = letters[i%len(letters)]
		i /= len(letters)
	}
	return string(s)
}

// waitingReview returns the id of the n-th waiting review.
func (h *history) waitingReview(n int) string {
	i := 20*n + 12
	return reviewID(h.asked(i), i)
}

// asked returns the time of the i-th request.
func (h *history) asked(i int) time.Time {
	return h.At.Add(time.Duration(i+1) * (year / time.Duration(h.Reviews+1)))
}
