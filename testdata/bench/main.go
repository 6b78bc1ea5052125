// Bench times whole processes of git-runr against git's own, in turns, and prints
// medians and ratios. It asserts nothing.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	bin := flag.String("bin", "", "the git-runr to measure")
	plain := flag.String("plain", "", "git-runr built without tags, to compare; may be left out")
	base := flag.String("base", "", "another git-runr, to compare sync with; may be left out")
	work := flag.String("work", "", "an empty directory for scratch repositories")
	rounds := flag.Int("rounds", 41, "turns of each command")
	reviews := flag.Int("reviews", 10000, "reviews in the inbox")
	runs := flag.Int("runs", 1000, "stopped runs in the history of git runr diagnose")
	events := flag.Int("events", 10000, "events of the longest of them")
	objects := flag.Int("objects", 300000, "objects in the large pack")
	only := flag.String("only", "", "one part: start, initialisation, append, hook, rewrite, gate, inbox, claim, pack, sync or diagnose")
	flag.Parse()
	b := &bench{bin: *bin, plain: *plain, base: *base, work: *work, rounds: *rounds}
	b.env = append(os.Environ(), "HOME="+*work, "XDG_STATE_HOME="+*work+"/state", "XDG_CONFIG_HOME="+*work+"/config",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(*work, "gitconfig"))
	config := "[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
	write(filepath.Join(*work, "gitconfig"), config, 0o644)
	parts := []struct {
		name string
		run  func()
	}{
		{"start", b.start}, {"initialisation", b.initialisation}, {"append", b.append}, {"hook", b.hook}, {"rewrite", b.rewrite}, {"gate", b.gate},
		{"inbox", func() { b.inbox(*reviews) }},
		{"claim", func() { b.claim(*reviews) }},
		{"pack", func() { b.largePack(*objects) }},
		{"sync", func() { b.sync(*reviews) }},
		{"diagnose", func() { b.diagnose(*runs, *events) }},
	}
	for _, part := range parts {
		if *only == "" || *only == part.name {
			part.run()
		}
	}
}

type bench struct {
	bin, plain, base, work string
	rounds                 int
	env                    []string
}

// command is one side of a comparison, run as a whole process.
type command struct {
	name   string
	dir    string
	argv   []string
	before func() // not timed
	after  func() // not timed
}

// compare times the commands in turns, each round beginning with another one, and
// prints each as a ratio to the first.
func (b *bench) compare(title, aim string, commands ...command) {
	times := make([][]float64, len(commands))
	for round := range b.rounds {
		for k := range commands {
			i := (k + round) % len(commands)
			times[i] = append(times[i], b.turn(commands[i]))
		}
	}
	fmt.Printf("\n%s (%d rounds)\n", title, b.rounds)
	base := median(times[0])
	for i, c := range commands {
		m := median(times[i])
		fmt.Printf("  %-40s %8.2f ms %6.2fx %+8.2f ms   min %8.2f p90 %8.2f\n",
			c.name, m, m/base, m-base, slices.Min(times[i]), quantile(times[i], 0.9))
	}
	if aim != "" {
		fmt.Printf("  aim: %s\n", aim)
	}
}

func (b *bench) turn(c command) float64 {
	if c.before != nil {
		c.before()
	}
	if c.after != nil {
		defer c.after()
	}
	return b.time(c)
}

// atMost is b with a limit on its rounds, for what takes long.
func (b *bench) atMost(rounds int) *bench {
	few := *b
	few.rounds = min(b.rounds, rounds)
	return &few
}

func median(t []float64) float64 { return quantile(t, 0.5) }

func quantile(t []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[int(q*float64(len(sorted)-1))]
}

// time runs c and gives its wall time in milliseconds.
func (b *bench) time(c command) float64 {
	cmd := b.command(c.dir, c.argv...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		log.Fatalf("%s: %v", strings.Join(c.argv, " "), err)
	}
	return float64(time.Since(start).Microseconds()) / 1000
}

// command is a process in dir that is told nothing of the machine's configuration. It is
// run here and not by gitstore because whole processes are what is timed.
func (b *bench) command(dir string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, b.env
	return cmd
}

// must runs a command that prepares something.
func (b *bench) must(dir string, stdin []byte, argv ...string) string {
	cmd := b.command(dir, argv...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(path, text string, perm os.FileMode) {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), perm)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (b *bench) repo(name string) string {
	dir := filepath.Join(b.work, name)
	b.must(b.work, nil, "git", "init", "-q", dir)
	b.commit(dir, "first")
	return dir
}

// commit makes a commit that changes a file: one that changes none is not reviewed.
func (b *bench) commit(dir, message string) {
	b.must(dir, nil, "sh", "-c", "echo \"$1\" >>file && git add file && git commit -q -m \"$1\"", "sh", message)
}

func (b *bench) start() {
	commands := []command{
		{name: "git --version", argv: []string{"git", "--version"}},
		{name: "git-runr --version", argv: []string{b.bin, "--version"}},
		{name: "git-runr help", argv: []string{b.bin, "help"}},
	}
	if b.plain != "" {
		commands = append(commands, command{name: "git-runr --version, built without tags", argv: []string{b.plain, "--version"}})
	}
	b.compare("start-up", "", commands...)
}

// initialisation prints the packages whose variables take longest to make.
func (b *bench) initialisation() {
	perPackage := map[string][]float64{}
	for range b.rounds {
		cmd := b.command("", b.bin, "--version")
		cmd.Env = append(slices.Clone(b.env), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			log.Fatal(err)
		}
		for line := range strings.Lines(trace.String()) {
			var name string
			var at, took float64
			if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock", &name, &at, &took); n == 3 {
				perPackage[name] = append(perPackage[name], took)
			}
		}
	}
	sum := 0.0
	names := slices.SortedFunc(maps.Keys(perPackage), func(x, y string) int {
		return cmp.Compare(median(perPackage[y]), median(perPackage[x]))
	})
	for _, name := range names {
		sum += median(perPackage[name])
	}
	fmt.Printf("\ninitialisation: %d packages, %.2f ms together\n", len(names), sum)
	for _, name := range names[:min(10, len(names))] {
		fmt.Printf("  %-44s %8.3f ms\n", name, median(perPackage[name]))
	}
}

func (b *bench) append() {
	dir := b.repo("append")
	b.must(dir, nil, b.bin, "review", "--reviewer", "human")
	b.compare("one event as a whole process", "at most 2.5x git notes append, with our fsync on",
		command{name: "git notes append", dir: dir, argv: []string{"git", "notes", "append", "-m", "x", "HEAD"}},
		command{name: "git -c core.fsync=all notes append", dir: dir, argv: []string{"git", "-c", "core.fsync=all", "notes", "append", "-m", "x", "HEAD"}},
		command{name: "git-runr review --reviewer human", dir: dir, argv: []string{b.bin, "review", "--reviewer", "human"}})
}

func (b *bench) hook() {
	commit := []string{"git", "commit", "-q", "--allow-empty", "-m", "x"}
	none, empty, record, full := b.repo("none"), b.repo("empty"), b.repo("record"), b.repo("full")
	write(filepath.Join(empty, ".git", "hooks", "post-commit"), "#!/bin/sh\n", 0o755)
	for _, dir := range []string{record, full} {
		b.must(dir, nil, b.bin, "hooks", "install")
	}
	b.must(record, nil, "git", "config", "runr.review.reviewer", "human")
	b.compare("git commit with a post-commit hook", "at most 3x the empty hook's, and at most 20 ms more than without",
		command{name: "an empty shell hook", dir: empty, argv: commit},
		command{name: "no hook", dir: none, argv: commit},
		command{name: "ours, for a person", dir: record, argv: commit},
		command{name: "ours, starting the worker", dir: full, argv: commit, after: func() { b.idle(full) }})
}

// idle waits until the worker that the hook has started is done, so that it does
// not weigh on the next turn.
func (b *bench) idle(dir string) {
	for strings.Contains(b.must(dir, nil, b.bin, "--json", "work"), `"busy":true`) {
		time.Sleep(10 * time.Millisecond)
	}
}

// inbox makes many reviews out of one real event and lists them.
func (b *bench) inbox(n int) {
	dir := b.repo("inbox")
	b.must(dir, nil, b.bin, "review", "--reviewer", "human")
	b.multiply(dir, n-1, func(int) []string { return nil })
	if out := b.must(dir, nil, b.bin, "--json", "fsck"); !strings.Contains(out, fmt.Sprintf(`"events":%d,"unreadable":[]`, n)) {
		log.Fatalf("the events do not read: %.300s", out)
	}
	b.must(dir, nil, b.bin, "inbox", "list")
	if out := b.must(dir, nil, b.bin, "inbox", "list", "--json", "--limit", "1"); !strings.Contains(out, fmt.Sprintf(`"total":%d`, n)) {
		log.Fatalf("the inbox does not hold %d reviews: %s", n, out)
	}
	list := []string{b.bin, "inbox", "list"}
	cold := func() { os.RemoveAll(filepath.Join(dir, ".git", "runr", "cache")) }
	b.compare(fmt.Sprintf("inbox list at %d reviews", n), "at most 10x git --version, warm",
		command{name: "git --version", argv: []string{"git", "--version"}},
		command{name: "git-runr inbox list, warm", dir: dir, argv: list})
	b.atMost(7).compare("the same without its cache", "",
		command{name: "git log, all events", dir: dir, argv: []string{"git", "log", "--format=%B", "--glob=refs/runr/log"}},
		command{name: "git-runr inbox list, cold", dir: dir, argv: list, before: cold})
}

// suffix is the i-th suffix of an id.
func suffix(i int) string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	s := make([]byte, 6)
	for k := range s {
		s[k] = letters[i%len(letters)]
		i /= len(letters)
	}
	return string(s)
}

// largePack reads one review out of one big pack.
func (b *bench) largePack(n int) {
	dir := b.repo("pack")
	b.must(dir, nil, b.bin, "review", "--reviewer", "human")
	var stream bytes.Buffer
	for i := range n {
		text := fmt.Sprint("object ", i)
		fmt.Fprintf(&stream, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(text), text)
	}
	stream.WriteString("commit refs/heads/big\ncommitter Bench <bench@example.com> 1767323045 +0000\ndata 3\nbig\n")
	for i := range n {
		fmt.Fprintf(&stream, "M 100644 :%d %d/%d\n", i+1, i/1000, i)
	}
	b.must(dir, stream.Bytes(), "git", "fast-import", "--quiet")
	b.must(dir, nil, "git", "repack", "-adq")
	b.must(dir, nil, "git", "prune-packed")
	event := b.must(dir, nil, "sh", "-c", "git rev-parse $(git for-each-ref --format='%(refname)' refs/runr/log)")
	id := b.trailer(dir, event, "Runr-Review")
	b.must(dir, nil, b.bin, "inbox", "list")
	b.compare(fmt.Sprintf("one review in a pack of %d objects", n), "under 3x git cat-file",
		command{name: "git cat-file -p EVENT", dir: dir, argv: []string{"git", "cat-file", "-p", event}},
		command{name: "git-runr inbox get ID", dir: dir, argv: []string{b.bin, "inbox", "get", id}})
}
