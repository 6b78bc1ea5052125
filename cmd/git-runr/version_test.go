package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	settings := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{}
		info.Main.Version = "(devel)"
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	const commit, date = "0123456789abcdef0123456789abcdef01234567", "2026-01-02T03:04:05Z"
	module := settings()
	module.Main.Version = "v1.4.0"
	tagged := settings("vcs.revision", commit, "vcs.time", date, "vcs.modified", "false")
	tagged.Main.Version = "v0.0.0-20260102030405-0123456789ab" // what the go command makes of an untagged commit
	for _, c := range []struct {
		name, stamped string
		info          *debug.BuildInfo
		whole, short  string
	}{
		{"release", "v1.2.3", tagged, "v1.2.3 (0123456789ab, 2026-01-02)", "v1.2.3"},
		{"release built outside a clone", "v1.2.3", settings(), "v1.2.3", "v1.2.3"},
		{"clone", "", tagged, "devel (0123456789ab, 2026-01-02)", "devel-0123456789ab"},
		{"changed clone", "", settings("vcs.revision", commit, "vcs.time", date, "vcs.modified", "true"), "devel (0123456789ab, 2026-01-02, modified)", "devel-0123456789ab"},
		{"no date", "", settings("vcs.revision", commit), "devel (0123456789ab)", "devel-0123456789ab"},
		{"module", "", module, "v1.4.0", "v1.4.0"},
		{"sources without a clone", "", settings(), "devel", "devel"},
		{"no information", "", nil, "devel", "devel"},
	} {
		b := buildOf(c.stamped, c.info)
		if b.String() != c.whole || b.name() != c.short {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, b, b.name(), c.whole, c.short)
		}
	}
}

// TestVersionOnTheTerminal: the program says it, also where there is no repository.
func TestVersionOnTheTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	if got, status := outputOf(t, "--version"); status != 0 || got != "git-runr "+buildNow().String()+"\n" {
		t.Errorf("%d: %q", status, got)
	}
	if got, status := outputOf(t, "--version", "--json"); status != 0 || !strings.HasPrefix(got, `{"v":1,"version":"`+buildNow().Version) {
		t.Errorf("%d: %q", status, got)
	}
}

// TestReleaseStampsTheVersion: the recipe sets the variable that there is.
func TestReleaseStampsTheVersion(t *testing.T) {
	recipe, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("version.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(recipe), "-X main.version=v{{ .Version }}") || !strings.Contains(string(source), "\nvar version = ") {
		t.Error(".goreleaser.yaml does not set the variable version of version.go")
	}
}
