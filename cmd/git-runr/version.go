package main

import (
	"io"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/loop/safetext"
)

// version is set at release: -ldflags "-X main.version=v1.2.3". The commit and its
// date are what the go command recorded.
var version = ""

func buildNow() build.Build {
	info, _ := debug.ReadBuildInfo()
	return build.Of(version, info)
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version, with --json its commit and date each by itself, as --version does",
		Action: p.action(showVersion),
	}
}

// showVersion is git runr version, and --version.
func showVersion(s *session) error {
	b := buildNow()
	return s.print(b, func(w io.Writer) { safetext.Fprintf(w, "git-runr %s\n", b) })
}
