package gitdir

import (
	"io/fs"
	"testing"
)

func TestSharedMode(t *testing.T) {
	for _, c := range []struct {
		setting    string
		mode, want fs.FileMode
	}{
		{"group", 0o644, 0o664},
		{"group", 0o444, 0o444},
		{"group", 0o400, 0o440},
		{"true", fs.ModeDir | 0o755, fs.ModeDir | fs.ModeSetgid | 0o775},
		{"all", 0o600, 0o664},
		{"world", fs.ModeDir | 0o700, fs.ModeDir | fs.ModeSetgid | 0o775},
		{"0640", 0o666, 0o640},
		{"0640", 0o444, 0o440},
		{"0660", fs.ModeDir | 0o755, fs.ModeDir | fs.ModeSetgid | 0o770},
	} {
		bits, exact := sharedBits(c.setting)
		if got := sharedMode(c.mode, bits, exact); got != c.want {
			t.Errorf("%s: %v becomes %v, not %v", c.setting, c.mode, got, c.want)
		}
	}
	for _, setting := range []string{"", "umask", "false", "0", "0004", "nonsense"} {
		if bits, _ := sharedBits(setting); bits != 0 {
			t.Errorf("%q: %v", setting, bits)
		}
	}
}
