package gitdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"git-runr/gitstore/safefile"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "file")
	for _, text := range []string{"one", "", "three"} {
		if err := safefile.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left over: %v", names)
	}
	if err := safefile.WriteFile(filepath.Dir(path), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if names, _ := os.ReadDir(filepath.Dir(filepath.Dir(path))); len(names) != 1 {
		t.Errorf("left over: %v", names)
	}
}

func TestWriteFileIsNeverSeenInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	texts := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 100_000)}
	if err := safefile.WriteFile(path, []byte(texts[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 50 {
				if err := safefile.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		if data, err := os.ReadFile(path); err != nil || string(data) != texts[0] && string(data) != texts[1] {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
	}
	writers.Wait()
}

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
