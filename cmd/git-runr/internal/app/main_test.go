package app

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
	"fake-agent":   func() { syscall.Exit(scripttest.FakeAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	"ask-for-ever": func() { syscall.Exit(askForEver(os.Args[1], os.Stdout, os.Stderr)) },
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
