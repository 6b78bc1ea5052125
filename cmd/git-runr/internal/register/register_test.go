package register

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	testJSONTool = Tool{name: "gemini", keys: [2]string{"mcpServers", "runr"}, server: stdioServer{"git", []string{"runr", "mcp"}}, merge: mergeJSON}
	testTOMLTool = Tool{name: "codex", keys: [2]string{"mcp_servers", "runr"}, server: stdioServer{"git", []string{"runr", "mcp"}}, merge: mergeTOML}
)

// TestMergeJSON: what is there stays byte for byte, and the addition looks like it.
func TestMergeJSON(t *testing.T) {
	const compact = `"runr":{"command":"git","args":["runr","mcp"]}`
	indented := func(lead, unit, eol string) string {
		lines := []string{`"runr": {`, unit + `"command": "git",`, unit + `"args": [`, unit + unit + `"runr",`, unit + unit + `"mcp"`, unit + `]`, `}`}
		return lead + strings.Join(lines, eol+lead)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"no file":      {"", "{\n  \"mcpServers\": {\n" + indented("    ", "  ", "\n") + "\n  }\n}\n"},
		"empty object": {"{}", "{\n  \"mcpServers\": {\n" + indented("    ", "  ", "\n") + "\n  }\n}"},
		"one line":     {`{"a": 1}`, `{"a": 1,"mcpServers":{` + compact + `}}`},
		"other servers": {`{"mcpServers":{"x":{}}, "b": [1,2]}` + "\n",
			`{"mcpServers":{"x":{},` + compact + `}, "b": [1,2]}` + "\n"},
		"no servers":    {"{\n\t\"mcpServers\": {}\n}\n", "{\n\t\"mcpServers\": {\n" + indented("\t\t", "\t", "\n") + "\n\t}\n}\n"},
		"tabs":          {"{\n\t\"mcpServers\": {\n\t\t\"x\": 1.0\n\t}\n}\n", "{\n\t\"mcpServers\": {\n\t\t\"x\": 1.0,\n" + indented("\t\t", "\t", "\n") + "\n\t}\n}\n"},
		"carriage":      {"{\r\n  \"mcpServers\": {\r\n    \"x\": null\r\n  }\r\n}", "{\r\n  \"mcpServers\": {\r\n    \"x\": null,\r\n" + indented("    ", "  ", "\r\n") + "\r\n  }\r\n}"},
		"large numbers": {`{"n":12345678901234567890,"e":1e400}`, `{"n":12345678901234567890,"e":1e400,"mcpServers":{` + compact + `}}`},
		"braces within": {`{"a":"{\"mcpServers\":{}}"}`, `{"a":"{\"mcpServers\":{}}","mcpServers":{` + compact + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mergeJSON([]byte(tt.in), testJSONTool)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %q\nwant %q", err, got, tt.want)
			}
			if _, err := mergeJSON(got, testJSONTool); !errors.Is(err, errRegistered) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

func TestMergeJSONRefuses(t *testing.T) {
	for _, in := range []string{
		"// comment\n{}", `{"a":1,}`, `[]`, `null`, `"x"`, `{} {}`, "{", "\xef\xbb\xbf{}", `{"mcpServers":[]}`, `{"mcpServers":null}`,
		`{"mcpServers":{},"mcpServers":{}}`, `{"mcpServers":{"runr":{"command":"x"}}}`, `{"mcpServers":{"runr":null}}`, `{"mcpServers":{"runr":{"command":"git","args":["runr mcp"]}}}`,
	} {
		if got, err := mergeJSON([]byte(in), testJSONTool); err == nil || errors.Is(err, errRegistered) {
			t.Errorf("%s became %s, %v", in, got, err)
		}
	}
}

func TestMergeKnowsWhatIsThere(t *testing.T) {
	more := `{"mcpServers":{"runr":{"args":["runr","mcp"],"command":"git","trust":true}}}` // what the user added stays
	if _, err := mergeJSON([]byte(more), testJSONTool); !errors.Is(err, errRegistered) {
		t.Error(err)
	}
	if _, err := mergeTOML([]byte("[mcp_servers]\nrunr = {command = \"git\", args = [\"runr\", \"mcp\"], enabled = false}\n"), testTOMLTool); !errors.Is(err, errRegistered) {
		t.Error(err)
	}
}

func TestMergeTOML(t *testing.T) {
	const table = "[mcp_servers.runr]\ncommand = \"git\"\nargs = [\"runr\", \"mcp\"]\n"
	for name, tt := range map[string]struct{ in, want string }{
		"no file":       {"", table},
		"empty lines":   {"\n\n", table},
		"a key":         {"model = 'x' # mine", "model = 'x' # mine\n\n" + table},
		"other servers": {"[mcp_servers.x]\ncommand = \"y\"\n\n\n", "[mcp_servers.x]\ncommand = \"y\"\n\n" + table},
		"a table":       {"[mcp_servers]\n[projects.'/a b']\n", "[mcp_servers]\n[projects.'/a b']\n\n" + table},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mergeTOML([]byte(tt.in), testTOMLTool)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %q\nwant %q", err, got, tt.want)
			}
			if _, err := mergeTOML(got, testTOMLTool); !errors.Is(err, errRegistered) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

func TestMergeTOMLRefuses(t *testing.T) {
	for _, in := range []string{
		"model = ", "mcp_servers = {}", "mcp_servers = 1", "[[mcp_servers]]\n", "[mcp_servers.runr]\ncommand = \"x\"\n", "mcp_servers.runr.command = \"git\"", "a = \"\"\"x",
	} {
		if got, err := mergeTOML([]byte(in), testTOMLTool); err == nil || errors.Is(err, errRegistered) {
			t.Errorf("%s became %s, %v", in, got, err)
		}
	}
}

// FuzzMerge: whatever is in a file, it is refused, or kept in full and registered.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}", `{"mcpServers":{"x":{}}}`, "{\n\t\"a\":[{}]\n}", "a = 1\n[mcp_servers.x]\n", "mcp_servers.a.b=1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tool := range []Tool{testJSONTool, testTOMLTool} {
			before := bytes.Clone(data)
			merged, err := tool.merge(data, tool)
			if !bytes.Equal(before, data) {
				t.Fatalf("%s: changed its input", tool.name)
			}
			if err != nil {
				continue
			}
			if _, err := tool.merge(merged, tool); !errors.Is(err, errRegistered) {
				t.Fatalf("%s: %q became %q: %v", tool.name, data, merged, err)
			}
		}
	})
}

// TestWriteKeepsLinksAndModes: a user's own file may be a link, and stays as private as it was.
func TestWriteKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles"), filepath.Join(dir, "config.toml")
	if err := errors.Join(os.WriteFile(real, []byte("a = 1\n"), 0o640), os.Chmod(real, 0o640), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	tool := testTOMLTool
	tool.path = link
	if got := tool.Register(); got.State != Done {
		t.Fatalf("%+v", got)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	text, _ := os.ReadFile(real)
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(string(text), "[mcp_servers.runr]") {
		t.Errorf("%v %q", info.Mode(), text)
	}
}
