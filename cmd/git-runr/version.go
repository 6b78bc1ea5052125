package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/loop/safetext"
)

// version is set at release: -ldflags "-X main.version=v1.2.3". The commit and its
// date are what the go command recorded.
var version = ""

// build is what this program was made of. Commit and Date are "" where it was built
// outside a clone.
type build struct {
	Version  string `json:"version"`            // the release's tag, or devel
	Commit   string `json:"commit,omitempty"`   // the whole id
	Date     string `json:"date,omitempty"`     // of the commit, RFC 3339, UTC
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
}

func buildNow() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(version, info)
}

// buildOf is the release that was stamped in, or else what info says; info may be nil.
func buildOf(stamped string, info *debug.BuildInfo) build {
	b := build{Version: stamped}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.Date = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	switch module := info.Main.Version; {
	case b.Version != "":
	case b.Commit == "" && strings.HasPrefix(module, "v"): // installed by its module's version
		b.Version = module
	default:
		b.Version = "devel"
	}
	return b
}

// name is the build in one word.
func (b build) name() string {
	if b.Version == "devel" && b.Commit != "" {
		return "devel-" + b.shortCommit()
	}
	return b.Version
}

func (b build) shortCommit() string { return b.Commit[:min(12, len(b.Commit))] }

// String is the version, and in brackets what is known of its commit.
func (b build) String() string {
	if b.Commit == "" {
		return b.Version
	}
	details := b.shortCommit()
	if day, _, ok := strings.Cut(b.Date, "T"); ok {
		details += ", " + day
	}
	if b.Modified {
		details += ", modified"
	}
	return fmt.Sprintf("%s (%s)", b.Version, details)
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
