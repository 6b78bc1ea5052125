package build

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
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
		{"changed clone", "", settings("vcs.revision", commit, "vcs.time", date, "vcs.modified", "true"),
			"devel (0123456789ab, 2026-01-02, modified)", "devel-0123456789ab"},
		{"no date", "", settings("vcs.revision", commit), "devel (0123456789ab)", "devel-0123456789ab"},
		{"module", "", module, "v1.4.0", "v1.4.0"},
		{"sources without a clone", "", settings(), "devel", "devel"},
		{"no information", "", nil, "devel", "devel"},
	} {
		b := Of(c.stamped, c.info)
		if b.String() != c.whole || b.Name() != c.short {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, b, b.Name(), c.whole, c.short)
		}
	}
}
