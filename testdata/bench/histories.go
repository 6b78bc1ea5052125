package main

import (
	"fmt"
	"log"
	"slices"
	"strings"
	"time"
)

// histories measures the most common commands at each size.
func (b *bench) histories() {
	for _, n := range b.sizes {
		b.at(b.history(n, 1))
	}
	if b.events > 0 {
		b.at(b.manyWriters())
	}
}

// manyWriters returns the largest history, which has fifty writers.
func (b *bench) manyWriters() history { return b.history(b.templates().reviewsFor(b.events), 50) }

func (b *bench) largest() history {
	if b.events > 0 {
		return b.manyWriters()
	}
	return b.history(slices.Max(b.sizes), 1)
}

// at adds the rows of one size.
func (b *bench) at(h history) {
	of := measured{fmt.Sprintf("%d reviews", h.Reviews), h.Events}
	dir := b.copied(h.Dir)
	defer b.remove(dir)
	b.listing(h, of, dir)
	b.reading(h, of, dir)
	b.ranges(h, of, dir)
	b.afterAnEvent(h, of, dir)
	b.writing(h, of, dir)
	b.rebuilding(h, of, dir)
	b.following(of, dir)
	b.page(h, of, dir)
	b.sharing(h, of)
}

// list returns the command that lists the waiting reviews.
func (b *bench) list() []string { return []string{b.bin, "inbox", "list"} }

// listing checks and times the list without a cache.
func (b *bench) listing(h history, of measured, dir string) {
	b.cold(dir)()
	b.says(dir, []string{b.bin, "inbox", "list", "--json", "--limit", "1"}, fmt.Sprintf(`"total":%d`, h.Waiting))
	events := strings.Count(b.must(dir, "git", "log", "--format=%H", "--glob=refs/runr/log"), "\n") + 1
	if events != h.Events {
		log.Fatalf("git log shows %d events of %d", events, h.Events)
	}
	b.atMost(5, func() {
		_, ours := b.add("list, cold", of, atMostTimes(2.5),
			command{dir: dir, argv: []string{"git", "log", "--format=%B", "--glob=refs/runr/log"}},
			command{dir: dir, argv: b.list(), before: b.cold(dir)})
		b.counted("list, cold: memory", of, "", fmt.Sprintf("%.0f MB", ours.Peak), "≤ 256 MB", ours.Peak <= 256)
	})
}

// reading times the commands whose output is a page or less.
func (b *bench) reading(h history, of measured, dir string) {
	get := []string{b.bin, "inbox", "get", h.Last}
	newest := []string{b.bin, "log", "--limit", "5"}
	head := []string{b.bin, "log", "HEAD"}
	waits := h.waitingReview(0)
	diagnose := []string{b.bin, "diagnose", waits}
	b.says(dir, get, "what the reviewer says")
	b.says(dir, head, h.Last)
	b.says(dir, diagnose, waits)
	if out := b.must(dir, newest...); strings.Count(out, "\n") != 4 || !strings.Contains(out, h.Last) {
		log.Fatalf("git-runr log --limit 5: %s", out)
	}
	ask := func(what string, times float64, argv ...string) {
		a := aim{}
		if times > 0 {
			a = atMostTimes(times)
		}
		b.add(what, of, a, gitVersion, command{dir: dir, argv: argv})
	}
	ask("list", 10, b.list()...)
	ask("inbox get", 0, get...)
	ask("log --limit 5", 15, newest...)
	ask("log HEAD", 15, head...)
	ask("diagnose", 15, diagnose...)
	b.add("status", of, b.flat("status"), gitVersion, command{dir: dir, argv: []string{b.bin, "status"}})
	ask("prompt", 0, b.bin, "prompt")
}

// ranges times the commands for a range of commits or of time.
func (b *bench) ranges(h history, of measured, dir string) {
	audit := []string{b.bin, "audit"}
	metrics := []string{b.bin, "metrics"}
	b.says(dir, audit, fmt.Sprintf("of %d commits", min(50, h.Reviews+1)), "review "+h.Last)
	b.says(dir, metrics, "requested")
	b.add("audit", of, b.flat("audit"), command{dir: dir, argv: []string{"git", "log", "-50"}},
		command{dir: dir, argv: audit})
	b.add("metrics", of, aim{}, command{dir: dir,
		argv: []string{"git", "log", "--since=30.days", "--format=%B", "--glob=refs/runr/log"}},
		command{dir: dir, argv: metrics})
}

// afterAnEvent times the list after one event, and counts the bytes that the event and the list read and write.
func (b *bench) afterAnEvent(h history, of measured, dir string) {
	claim := func() usage {
		b.must(dir, b.list()...)
		u := b.took(command{dir: dir, argv: []string{b.bin, "inbox", "claim", h.waitingReview(0), "--as", "chat"}})
		b.must(dir, b.list()...)
		b.must(dir, b.bin, "inbox", "release", h.waitingReview(0), "--as", "chat", "--force")
		return u
	}
	held := 20.0
	if h.Reviews <= 10000 {
		held = 12
	}
	_, list := b.add("list after one event", of, atMostTimes(held), gitVersion,
		command{dir: dir, argv: b.list(), before: func() { claim() }})
	verb := claim()
	b.counted("bytes written by one verb", of, "", bytesText(verb.Written), "≤ 100 KB", verb.Written <= 100e3)
	b.counted("bytes read by one verb", of, "", bytesText(verb.Read), "", true)
	b.counted("bytes written by the list after it", of, "", bytesText(list.Written), "≤ 100 KB", list.Written <= 100e3)
	b.counted("bytes read by the list after it", of, "", bytesText(list.Read), "", true)
}

// writing times the commands that record one event, with fsync. git's notes are as many as git-runr's.
func (b *bench) writing(h history, of measured, dir string) {
	b.must(dir, b.bin, "fsck", "--rebuild")
	b.must(dir, "git", "update-ref", "refs/notes/peer", "refs/notes/runr")
	note := command{dir: dir, argv: []string{"git", "notes", "--ref=peer", "append", "-m", "x", "HEAD"}}
	asked := func() { b.must(dir, b.bin, "review", "--reviewer", "human", "--no-serve") }
	asked()
	b.add("review", of, atMostTimes(2.5), note,
		command{dir: dir, argv: []string{b.bin, "review", "--reviewer", "human", "--no-serve"},
			before: func() { b.must(dir, b.bin, "inbox", "cancel", "latest") }})
	submit := func(verdict string) command {
		return command{dir: dir, argv: []string{b.bin, "inbox", "submit", "latest", verdict}, before: asked}
	}
	asked() // an imported history has no notes yet, and was never tidied
	b.must(dir, submit("--request-changes").argv...)
	b.add("submit", of, atMostTimes(2.5), note, submit("--request-changes"))
	b.add("submit, which closes others", of, aim{}, note, submit("--approve"))
	claim := []string{b.bin, "inbox", "claim", h.waitingReview(0), "--as", "chat"}
	b.add("claim", of, atMostTimes(2.5), note, command{dir: dir, argv: claim,
		after: func() { b.must(dir, b.bin, "inbox", "release", claim[3], "--as", "chat", "--force") }})
}

func (b *bench) rebuilding(h history, of measured, dir string) {
	b.atMost(3, func() {
		b.add("fsck --rebuild", of, atMostTimes(6),
			command{dir: dir, argv: []string{"git", "log", "--format=%B", "--glob=refs/runr/log"}},
			command{dir: dir, argv: []string{b.bin, "fsck", "--rebuild"}})
	})
	b.says(dir, []string{"git", "log", "-1", "--notes=runr"}, "Notes (runr)", h.Last)
}

// following measures how much of a core log -f uses while nothing happens.
func (b *bench) following(of measured, dir string) {
	cmd := b.command(dir, b.bin, "log", "-f")
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	watched := min(6*time.Second, b.budget)
	settled(cmd.Process.Pid) // it prints the existing events first
	before := cpuTime(cmd.Process.Pid)
	time.Sleep(watched)
	used := 100 * (cpuTime(cmd.Process.Pid) - before).Seconds() / watched.Seconds()
	stop(cmd)
	b.counted("log -f, idle", of, "", fmt.Sprintf("%.2f %% of a core", used), "< 0.5 %", used < 0.5)
}
