package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
)

// Every old name, with the words that may surround it, is replaced by an existing command.
func TestOldNames(t *testing.T) {
	for typed, want := range map[string]string{
		"answer RUN commit":          "resume --decide RUN --commit",
		"-C dir answer RUN skip":     "-C dir resume --decide RUN --skip",
		"continue RUN":               "resume --safe RUN",
		"fix ID":                     "run --review ID",
		"inbox get ID --json":        "show --only-review ID --json",
		"inbox --json get ID":        "show --only-review --json ID",
		"inbox list":                 "inbox list",
		"list --status all":          "inbox list --status all",
		"report RUN":                 "show --steps RUN",
		"restore SNAP --to DIR":      "undo --snapshot SNAP --into DIR",
		"restore SNAP --to=DIR":      "undo --snapshot SNAP --into=DIR",
		"scan A..B":                  "review --missing A..B",
		"snapshots":                  "undo --list",
		"help answer":                "help resume",
		"run answer":                 "run answer",
		"--color never snapshots -q": "--color never undo --list -q",
	} {
		got := renamed(append([]string{"git-runr"}, strings.Fields(typed)...))
		if got := strings.Join(got[1:], " "); got != want {
			t.Errorf("%q became %q, want %q", typed, got, want)
		}
	}
	commands := (&program{}).app().Commands
	for _, a := range aliases() {
		name := strings.Fields(a.now)[0]
		if !slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.HasName(name) }) {
			t.Errorf("%q leads to %q, which is no command", a.typed, name)
		}
	}
}
