package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
)

var gitVersion = command{argv: []string{"git", "--version"}}

// start times a git-runr process that does nothing else.
func (b *bench) start() {
	of := measured{size: "–"}
	b.add("start-up", of, atMostTimes(3), gitVersion, command{argv: []string{b.bin, "--version"}})
	dir := b.repo("start")
	b.must(dir, b.bin, "review", "--reviewer", "human", "--no-serve")
	b.says(dir, []string{b.bin, "inbox", "list"}, "second")
	b.add("start-up: list of one review", of, atMostTimes(2.5), gitVersion,
		command{dir: dir, argv: []string{b.bin, "inbox", "list"}})
	b.must(dir, "git", "config", "runr.hooks.postCommit", "off") // otherwise the hook requests a review in each turn
	b.add("start-up: the hook, nothing to do", of, atMostTimes(2.5), gitVersion,
		command{dir: dir, argv: []string{b.bin, "hooks", "run", "post-commit"}})
	b.initialisation()
}

// initialisation names the packages whose variables take longest to initialise.
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
	var slow []string
	for i, name := range names {
		sum += median(perPackage[name])
		if i < 5 {
			slow = append(slow, fmt.Sprintf("%s %.2f", name, median(perPackage[name])))
		}
	}
	b.remark("Initialisation: %d packages, %.2f ms together: %s.", len(names), sum, strings.Join(slow, ", "))
}
