// Package build says what the program was made of.
package build

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Build is what this program was made of. Commit and Date are "" where it was built
// outside a clone.
type Build struct {
	Version  string `json:"version"`            // the release's tag, or devel
	Commit   string `json:"commit,omitempty"`   // the whole id
	Date     string `json:"date,omitempty"`     // of the commit, RFC 3339, UTC
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
}

// Of is the release that was stamped in, or else what info says; info may be nil.
func Of(stamped string, info *debug.BuildInfo) Build {
	b := Build{Version: stamped}
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

// Name is the build in one word.
func (b Build) Name() string {
	if b.Version == "devel" && b.Commit != "" {
		return "devel-" + b.shortCommit()
	}
	return b.Version
}

func (b Build) shortCommit() string { return b.Commit[:min(12, len(b.Commit))] }

// String is the version, and in brackets what is known of its commit.
func (b Build) String() string {
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
