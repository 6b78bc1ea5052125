// Package proctest has the tests of the program as a process: killed at every point, many at once, and on a terminal.
// They start the program, and take long.
package proctest

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// TestMain lets this binary act as the program, so that it can be killed from inside, and as the agents that the
// program calls. These end with syscall.Exit, because os.Exit writes to standard error in a binary that counts
// coverage.
func TestMain(m *testing.M) {
	scripttest.Prepare()
	testscript.Main(m, standIns)
}

// standIns maps the names under which this binary is started to what it does; some exist only on some systems.
var standIns = map[string]func(){
	"git-runr":     func() { syscall.Exit(startMortal()) },
	"ask-for-ever": func() { syscall.Exit(askForEver(os.Args[1], os.Stdout, os.Stderr)) },
	"fake-agent":   func() { syscall.Exit(scripttest.FakeAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
}
