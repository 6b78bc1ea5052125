package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files by which a checkout can make a tool run or send something, whatever its arguments are.
func TestClear(t *testing.T) {
	for _, test := range []struct{ preset, path string }{
		{"gemini", ".env"}, {"gemini", ".gemini/.env"},
		{"opencode", "opencode.json"}, {"opencode", ".opencode/plugin/a.js"}, {"opencode", ".opencode/plugins/a.js"},
		{"opencode", ".opencode/opencode.jsonc"},
		{"pi", ".pi/settings.json"}, {"qwen", ".qwen/settings.json"}, {"qwen", ".env"}, {"qwen", ".qwen/.env"},
	} {
		t.Run(test.preset+" "+test.path, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, filepath.FromSlash(test.path))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(`{"plugin":["a"]}`), 0o644); err != nil {
				t.Fatal(err)
			}
			p := presetCalled(test.preset)
			if _, err := p.clear(Ask{Role: Implementer, Dir: dir}); err == nil ||
				!strings.Contains(err.Error(), "it would obey "+test.path[:4]) {
				t.Errorf("an implementer was started beside it: %v", err)
			}
			back, err := p.clear(Ask{Role: Reviewer, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("a reviewer sees it")
			}
			if err := back(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("it is not back: %v", err)
			}
		})
	}
}

// A configuration file counts if it names commands, or if it cannot be read.
func TestExecutes(t *testing.T) {
	for _, test := range []struct {
		text   string
		obeyed bool
	}{
		{`{"model":"m","agent":{"plugin":{}}}`, false}, {`{}`, false}, {"{ // no plugin\n\"model\": \"m\",\n}", false},
		{`{"plugin":["a"]}`, true}, {`{"plugin":[]}`, true}, {"{/* */ \"pl\\u0075gin\": [\"a\"],}", true},
		{`{"plugin":["a"],"plugin":[]}`, true},
		{``, true}, {`null`, true}, {`[]`, true}, {`{"model":"m"} {"plugin":["a"]}`, true}, {`{{file:a}}`, true},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		there, err := executes(dir, presetCalled("opencode").Executes)
		if err != nil || (len(there) > 0) != test.obeyed {
			t.Errorf("%s: %q, %v", test.text, there, err)
		}
	}
}
