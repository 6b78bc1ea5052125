package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/prose"
)

// outputOf returns what the program prints on both streams for one command line, and its status.
func outputOf(t *testing.T, words ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &out, err: &out, getenv: os.Getenv, now: time.Now}
	status := p.run(t.Context(), append([]string{"git-runr"}, words...))
	return out.String(), status
}

// everyCommand calls f for each command and subcommand, with its words.
func everyCommand(f func(c *cli.Command, words ...string)) {
	var walk func(commands []*cli.Command, before []string)
	walk = func(commands []*cli.Command, before []string) {
		for _, c := range commands {
			words := append(before[:len(before):len(before)], c.Name)
			f(c, words...)
			walk(c.Commands, words)
		}
	}
	walk((&program{}).app().Commands, nil)
}

// Help is the same under each name of a command, whatever other words are beside -h.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Chdir(t.TempDir()) // no help needs a repository
	everyCommand(func(c *cli.Command, words ...string) {
		want, status := outputOf(t, append(words, "-h")...)
		if own := "git runr " + strings.Join(words, " ") + " "; status != 0 ||
			words[0] != "help" && !strings.Contains(want, own) {
			t.Errorf("%q -h: %d\n%s", words, status, want)
		}
		for _, sub := range c.Commands {
			if !sub.Hidden && !strings.Contains(want, "\n   "+sub.Name+" ") {
				t.Errorf("%q -h does not list %q", words, sub.Name)
			}
		}
		if strings.Contains(want, "(default: false)") || strings.Contains(want, "(default: 0)") {
			t.Errorf("%q -h gives a default that is none:\n%s", words, want)
		}
		others := [][]string{append([]string{"help"}, words...), append(words[:len(words):len(words)], "--help")}
		if !c.SkipFlagParsing {
			others = append(others, append(words[:len(words):len(words)], "some", "thing", "-h"),
				append([]string{words[0], "-h"}, words[1:]...))
		}
		for _, other := range others {
			if got, status := outputOf(t, other...); got != want || status != 0 {
				t.Errorf("%q: %d, not what %q -h prints:\n%s", other, status, words, got)
			}
		}
	})
	general, _ := outputOf(t, "-h")
	for _, other := range [][]string{{"help"}, {"--help"}} {
		if got, status := outputOf(t, other...); got != general || status != 0 {
			t.Errorf("%q: %d\n%s", other, status, got)
		}
	}
	for _, unknown := range [][]string{{"-h", "reveiw"}, {"reveiw", "-h", "reveiw"}, {"help", "reveiw"},
		{"help", "inbox", "sumbit"}, {"help", "review", "HEAD"}, {"help", "config", "config"}} {
		if got, status := outputOf(t, unknown...); status != int(exit.Usage) ||
			!strings.Contains(got, unknown[len(unknown)-1]) {
			t.Errorf("%q: %d\n%s", unknown, status, got)
		}
	}
}

// A directory that does not exist, or is a file, is an error of the user and not a bug.
func TestNoSuchDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{{filepath.Join(dir, "none"), "does not exist"},
		{file, "is not a directory"}} {
		got, status := outputOf(t, "-C", c.dir, "status")
		if status != int(exit.NotFound) || !strings.Contains(got, c.want) || !strings.Contains(got, c.dir) ||
			strings.Contains(got, "should not happen") {
			t.Errorf("%s: %d\n%s", c.dir, status, got)
		}
	}
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if got, status := outputOf(t, "status"); status != int(exit.NotFound) || strings.Contains(got, "should not happen") {
		t.Errorf("a working directory that is gone: %d\n%s", status, got)
	}
}

// No line of any help is wider than the terminal, unless a single word is. In a pipe the width is 80 columns.
func TestHelpFits(t *testing.T) {
	t.Chdir(t.TempDir())
	fits := func(columns int, words ...string) {
		text, _ := outputOf(t, words...)
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); prose.Columns(line) > columns && len(strings.Fields(line)) > 1 {
				t.Errorf("%q at %d columns, %d:\n%s", words, columns, prose.Columns(line), line)
			}
		}
	}
	for set, columns := range map[string]int{"": 80, "40": 40, "200": 80, "x": 80} {
		t.Setenv("COLUMNS", set)
		everyCommand(func(_ *cli.Command, words ...string) { fits(columns, append(words, "-h")...) })
		fits(columns, "help")
		for _, topic := range topics() {
			fits(columns, "help", topic.Name)
		}
	}
}
