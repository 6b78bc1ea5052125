package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/loop/prose"
)

// The page contains every command, option and topic, and the checkers of manual pages report nothing.
func TestManualPage(t *testing.T) {
	page, status := outputOf(t, "man")
	if status != 0 {
		t.Fatalf("%d\n%s", status, page)
	}
	plain := strings.NewReplacer(`\-`, "-", "\n", " ").Replace(page)
	everyCommand(func(c *cli.Command, words ...string) {
		name := "git runr " + strings.Join(words, " ")
		if c.Hidden || words[0] == "demo-agent" {
			if strings.Contains(plain, name) {
				t.Errorf("%s is hidden", name)
			}
			return
		}
		if !strings.Contains(plain, name) {
			t.Errorf("%s is not there", name)
		}
		for _, f := range c.Flags {
			if visible := f.(cli.VisibleFlag).IsVisible(); strings.Contains(plain, "-"+f.Names()[0]) != visible {
				t.Errorf("%s: %s, visible: %v", name, f.Names()[0], visible)
			}
		}
	})
	for _, topic := range topics() {
		text, status := outputOf(t, "help", topic.Name)
		if status != 0 || len(topic.Text()) < 200 {
			t.Errorf("help %s: %d\n%.200s", topic.Name, status, text)
		}
		for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(topic.Text(), -1) {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) || !strings.Contains(plain, word) {
				t.Errorf("help %s: %q is lost", topic.Name, word)
			}
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 120 {
				t.Errorf("help %s: a long line: %s", topic.Name, line)
			}
		}
	}
	if _, ok := testneed.Look(t, "mandoc"); ok {
		cmd := exec.Command("mandoc", "-Tutf8", "-Owidth=80")
		cmd.Stdin = strings.NewReader(page)
		shown, err := cmd.Output()
		for line := range strings.Lines(regexp.MustCompile(`.\x08`).ReplaceAllString(string(shown), "")) {
			if line = strings.TrimRight(line, "\n"); prose.Columns(line) > 80 {
				t.Errorf("%d columns at 80: %s", prose.Columns(line), line)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	for line := range strings.Lines(page) {
		if len(line) > 81 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	file := filepath.Join(t.TempDir(), "git-runr.1")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"mandoc", "-Tlint"}, {"groff", "-ww", "-man", "-z"},
		{"groff", "-ww", "-man", "-z", "-Tutf8"}} {
		if _, ok := testneed.Look(t, argv[0]); !ok {
			continue
		}
		if out, err := exec.Command(argv[0], append(argv[1:], file)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v\n%s", argv, err, out)
		}
	}
}

// After install-extras git finds the page by itself: git runr --help runs git help runr.
func TestExtrasGiveGitThePage(t *testing.T) {
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "MANPATH": "", "MANPAGER": "cat", "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL": os.DevNull, "LC_ALL": "C"} {
		t.Setenv(name, value)
	}
	for _, unset := range []string{"MANPATH", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		os.Unsetenv(unset)
	}
	t.Setenv("PATH", filepath.Join(home, ".local", "bin")+":"+os.Getenv("PATH"))
	if out, status := execLine(t, home, os.Environ(),
		"mkdir -p .local/bin && git runr install-extras --yes"); status != 0 {
		t.Fatalf("%d\n%s", status, out)
	}
	if out, status := execLine(t, home, os.Environ(), "man -w git-runr"); status != 0 || !strings.HasPrefix(out, home) {
		t.Skipf("SKIP: no man that looks beside PATH: %s", out)
	}
	for _, line := range []string{"git help runr", "git runr --help"} {
		if out, status := execLine(t, home, os.Environ(), line); status != 0 || !strings.Contains(out, "GIT-RUNR(1)") ||
			!strings.Contains(out, "install-extras") {
			t.Errorf("%s: %d\n%.500s", line, status, out)
		}
	}
}
