package main

import (
	"bytes"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
)

// command is one side of a comparison, run as a whole process.
type command struct {
	dir    string
	argv   []string
	before func() // not timed
	after  func() // not timed
}

// name returns the command as it is typed.
func (c command) name() string {
	words := slices.Clone(c.argv)
	if len(words) == 3 && words[0] == "sh" && words[1] == "-c" {
		words = strings.Fields(words[2])
	}
	for i, w := range words {
		if filepath.IsAbs(w) {
			words[i] = filepath.Base(w)
		}
	}
	return strings.Join(words, " ")
}

// compare runs the commands in turns, with another one first in each round. It returns the median of each value, and
// the maximum of memory.
func (b *bench) compare(commands ...command) []usage {
	all := make([][]usage, len(commands))
	start := time.Now()
	for round := range b.rounds {
		if round >= 3 && time.Since(start) > b.budget {
			break
		}
		for k := range commands {
			i := (k + round) % len(commands)
			all[i] = append(all[i], b.turn(commands[i]))
		}
	}
	return each.Of(all, middle)
}

func (b *bench) turn(c command) usage {
	if c.before != nil {
		c.before()
	}
	if c.after != nil {
		defer c.after()
	}
	return b.took(c)
}

func middle(turns []usage) usage {
	of := func(get func(usage) float64) float64 { return median(each.Of(turns, get)) }
	return usage{
		Wall: of(func(u usage) float64 { return u.Wall }), CPU: of(func(u usage) float64 { return u.CPU }),
		Read: of(func(u usage) float64 { return u.Read }), Written: of(func(u usage) float64 { return u.Written }),
		Peak: slices.MaxFunc(turns, func(x, y usage) int { return int(1000 * (x.Peak - y.Peak)) }).Peak,
	}
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)-1)/2]
}

// atMost calls measure with a limit on the rounds, for slow commands.
func (b *bench) atMost(rounds int, measure func()) {
	was := b.rounds
	b.rounds = min(was, rounds)
	measure()
	b.rounds = was
}

// command returns a process in dir that does not read the machine's configuration. It does not use gitstore, because
// whole processes are timed.
func (b *bench) command(dir string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, b.env
	return cmd
}

// must runs a command that prepares or checks something, and returns its output.
func (b *bench) must(dir string, argv ...string) string {
	cmd := b.command(dir, argv...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, bytes.TrimSpace(out))
	}
	return strings.TrimSpace(string(out))
}

// says fails unless the output of a command contains all of want.
func (b *bench) says(dir string, argv []string, want ...string) {
	out := b.must(dir, argv...)
	for _, text := range want {
		if !strings.Contains(out, text) {
			log.Fatalf("%s does not say %q: %.600s", strings.Join(argv, " "), text, out)
		}
	}
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
