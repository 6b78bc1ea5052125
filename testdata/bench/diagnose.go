package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// benchConfig is a loop that gives up after its first round.
const benchConfig = `[loop]
implementer = "impl"
reviewer = "rev"
max_retries = 0

[agents.impl]
command = ["sh", "-c", "echo work >work.txt; echo done"]

[agents.rev]
command = ["sh", "-c", "printf '### Verdict: NEEDS_FIX\\n- Fix type errors\\n- Add test coverage for new function\\n'"]

[checks.typecheck]
command = "echo Found 3 errors in 1 file.; exit 1"
`

// fewEvents is the length of an ordinary stopped run.
const fewEvents = 100

// diagnose times the diagnosis of a short and of a long run, each alone in its
// history and among many others.
func (b *bench) diagnose(runs, events int) {
	short, long := b.stoppedRuns("short", 1, fewEvents), b.stoppedRuns("long", 1, events)
	many := b.stoppedRuns("many", runs, events)
	diagnose := func(name string, h history, id string) command {
		return command{name: name, dir: h.dir, argv: []string{b.bin, "diagnose", id}}
	}
	b.atMost(11).compare(fmt.Sprintf("diagnose a run of %d or %d events, alone or among %d runs with %d events in all", fewEvents, events, runs, many.events),
		"in proportion to the run's own events",
		diagnose(fmt.Sprintf("%d events, alone", fewEvents), short, short.first),
		diagnose(fmt.Sprintf("%d events, among many", fewEvents), many, many.last),
		diagnose(fmt.Sprintf("%d events, alone", events), long, long.first),
		diagnose(fmt.Sprintf("%d events, among many", events), many, many.first))
}

// history is a repository of stopped runs: the first of them is the longest.
type history struct {
	dir, first, last string
	events           int
}

// stoppedRuns makes runs out of the events of one real run that stopped: one with
// the given number of events, the others with fewEvents.
func (b *bench) stoppedRuns(name string, runs, events int) history {
	dir := b.repo("diagnose-" + name)
	write(filepath.Join(dir, ".runr.toml"), benchConfig, 0o644)
	write(filepath.Join(dir, "TASK.md"), "# A task\n", 0o644)
	b.must(dir, nil, b.bin, "trust", "--yes")
	_ = b.command(dir, b.bin, "run", "TASK.md").Run() // it stops, which is a status of its own
	ref, messages := b.events(dir)
	if len(messages) < 6 {
		log.Fatalf("the run left %d events", len(messages))
	}
	old := b.trailer(dir, ref, "Runr-Run")
	h := history{dir: dir}
	b.pipe(dir, func(w *bufio.Writer) {
		for i := range runs {
			n := fewEvents
			if i == 0 {
				n, h.first = events, runID(i)
			}
			h.last = runID(i)
			for k := range n {
				h.events++
				writeCommit(w, "refs/runr/log/0123456789ab", strings.ReplaceAll(eventOf(messages, k, n, h.events), old, runID(i)))
			}
		}
	}, "git", "fast-import", "--quiet", "--force")
	h.events += len(messages) // a log that is deleted is taken up again
	if out := b.must(dir, nil, b.bin, "--json", "fsck"); !strings.Contains(out, fmt.Sprintf(`"events":%d,"unreadable":[]`, h.events)) {
		log.Fatalf("the events do not read: %.300s", out)
	}
	if out := b.must(dir, nil, b.bin, "diagnose", h.first); !strings.Contains(out, "Fix type errors") {
		log.Fatalf("the run is not diagnosed: %s", out)
	}
	return h
}

func runID(i int) string { return reviewID(i + 1) }

// eventOf is the k-th of n events of a run: its start, turns of an attempt, its
// checks and its review, and the stop.
func eventOf(messages []string, k, n, clock int) string {
	turn := messages[1 : len(messages)-1]
	text := messages[0]
	switch {
	case k == n-1:
		text = messages[len(messages)-1]
	case k > 0:
		number := 1 + (k-1)/len(turn)
		text = turn[(k-1)%len(turn)]
		text = strings.Replace(text, `"attempt":1,`, fmt.Sprintf(`"attempt":%d,`, number), 1)
		text = strings.Replace(text, `"round":1,`, fmt.Sprintf(`"round":%d,`, number), 1)
	}
	start := strings.Index(text, `"clock":`)
	end := start + strings.Index(text[start:], ",")
	writer := strings.Index(text, `"writer":"`) + len(`"writer":"`)
	return text[:start] + fmt.Sprintf(`"clock":%d`, clock) + text[end:writer] + "0123456789ab" + text[writer+12:]
}

// pipe runs a command that reads what write gives it.
func (b *bench) pipe(dir string, write func(*bufio.Writer), argv ...string) {
	cmd := b.command(dir, argv...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(in)
	write(w)
	w.Flush()
	in.Close()
	if err := cmd.Wait(); err != nil {
		log.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
}
