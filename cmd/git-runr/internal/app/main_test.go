package app

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shows"
)

// TestMain lets this binary act as the program, and as the agents that the program calls. These end with syscall.Exit,
// because os.Exit writes to standard error in a binary that counts coverage.
func TestMain(m *testing.M) {
	scripttest.Prepare()
	testscript.Main(m, standIns)
}

// standIns maps the names under which this binary is started to what it does; some exist only on some systems.
var standIns = map[string]func(){
	"git-runr":   func() { syscall.Exit(Main(shows.All(), Clock(os.Getenv))) },
	"fake-agent": func() { syscall.Exit(scripttest.FakeAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
}
