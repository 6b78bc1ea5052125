package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// sync measures what sharing costs where many reviews are there already, with the
// program that is measured and, if there is one, with another to compare.
func (b *bench) sync(n int) {
	made := b.reviewed(n)
	programs := []string{b.bin}
	if b.base != "" {
		programs = append([]string{b.base}, programs...)
	}
	var idle, news []command
	var all []*sharing
	for i, program := range programs {
		s := &sharing{b, program, filepath.Join(b.work, fmt.Sprint("sync", i)), filepath.Join(b.work, fmt.Sprint("sync", i, ".git"))}
		all = append(all, s)
		b.must(b.work, nil, "cp", "-r", made, s.dir)
		b.must(b.work, nil, "git", "init", "-q", "--bare", s.remote)
		b.must(s.dir, nil, "git", "remote", "add", "origin", s.remote)
		s.listen()
		first := b.time(command{dir: s.dir, argv: []string{program, "sync"}})
		objects, size := s.received()
		fmt.Printf("\n%s: the first sync of %d reviews: %.0f ms, %d objects, %d bytes\n", program, n, first, objects, size)
		idle = append(idle, command{name: "sync, nothing new: " + filepath.Base(program), dir: s.dir, argv: []string{program, "sync"}})
		news = append(news, command{name: "sync, one review: " + filepath.Base(program), dir: s.dir, argv: []string{program, "sync"}, before: s.review, after: func() { s.received() }})
	}
	fetch := command{name: "git fetch, nothing new", dir: all[0].dir, argv: []string{"git", "fetch", "-q", "origin", "refs/runr/log/*:refs/x/*"}}
	b.compare(fmt.Sprintf("sync at %d reviews", n), "", append([]command{fetch}, idle...)...)
	b.atMost(11).compare("the same with one review more", "", news...)
	for _, s := range all {
		s.review()
		b.must(s.dir, nil, s.program, "sync")
		objects, size := s.received()
		fmt.Printf("  %s pushes %d objects, %d bytes\n", filepath.Base(s.program), objects, size)
	}
	for _, s := range all {
		clone := s.dir + "-clone"
		b.must(b.work, nil, "git", "clone", "-q", s.remote, clone)
		took := b.time(command{dir: clone, argv: []string{s.program, "sync"}})
		fmt.Printf("  %s: the first sync of another clone: %.0f ms, %s KiB\n", filepath.Base(s.program), took, b.must(clone, nil, "sh", "-c", "du -sk .git/objects/pack | cut -f1"))
		fmt.Printf("  %s log -f: %.1f %% of a core\n", filepath.Base(s.program), s.following())
	}
}

// sharing is one program with a clone and a remote of its own.
type sharing struct {
	*bench
	program, dir, remote string
}

// listen keeps what is sent to the remote.
func (s *sharing) listen() {
	script := "#!/bin/sh\ntee -a " + s.remote + "/sent | git-receive-pack \"$@\"\n"
	write(s.remote+"/listen", script, 0o755)
	s.must(s.dir, nil, "git", "config", "remote.origin.receivepack", s.remote+"/listen")
}

// review asks for a review of a new commit and answers it.
func (s *sharing) review() {
	s.commit(s.dir, "more")
	s.must(s.dir, nil, s.program, "review", "--reviewer", "human", "--no-serve")
	s.must(s.dir, nil, s.program, "inbox", "submit", "latest", "--approve")
}

// received is how many objects and bytes were sent to the remote since the last call.
func (s *sharing) received() (objects uint32, size int) {
	sent, err := os.ReadFile(s.remote + "/sent")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Remove(s.remote + "/sent"); err != nil {
		log.Fatal(err)
	}
	for _, pack := range bytes.Split(sent, []byte("PACK\x00\x00\x00\x02"))[1:] {
		objects += binary.BigEndian.Uint32(pack)
	}
	return objects, len(sent)
}

// following is how much of a core log -f takes while nothing happens.
func (s *sharing) following() float64 {
	const watched = 6 * time.Second
	cmd := s.command(s.dir, s.program, "log", "-f")
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	time.Sleep(10 * time.Second) // what is there is printed first
	before := cpuTime(cmd.Process.Pid)
	time.Sleep(watched)
	used := cpuTime(cmd.Process.Pid) - before
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	return 100 * used.Seconds() / watched.Seconds()
}

// cpuTime is what a process has used so far, from /proc.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var user, system int64
	if fields := strings.Fields(rest); len(fields) > 12 {
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// reviewed is a repository with n submitted reviews, each of a commit of its own, made
// out of a real one.
func (b *bench) reviewed(n int) string {
	dir := b.repo("reviewed")
	b.answered(dir)
	head := b.must(dir, nil, "git", "rev-parse", "HEAD")
	var stream bytes.Buffer
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/main\nmark :%d\ncommitter Bench <bench@example.com> %d +0000\ndata 4\ncode\n", i+1, 1767323045+i)
		if i == 0 {
			fmt.Fprintf(&stream, "from %s\n", head)
		}
	}
	marks := filepath.Join(b.work, "marks")
	b.must(dir, stream.Bytes(), "git", "fast-import", "--quiet", "--export-marks="+marks)
	text, err := os.ReadFile(marks)
	if err != nil {
		log.Fatal(err)
	}
	commits := make([]string, n)
	for line := range strings.Lines(string(text)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil {
			log.Fatal(err)
		}
		commits[mark-1] = id
	}
	b.must(dir, nil, "git", "reset", "-q", "--hard")
	b.multiply(dir, n, func(i int) []string { return []string{head, commits[i]} })
	b.must(dir, nil, b.bin, "inbox", "list")
	return dir
}
