package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "file")
	for _, text := range []string{"one", "", "three"} {
		if err := WriteFile(path, []byte(text), 0o600); err != nil {
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
	if err := WriteFile(filepath.Dir(path), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if names, _ := os.ReadDir(filepath.Dir(filepath.Dir(path))); len(names) != 1 {
		t.Errorf("left over: %v", names)
	}
}

func TestCreateWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for i, want := range []error{nil, fs.ErrExist} {
		if err := CreateWhole(path, []byte("text"), 0o600); !errors.Is(err, want) {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "text" || len(Left(path)) > 0 {
		t.Errorf("%q, %v; left over: %v", data, err, Left(path))
	}
	for _, name := range []string{tempFor(path), path + ".tmp1", tempFor(path + "2")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if left := Left(path); len(left) != 1 || !strings.HasPrefix(left[0], path+tempMark) {
		t.Errorf("left over: %v", left)
	}
}

func TestWriteFileIsNeverSeenInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	texts := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 100_000)}
	if err := WriteFile(path, []byte(texts[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 50 {
				if err := WriteFile(path, []byte(text), 0o644); err != nil {
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

// TestWriteExactReplacesALink checks that a link is replaced and not followed, and that the permissions are exact.
func TestWriteExactReplacesALink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "link"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("new"), 0o600); err == nil {
		t.Error("a link was written through")
	}
	if err := WriteExact(path, []byte("new"), 0o777); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(other); string(data) != "other" {
		t.Errorf("the link was followed: %q", data)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o777 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestIrregular checks that nothing but a file is opened, and that a directory is told apart.
func TestIrregular(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadFile(dir); !errors.Is(err, ErrIrregular) || !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}
