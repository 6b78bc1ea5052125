package app

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every process initialises every linked package, the post-commit hook's process as well. Packages that take more
// than a little are named here. Other values are made at their first use (sync.OnceValue), or their package is not
// linked.
const (
	initialAtMost = 12 << 10 // bytes that the variables of a package may take
	ownAtMost     = 92 << 10 // of all our packages together: mainly the types of events and the keys of configuration
	packagesMost  = 100      // packages with variables or an init function
)

// initialMore maps the packages that take more to how much they take.
var initialMore = map[string]int{
	"github.com/git-runr/git-runr/loop/record":                  40 << 10, // types of events
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config": 24 << 10, // keys
	"unicode":            24 << 10,
	"gopkg.in/yaml%2ev3": 48 << 10,
}

func TestLittleIsInitialised(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", "-exec", "env GODEBUG=inittrace=1",
		"github.com/git-runr/git-runr/cmd/git-runr", "--version")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	packages, own := 0, 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &bytes); n != 4 {
			continue
		}
		packages++
		if strings.HasPrefix(name, "github.com/git-runr/git-runr/") {
			own += bytes
		}
		if most := max(initialAtMost, initialMore[name]); bytes > most {
			t.Errorf("the variables of %s take %d bytes, at most %d: make them at their first use", name, bytes, most)
		}
	}
	if packages == 0 {
		t.Skip("this Go says nothing about initialisation (GODEBUG=inittrace=1)")
	}
	if packages > packagesMost {
		t.Errorf("%d packages are initialised, at most %d: what does the newest library bring along?", packages, packagesMost)
	}
	if own > ownAtMost {
		t.Errorf("our packages' variables take %d bytes, at most %d", own, ownAtMost)
	}
}

// The exact command lines of our hooks bypass the command line parser; any line with more on it does not.
func TestHookLine(t *testing.T) {
	for line, want := range map[string]string{
		"git-runr hooks run post-commit": "post-commit", "git-runr hooks run post-merge 0": "post-merge 0",
		"git-runr hooks run post-rewrite rebase": "post-rewrite rebase",
		"git-runr hooks run pre-push origin url": "", "git-runr hooks run post-commit --help": "",
		"git-runr hooks run other": "", "git-runr hooks run": "",
		"git-runr -C dir hooks run post-commit": "", "git-runr hooks status post-commit x": "", "git-runr": "",
	} {
		if got := strings.Join(hookLine(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The hook makes no command: 45 of them with their flags are 400 allocations.
func TestHookMakesNoCommands(t *testing.T) {
	p := &program{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" },
		now: time.Now}
	t.Chdir("/") // no repository, and no parent directories to look for one in
	hook := testing.AllocsPerRun(3, func() { p.runHook(t.Context(), []string{"post-commit"}) })
	if commands := testing.AllocsPerRun(3, func() { p.app() }); hook > commands {
		t.Errorf("a hook that finds no repository allocates %.0f times, the commands alone %.0f", hook, commands)
	}
}

// TestCommandsHaveTheirNames: the table from which one command is made has the names of the commands.
func TestCommandsHaveTheirNames(t *testing.T) {
	p := new(program)
	for _, group := range p.groups() {
		for _, c := range group.commands {
			if made := c.make(); made.Name != c.name {
				t.Errorf("the table says %q, the command is %q", c.name, made.Name)
			}
		}
	}
	if one := p.commands("status"); len(one) != 1 || one[0].Name != "status" {
		t.Errorf("%d commands are made for one", len(one))
	}
}

// TestNoLibraryOfC: git-runr does not import net, nor anything else that links the C library where a C compiler is
// installed. Loading the library would take a quarter of the time that the program takes to start.
func TestNoLibraryOfC(t *testing.T) {
	program := "github.com/git-runr/git-runr/cmd/git-runr"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); slices.Contains([]string{"net", "os/user", "runtime/cgo"}, name) {
			t.Errorf("git-runr imports %s", name)
		}
	}
}
