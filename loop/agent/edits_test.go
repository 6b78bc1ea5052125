package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each agent's reports of edited files, in its own format: files that it reads, files that its
// commands change and denied edits are not included.
func TestEdited(t *testing.T) {
	for name, tc := range map[string]struct {
		preset, out string
		want        []string
	}{
		"codex": {"codex", `{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_1","type":"file_change","changes":[{"path":"/r/a.go","kind":"update"},{"path":"/r/b.go","kind":"add"}],"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"file_change","changes":[{"path":"/r/a.go","kind":"update"},{"path":"/r/b.go","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"/r/refused.go","kind":"update"}],"status":"failed"}}
{"type":"item.completed","item":{"id":"item_3","type":"command_execution","command":"echo x >ran.go","status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","type":"file_change","changes":[{"path":"/r/old.go","kind":"delete"}],"status":"completed"}}`,
			[]string{"/r/a.go", "/r/b.go", "/r/old.go"}},
		"codex, killed": {"codex",
			`{"type":"item.started","item":{"id":"item_1","type":"file_change","changes":[{"path":"a.go"}],"status":"in_progress"}}`, []string{"a.go"}},
		"claude": {"claude",
			`{"type":"assistant","message":{"content":[{"type":"text","text":"I edit."},{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/r/a.go","old_string":"x","new_string":"y"}},{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"/r/new.go","content":"x"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"denied"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"/r/read.go"}},{"type":"tool_use","id":"t4","name":"Bash","input":{"command":"rm x"}},{"type":"tool_use","id":"t5","name":"NotebookEdit","input":{"notebook_path":"/r/n.ipynb"}},{"type":"tool_use","id":"t6","name":"MultiEdit","input":{"file_path":"/r/m.go"}}]}}
{"type":"user","message":{"content":"a person's words"}}`, []string{"/r/a.go", "/r/n.ipynb", "/r/m.go"}},
		"gemini": {"gemini",
			`{"type":"tool_use","tool_name":"replace","tool_id":"replace_1","parameters":{"file_path":"/r/a.go"}}
{"type":"tool_result","tool_id":"replace_1","status":"success"}
{"type":"tool_use","tool_name":"write_file","tool_id":"write_2","parameters":{"file_path":"/r/w.go"}}
{"type":"tool_result","tool_id":"write_2","status":"error","error":{"message":"no such directory"}}
{"type":"tool_use","tool_name":"read_file","tool_id":"read_3","parameters":{"file_path":"/r/read.go"}}`, []string{"/r/a.go"}},
		"opencode": {"opencode",
			`{"type":"tool_use","part":{"tool":"edit","state":{"status":"completed","input":{"filePath":"/r/a.go"}}}}
{"type":"tool_use","part":{"tool":"write","state":{"status":"error","input":{"filePath":"/r/w.go"},"error":"rejected permission"}}}
{"type":"tool_use","part":{"tool":"read","state":{"status":"completed","input":{"filePath":"/r/read.go"}}}}
{"type":"tool_use","part":{"tool":"apply_patch","state":{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: p.go\n*** Move to: q.go\n@@\n-x\n+y\n*** Delete File: d.go\n*** End Patch"}}}}`,
			[]string{"/r/a.go", "p.go", "q.go", "d.go"}},
		"pi": {"pi", `{"type":"tool_execution_start","toolCallId":"c1","toolName":"edit","args":{"path":"a.go"}}
{"type":"tool_execution_end","toolCallId":"c1","toolName":"edit","isError":false}
{"type":"tool_execution_start","toolCallId":"c2","toolName":"write","args":{"path":"w.go"}}
{"type":"tool_execution_end","toolCallId":"c2","toolName":"write","isError":true}
{"type":"tool_execution_start","toolCallId":"c3","toolName":"bash","args":{"command":"echo x >b.go"}}`, []string{"a.go"}},
	} {
		r := readerOf(t, tc.preset)
		feed(r, tc.out)
		if got := r.told().edited(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestBelow(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "dir"), filepath.Join(root, "link")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	named := []string{"a.go", "./sub//b.go", dir + "/c.go", link + "/d.go", "../e.go", "/f.go", ".", dir}
	if got, want := below(link, named), []string{"a.go", "sub/b.go", "c.go", "d.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReportsEdits(t *testing.T) {
	for _, tc := range []struct {
		spec Spec
		want bool
	}{
		{Spec{Name: "codex"}, true},
		{Spec{Name: "mine", Command: []string{"mine"}}, false},
		{Spec{Name: "mine", Command: []string{"npx", "codex"}, Preset: "codex"}, true},
	} {
		if got := tc.spec.ReportsEdits(); got != tc.want {
			t.Errorf("%+v: %v", tc.spec, got)
		}
	}
}
