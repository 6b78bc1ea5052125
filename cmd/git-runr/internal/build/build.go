// Package build describes the version and commit from which the program was built, and where its programs are.
package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Build is the version of this program. Commit and Date are "" if it was built outside of a clone.
type Build struct {
	Version  string `json:"version"`            // the tag of the release, or devel
	Commit   string `json:"commit,omitempty"`   // full id
	Date     string `json:"date,omitempty"`     // of the commit: RFC 3339, UTC
	Modified bool   `json:"modified,omitempty"` // the working tree differed from the commit
}

// Of returns the build of the release stamped, or without one what info says. info may be nil.
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
	case b.Commit == "" && strings.HasPrefix(module, "v"): // installed with go install MODULE@VERSION
		b.Version = module
	default:
		b.Version = "devel"
	}
	return b
}

// Name returns the build in one word.
func (b Build) Name() string {
	if b.Version == "devel" && b.Commit != "" {
		return "devel-" + b.shortCommit()
	}
	return b.Version
}

func (b Build) shortCommit() string { return b.Commit[:min(12, len(b.Commit))] }

// String returns the version, with the commit in brackets if it is known.
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

// Module is the path of the module that has both programs, and InstallLine the command that installs them.
const (
	Module      = "github.com/git-runr/git-runr"
	InstallLine = "go install " + Module + "/cmd/...@latest"
)

// serveSuffix is what follows the path of git-runr in that of git-runr-serve.
const serveSuffix = "-serve"

// Program returns the path of git-runr, which hooks and background processes start: this program, or the one that
// stands beside git-runr-serve.
func Program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	plain := strings.TrimSuffix(self, serveSuffix)
	if _, err := os.Stat(plain); err != nil {
		return self, nil
	}
	return plain, nil
}

// Screens returns the path of git-runr-serve, which is beside this program, or beside what its name is a symbolic link
// to.
func Screens() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(self + serveSuffix); err == nil {
		return self + serveSuffix, nil
	}
	behind, err := filepath.EvalSymlinks(self)
	if err != nil {
		return "", err
	}
	if _, err = os.Stat(behind + serveSuffix); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no %q", behind+serveSuffix)
	}
	return behind + serveSuffix, err
}
