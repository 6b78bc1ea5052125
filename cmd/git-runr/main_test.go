package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// TestMain has this binary stand for the program, so that it can be killed from inside,
// and for the agents that it asks. These end by syscall.Exit: os.Exit of a binary that
// counts coverage writes to standard error.
func TestMain(m *testing.M) {
	scripttest.Prepare()
	testscript.Main(m, standIns)
}

// standIns are what this binary is started as; some are there on some systems only.
var standIns = map[string]func(){
	"git-runr":     func() { syscall.Exit(startMortal()) },
	"fake-agent":   func() { syscall.Exit(scripttest.FakeAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	"ask-for-ever": func() { syscall.Exit(askForEver(os.Args[1], os.Stdout, os.Stderr)) },
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
