// Bench times whole processes of git-runr against git's own, in turns, and writes one table: the time of each, the
// memory of its largest process, the ratio, and whether the aim is reached. It checks each answer before it times the
// command, and fails if a command fails. It makes no assertion about time. It requires Linux's /proc.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) > 2 && os.Args[1] == measureArg {
		measure(os.Args[2:])
		return
	}
	b := &bench{log: os.Stderr}
	var sizes, parts string
	flag.StringVar(&b.bin, "bin", "", "the git-runr to measure")
	flag.StringVar(&b.work, "work", "", "an empty directory for scratch repositories")
	flag.StringVar(&b.keep, "keep", "", "a directory where made repositories are kept for other runs; may be left out")
	flag.StringVar(&b.gitleaks, "gitleaks", "", "gitleaks, to compare with; may be left out")
	flag.IntVar(&b.rounds, "rounds", 21, "turns of each command, at most")
	flag.DurationVar(&b.budget, "budget", 20*time.Second, "how long the turns of one row may take; three are always made")
	flag.StringVar(&sizes, "sizes", "100,10000", "reviews of each history")
	flag.IntVar(&b.events, "events", 0, "events of one more history, of fifty writers; 0 for none")
	flag.IntVar(&b.short, "short", 0, "writers that came and went; 0 for none")
	flag.IntVar(&b.long, "long", 10000, "events of the longest review and of the longest run")
	flag.IntVar(&b.files, "files", 100000, "files of the working tree that a snapshot is made of")
	flag.IntVar(&b.changed, "changed", 2000, "files of the large change, of 25 lines each")
	flag.StringVar(&parts, "parts", "all", "which: "+strings.Join(partNames(b), ", "))
	out := flag.String("o", "", "the file for the table; standard output without it")
	flag.Parse()
	b.sizes = numbers(sizes)
	b.prepare()
	b.run(strings.Split(parts, ","))
	if err := b.report(*out); err != nil {
		log.Fatal(err)
	}
}

// bench has the settings of a measurement and its results.
type bench struct {
	bin, gitleaks    string
	work, keep, self string
	rounds           int
	budget           time.Duration
	sizes            []int
	events, short    int
	long             int
	files, changed   int
	env              []string
	log              *os.File
	rows             []row
	remarks          []string
	templatesOf      *templates
	made             int // scratch repositories so far
}

// part is a topic that can be measured by itself.
type part struct {
	name string
	run  func()
}

func (b *bench) parts() []part {
	return []part{
		{"start", b.start}, {"hook", b.hooks}, {"history", b.histories}, {"long", b.longReviews}, {"run", b.longRun},
		{"tree", b.largeTree}, {"change", b.largeChange}, {"pack", b.largePack}, {"team", b.team}, {"short", b.shortLived},
		{"beside", b.beside},
	}
}

func partNames(b *bench) []string {
	return append([]string{"all"}, each.Of(b.parts(), func(p part) string { return p.name })...)
}

func (b *bench) run(names []string) {
	for _, name := range names {
		if !slices.Contains(partNames(b), name) {
			log.Fatalf("no part is called %q: %s", name, strings.Join(partNames(b), ", "))
		}
	}
	for _, p := range b.parts() {
		if slices.Contains(names, "all") || slices.Contains(names, p.name) {
			start := time.Now()
			p.run()
			fmt.Fprintf(b.log, "%s: %.0f s\n", p.name, time.Since(start).Seconds())
		}
	}
}

// prepare makes an environment without the machine's configuration.
func (b *bench) prepare() {
	var err error
	b.self, err = os.Executable()
	b.keep = cmp.Or(b.keep, filepath.Join(b.work, "kept"))
	for _, path := range []*string{&b.bin, &b.work, &b.keep} {
		if err == nil {
			*path, err = filepath.Abs(*path)
		}
	}
	if err == nil {
		err = os.MkdirAll(b.keep, 0o755)
	}
	if err != nil {
		log.Fatal(err)
	}
	home := filepath.Join(b.work, "home")
	b.env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config",
		"XDG_CACHE_HOME="+home+"/cache",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_TERMINAL_PROMPT=0", "TZ=UTC")
	write(filepath.Join(home, "gitconfig"),
		"[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n"+
			"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[runr]\n\tserve = false\n", 0o644)
}

func numbers(list string) (all []int) {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			log.Fatalf("%q is no number of reviews", s)
		}
		all = append(all, n)
	}
	return all
}
