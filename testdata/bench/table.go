package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is a line of the table.
type row struct {
	what   string
	size   string
	events int // of the history, 0 without one
	git    string
	gitDid string
	ours   string
	did    string
	ratio  float64 // of wall times; 0 for none
	ofCPU  float64 // of user and system time, which is more reliable on a busy machine
	aim    string
	held   string
	took   usage
}

// aim is the target of a row.
type aim struct {
	text string
	held func(git, ours usage) bool
}

// atMostTimes limits the ratio of wall times.
func atMostTimes(n float64) aim {
	return aim{fmt.Sprintf("≤ %g×", n), func(git, ours usage) bool { return ours.Wall <= n*git.Wall }}
}

// flat limits the time in relation to the same row at the smallest size.
func (b *bench) flat(what string) aim {
	return aim{"flat within 2×", func(_, ours usage) bool {
		i := slices.IndexFunc(b.rows, func(r row) bool { return r.what == what })
		return i < 0 || ours.Wall <= 2*b.rows[i].took.Wall
	}}
}

// within limits the wall time.
func within(limit time.Duration) aim {
	return aim{"≤ " + limit.String(), func(_, ours usage) bool { return ours.Wall <= ms(limit) }}
}

// add measures both sides, adds a row and returns both.
func (b *bench) add(what string, of measured, a aim, git, ours command) (usage, usage) {
	took := b.compare(git, ours)
	b.both(what, of, a, git.name(), took[0], ours.name(), took[1])
	return took[0], took[1]
}

// measured is the data that a row is measured on.
type measured struct {
	size   string
	events int
}

func (b *bench) both(what string, of measured, a aim, git string, peer usage, ours string, took usage) {
	r := row{what: what, size: of.size, events: of.events, git: git, gitDid: told(peer), ours: ours, did: told(took),
		ratio: took.Wall / peer.Wall, ofCPU: took.CPU / max(peer.CPU, 0.1), took: took}
	if a.held != nil {
		r.aim, r.held = a.text, yes(a.held(peer, took))
	}
	b.put(r)
}

// counted adds a row for a value that is not a time.
func (b *bench) counted(what string, of measured, git, ours, aim string, held bool) {
	r := row{what: what, size: of.size, gitDid: git, did: ours}
	if aim != "" {
		r.aim, r.held = aim, yes(held)
	}
	b.put(r)
}

func (b *bench) put(r row) {
	b.rows = append(b.rows, r)
	fmt.Fprintf(b.log, "  %s · %s: %s / %s  %s %s %s\n", r.what, r.size, r.did, r.gitDid, r.times(), r.aim, r.held)
}

// remark adds a line below the table.
func (b *bench) remark(format string, args ...any) {
	b.remarks = append(b.remarks, fmt.Sprintf(format, args...))
	fmt.Fprintf(b.log, "  "+format+"\n", args...)
}

func yes(held bool) string {
	if held {
		return "yes"
	}
	return "**no**"
}

func (r row) times() string {
	if r.ratio == 0 {
		return ""
	}
	if r.ofCPU == 0 {
		return fmt.Sprintf("%.2f×", r.ratio)
	}
	return fmt.Sprintf("%.2f× (CPU %.2f×)", r.ratio, r.ofCPU)
}

func told(u usage) string {
	return fmt.Sprintf("%s, %.0f MB", duration(u.Wall), u.Peak)
}

func duration(ms float64) string {
	switch {
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func bytesText(n float64) string {
	switch {
	case n < 10e3:
		return fmt.Sprintf("%.0f B", n)
	case n < 10e6:
		return fmt.Sprintf("%.0f KB", n/1e3)
	}
	return fmt.Sprintf("%.0f MB", n/1e6)
}

// peers are other programs' figures, measured by hand.
//
//go:embed peers.md
var peers string

// report writes the table, the growth and the remarks.
func (b *bench) report(file string) error {
	out := os.Stdout
	if file != "" {
		var err error
		if out, err = os.Create(file); err != nil {
			return err
		}
	}
	fmt.Fprint(out, b.heading())
	fmt.Fprintf(out,
		"| what | size | git's command | git | ours | we | ratio | aim | reached |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.what, r.size, code(r.git), r.gitDid,
			code(r.ours), r.did, r.times(), r.aim, r.held)
	}
	fmt.Fprint(out, b.growth().table())
	for i, line := range b.remarks {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "- "+line)
	}
	fmt.Fprint(out, peers)
	if out == os.Stdout {
		return nil
	}
	return out.Close()
}

// heading says where, when and how it was measured.
func (b *bench) heading() string {
	version, _ := exec.Command("git", "--version").Output() // "" if git cannot be run
	load, _ := os.ReadFile("/proc/loadavg")
	averages, _, _ := strings.Cut(string(load), "/")
	averages = averages[:max(strings.LastIndex(averages, " "), 0)]
	return fmt.Sprintf(
		"# What it costs against git\n\nMade by `testdata/bench/run.sh`. Measured %s on %d processors (load of the last 1, "+
			"5 and 15 minutes: %s),\n"+
			"%s, %s. Each value is the median of at most %d turns, in which the programs alternate. Memory is the\n"+
			"maximum of one process; values below about 7 MB cannot be distinguished.\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.NumCPU(), averages, strings.TrimSpace(string(version)),
		runtime.Version(), b.rounds)
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
}
