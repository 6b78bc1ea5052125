package leakrules

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/zricethezav/gitleaks/v8/config"
)

// TestDigest: after a change of gitleaks' version the digest is that of its rules.
func TestDigest(t *testing.T) {
	if !genuine([]byte(config.DefaultConfig)) {
		t.Errorf("digest is not the SHA-256 of gitleaks' configuration")
	}
}

// TestRead: the rules come from the file, or else from git-runr-serve, whose answer is checked and kept.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	rules, file := filepath.Join(dir, "rules"), filepath.Join(dir, "cache", FileName())
	write := func(path, text string, perm os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), perm); err != nil {
			t.Fatal(err)
		}
	}
	program := func(name, script string) func() (string, error) {
		path := filepath.Join(dir, name)
		write(path, "#!/bin/sh\n"+script+"\n", 0o700)
		return func() (string, error) { return path, nil }
	}
	write(rules, config.DefaultConfig, 0o600)
	prints, other := program("prints", "cat '"+rules+"'"), program("other", "echo other")
	missing := func() (string, error) { return "", errors.New("missing") }

	pipe := filepath.Join(dir, "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, before string // before is what the file has; "" for no change
		serve              func() (string, error)
		fails              bool
	}{
		{"no file, no program", file, "", missing, true},
		{"a program of another version", file, "", other, true},
		{"a program that fails", file, "", program("fails", "exit 3"), true},
		{"a pipe in place of the file", pipe, "", missing, true},
		{"a device in place of the file", "/dev/zero", "", missing, true},
		{"no cache", "", "", prints, false},
		{"a program", file, "", prints, false},
		{"the file", file, "", missing, false},
		{"a damaged file", file, "title = \"no rules\"\n", missing, true},
		{"a damaged file, and a program", file, "", prints, false},
		{"the file that the program mended", file, "", missing, false},
	} {
		if c.before != "" {
			write(file, c.before, 0o600)
		}
		text, err := Read(c.path, c.serve)
		if c.fails != (err != nil) || c.fails == (text == config.DefaultConfig) {
			t.Errorf("%s: %d bytes, %v", c.name, len(text), err)
		}
	}
}

// TestAskEnds: a program that prints without end is stopped, and a part of what it printed is kept.
func TestAskEnds(t *testing.T) {
	endless := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(endless, []byte("#!/bin/sh\nwhile :; do echo endless; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if text, err := ask(endless, 100*time.Millisecond); err == nil || len(text) > 2*textLimit {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
