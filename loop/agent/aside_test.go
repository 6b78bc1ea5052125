package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plant creates files with their names as content.
func plant(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listed returns the files and links below dir, with contents and targets.
func listed(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		held, _ := os.ReadFile(path)
		if to, err := os.Readlink(path); err == nil {
			held = []byte("-> " + to)
		}
		all = append(all, rel+" "+string(held))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPutAside(t *testing.T) {
	top := t.TempDir()
	dir, outside := filepath.Join(top, "tree"), filepath.Join(top, "outside")
	plant(t, dir, "GEMINI.md", "a/GEMINI.md", "a/b.go", ".gemini/settings.json", ".agents/skills/x/SKILL.md",
		"a/.gemini/kept", ".git/GEMINI.md", "GEMINI.md.txt")
	plant(t, outside, "skills/y/SKILL.md")
	if err := os.Symlink(outside, filepath.Join(dir, ".linked")); err != nil {
		t.Fatal(err)
	}
	before, others := listed(t, dir), listed(t, outside)
	names := []string{"GEMINI.md", "/.gemini", "/.agents/skills", "/.linked/skills", "/none/at/all"}
	back, err := putAside(dir, names)
	if err != nil {
		t.Fatal(err)
	}
	if left, want := listed(t, dir), []string{".git/GEMINI.md .git/GEMINI.md", "GEMINI.md.txt GEMINI.md.txt",
		"a/.gemini/kept a/.gemini/kept", "a/b.go a/b.go"}; !slices.Equal(left, want) {
		t.Errorf("left %q", left)
	}
	if got := listed(t, outside); !slices.Equal(got, others) {
		t.Errorf("what a link leads to: %q", got)
	}
	plant(t, dir, ".gemini/made/meanwhile")
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	plant(t, dir, "a/b.go", "a/.gemini/kept")
	if err := back(); err != nil {
		t.Fatal(err)
	}
	if after := listed(t, dir); !slices.Equal(after, before) {
		t.Errorf("after %q\nbefore %q", after, before)
	}
	if entries, _ := os.ReadDir(top); len(entries) != 2 {
		t.Errorf("left beside the checkout: %v", entries)
	}
}

// A reviewer does not see the files that would instruct it; the checkout is unchanged afterwards.
func TestCallPutsAside(t *testing.T) {
	for _, tc := range []struct{ preset, file string }{
		{"gemini", "GEMINI.md"}, {"gemini", "sub/GEMINI.md"}, {"gemini", ".agents/skills/x/SKILL.md"}, {"gemini", ".env"},
		{"opencode", "lib/AGENTS.md"}, {"opencode", ".opencode/plugin/x.js"}, {"kilo", ".kilocode/rules/x.md"},
		{"qwen", ".qwen/settings.json"},
		{"pi", ".pi/commands/x.md"}, {"cursor-agent", ".cursor/rules/x.mdc"}, {"droid", ".factory/droids/x.md"},
		{"amp", "AGENTS.md"}, {"goose", ".goosehints"}, {"aider", ".env"},
	} {
		dir := filepath.Join(t.TempDir(), "tree")
		plant(t, dir, tc.file, "kept")
		spec := Spec{Name: "x", Preset: tc.preset, Command: []string{"sh", "-c", `find . -type f >seen`, "sh"}}
		_, _, err := Call(t.Context(), spec, Ask{Role: Reviewer, Dir: dir}, CallOptions{})
		seen, _ := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil || strings.Contains(string(seen), tc.file) || !strings.Contains(string(seen), "kept") ||
			!fileExists(filepath.Join(dir, tc.file)) {
			t.Errorf("%s, %s: %q, %v", tc.preset, tc.file, seen, err)
		}
	}
}

// An implementer sees the repository's instructions, and is not started if the checkout has
// files that its tool would run.
func TestCallObeys(t *testing.T) {
	for _, tc := range []struct {
		preset, file, refused string
	}{
		{"gemini", "GEMINI.md", ""}, {"cursor-agent", ".cursor/rules/x.mdc", ""}, {"claude", ".claude/settings.json", ""},
		{"cursor-agent", ".cursor/hooks.json", ".cursor/hooks.json"}, {"aider", ".env", ".env"},
		{"qwen", ".qwen/settings.json", ".qwen/settings.json"},
		{"gemini", ".env", ".env"}, {"gemini", ".gemini/.env", ".gemini/.env"}, {"opencode", "AGENTS.md", ""},
		{"opencode", ".opencode/plugins/x.js", ".opencode/plugins"},
		{"droid", ".factory/mcp.json", ".factory/mcp.json"}, {"amp", ".amp/settings.json", ".amp/settings.json"},
	} {
		dir := filepath.Join(t.TempDir(), "tree")
		plant(t, dir, tc.file)
		spec := Spec{Name: "x", Preset: tc.preset, Command: []string{"sh", "-c", `find . -type f >seen`, "sh"}}
		_, _, err := Call(t.Context(), spec, Ask{Role: Implementer, Dir: dir}, CallOptions{})
		seen, _ := os.ReadFile(filepath.Join(dir, "seen"))
		switch {
		case tc.refused == "" && (err != nil || !strings.Contains(string(seen), tc.file)):
			t.Errorf("%s, %s: %q, %v", tc.preset, tc.file, seen, err)
		case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused) || len(seen) > 0):
			t.Errorf("%s beside %s: %q, %v", tc.preset, tc.file, seen, err)
		}
	}
}
