package register

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world returns a checkout with files.
func world(t *testing.T, files map[string]string) Place {
	t.Helper()
	place := Place{Top: t.TempDir(), GitDir: t.TempDir()}
	for name, text := range files {
		put(t, place, name, text)
	}
	return place
}

func put(t *testing.T, place Place, name, text string) {
	t.Helper()
	path := filepath.Join(place.Top, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, place Place, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(place.Top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// carry writes a plan and checks that nothing was left alone.
func carry(t *testing.T, plan *Plan, err error) {
	t.Helper()
	if err == nil {
		err = plan.Write()
	}
	if err != nil || len(plan.Left()) > 0 {
		t.Fatalf("%v, left %q", err, plan.Left())
	}
}

func add(t *testing.T, place Place, hooks bool, names ...string) {
	t.Helper()
	plan, err := Adding(place, names, Wish{Hooks: hooks})
	carry(t, plan, err)
}

func remove(t *testing.T, place Place) {
	t.Helper()
	plan, err := Removing(place, Names())
	carry(t, plan, err)
}

// TestAddsInTheStyleOfTheFile: existing text stays byte for byte, and the addition has the same style.
func TestAddsInTheStyleOfTheFile(t *testing.T) {
	const compact = `"runr":{"command":"git","args":["runr","mcp"]}`
	indented := func(lead, unit, eol string) string {
		lines := []string{`"runr": {`, unit + `"command": "git",`, unit + `"args": [`, unit + unit + `"runr",`,
			unit + unit + `"mcp"`, unit + `]`, `}`}
		return lead + strings.Join(lines, eol+lead)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"empty":        {"", "{\n  \"mcpServers\": {\n" + indented("    ", "  ", "\n") + "\n  }\n}\n"},
		"empty object": {"{}", "{\n  \"mcpServers\": {\n" + indented("    ", "  ", "\n") + "\n  }\n}"},
		"one line":     {`{"a": 1}`, `{"a": 1,"mcpServers":{` + compact + `}}`},
		"other servers": {`{"mcpServers":{"x":{}}, "b": [1,2]}` + "\n",
			`{"mcpServers":{"x":{},` + compact + `}, "b": [1,2]}` + "\n"},
		"no servers": {"{\n\t\"mcpServers\": {}\n}\n",
			"{\n\t\"mcpServers\": {\n" + indented("\t\t", "\t", "\n") + "\n\t}\n}\n"},
		"empty lines": {"{\n\t\"mcpServers\": {\n\t}\n}\n",
			"{\n\t\"mcpServers\": {\n" + indented("\t\t", "\t", "\n") + "\n\t}\n}\n"},
		"tabs": {"{\n\t\"mcpServers\": {\n\t\t\"x\": 1.0\n\t}\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"x\": 1.0,\n" + indented("\t\t", "\t", "\n") + "\n\t}\n}\n"},
		"carriage": {"{\r\n  \"mcpServers\": {\r\n    \"x\": null\r\n  }\r\n}",
			"{\r\n  \"mcpServers\": {\r\n    \"x\": null,\r\n" + indented("    ", "  ", "\r\n") + "\r\n  }\r\n}"},
		"mark": {"\xef\xbb\xbf{\"mcpServers\":{\"x\":{}}}",
			"\xef\xbb\xbf{\"mcpServers\":{\"x\":{}," + compact + "}}"},
		"large numbers": {`{"n":12345678901234567890,"e":1e400}`,
			`{"n":12345678901234567890,"e":1e400,"mcpServers":{` + compact + `}}`},
		"comment at the end": {"{\n  \"mcpServers\": {\n    \"x\": 1 // mine\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"x\": 1, // mine\n" + indented("    ", "  ", "\n") + "\n  }\n}"},
		"trailing comma": {"{\n  \"mcpServers\": {\n    \"x\": 1, // mine\n  },\n}",
			"{\n  \"mcpServers\": {\n    \"x\": 1, // mine\n" + indented("    ", "  ", "\n") + ",\n  },\n}"},
		"only a comment": {"{\n  \"mcpServers\": {\n    // none\n  }\n}",
			"{\n  \"mcpServers\": {\n    // none\n" + indented("    ", "  ", "\n") + "\n  }\n}"},
		"comment in one line": {"{\"mcpServers\":{\"x\":1/* mine */}}",
			"{\"mcpServers\":{\"x\":1,/* mine */\n" + compact + "}}"},
	} {
		t.Run(name, func(t *testing.T) {
			place := world(t, map[string]string{".mcp.json": tt.in})
			add(t, place, false, "claude")
			if got := text(t, place, ".mcp.json"); got != tt.want {
				t.Errorf("\ngot  %q\nwant %q", got, tt.want)
			}
			if plan, err := Adding(place, []string{"claude"}, Wish{}); err != nil || !plan.Empty() {
				t.Errorf("once more: %v\n%s", err, plan.Diff())
			}
			remove(t, place)
			if got := text(t, place, ".mcp.json"); got != tt.in {
				t.Errorf("\nafterwards %q\nbefore     %q", got, tt.in)
			}
		})
	}
}

// TestLeavesAlone: a file that cannot be edited without changing its meaning is left alone.
func TestLeavesAlone(t *testing.T) {
	for file, texts := range map[string][]string{
		".mcp.json": {
			"{", "[]", "null", `"x"`, `{} {}`, `{"mcpServers":[]}`, `{"mcpServers":null}`, `{"mcpServers":{},"mcpServers":{}}`,
			`{"mcpServers":{"runr":{"command":"x"}}}`, `{"mcpServers":{"runr":null}}`,
			`{"mcpServers":{"runr":{"command":"git","args":["runr mcp"]}}}`,
			"\xff\xfe{\x00}\x00", strings.Repeat(" ", maxFile) + "{}",
		},
		".codex/config.toml": {
			"model = ", "mcp_servers = {}", "mcp_servers = 1", "[[mcp_servers]]\n", "[mcp_servers.runr]\ncommand = \"x\"\n",
			"mcp_servers.runr.command = \"git\"", "a = \"\"\"x",
		},
		".claude/settings.json": {`{"hooks":[]}`, `{"hooks":{"Stop":{}}}`, `{"hooks":{"PreToolUse":null}}`},
	} {
		for _, in := range texts {
			place := world(t, map[string]string{file: in})
			plan, err := Adding(place, []string{"claude", "codex"}, Wish{Hooks: true})
			if err == nil {
				err = plan.Write()
			}
			if err != nil || len(plan.Left()) != 1 || !strings.HasPrefix(plan.Left()[0], file+": ") {
				t.Errorf("%.80q: %v, left %q", in, err, plan.Left())
			}
			if got := text(t, place, file); got != in {
				t.Errorf("%q became %q", in, got)
			}
		}
	}
}

// TestKnowsWhatIsThere: an entry of ours to which the user added keys counts as present and stays.
func TestKnowsWhatIsThere(t *testing.T) {
	place := world(t, map[string]string{
		".mcp.json":          `{"mcpServers":{"runr":{"args":["runr","mcp"],"command":"git","trust":true}}}`,
		".codex/config.toml": "[mcp_servers]\nrunr = {command = \"git\", args = [\"runr\", \"mcp\"], enabled = false}\n",
	})
	plan, err := Adding(place, []string{"claude", "codex"}, Wish{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range plan.Items {
		if item.What == Server && item.State != Present {
			t.Errorf("%+v", item)
		}
	}
}

// TestRemovesOnlyOurs: only our entries are removed, even if a person edited the files meanwhile.
func TestRemovesOnlyOurs(t *testing.T) {
	edits := map[string]struct {
		file, before string
		edit         func(string) string
		want         string
	}{
		"a server before ours": {".mcp.json", `{"mcpServers":{}}`, func(s string) string {
			return strings.Replace(s, `"runr"`, `"a":1,"runr"`, 1)
		}, ""},
		"a server after ours": {".mcp.json", "{\"mcpServers\":{\"x\":1}}", func(s string) string {
			return strings.Replace(s, `"mcp"]}`, `"mcp"]},"b":2`, 1)
		}, "{\"mcpServers\":{\"x\":1,\"b\":2}}"},
		"another key": {".mcp.json", "{\n  \"mcpServers\": {}\n}\n", func(s string) string {
			return strings.Replace(s, "{\n", "{\n  \"a\": 1,\n", 1)
		}, "{\n  \"a\": 1,\n  \"mcpServers\": {}\n}\n"},
		"our object kept them": {".mcp.json", "{}", func(s string) string {
			return strings.Replace(s, `"runr"`, `"a": 1, "runr"`, 1)
		}, "{\n  \"mcpServers\": {\n    \"a\": 1\n  }\n}"},
		"an empty file stays": {".mcp.json", "{}", func(s string) string { return s + "\n" }, "{}\n"},
		"a hook beside ours": {".claude/settings.json", `{"hooks":{"Stop":[]}}`, func(s string) string {
			return strings.Replace(s, `"Stop":[`, `"Stop":[{"hooks":[]},`, 1)
		},
			`{"hooks":{"Stop":[{"hooks":[]}]}}`},
		"a table after ours": {".codex/config.toml", "a = 1\n", func(s string) string { return s + "\n[x]\nb = 2\n" },
			"a = 1\n\n[x]\nb = 2\n"},
		"a key in ours": {".codex/config.toml", "a = 1\n", func(s string) string {
			return strings.Replace(s, "command", "enabled = true\ncommand", 1)
		}, "a = 1\n"},
		"ours by hand": {".codex/config.toml", "a = 1\n", func(string) string { return "a = 2\n" }, "a = 2\n"},
	}
	for name, tt := range edits {
		t.Run(name, func(t *testing.T) {
			place := world(t, map[string]string{tt.file: tt.before})
			add(t, place, true, "claude", "codex")
			put(t, place, tt.file, tt.edit(text(t, place, tt.file)))
			remove(t, place)
			if got := text(t, place, tt.file); tt.want != "" && got != tt.want || strings.Contains(got, "runr") {
				t.Errorf("\ngot  %q\nwant %q", got, tt.want)
			}
			if left, err := os.ReadDir(place.Top); err != nil || len(left) != 1 {
				t.Errorf("left over: %v %v", left, err)
			}
		})
	}
}

// TestWhatChangesWhileItIsShownIsLeftAlone: a file that changes between the diff and the user's yes is left alone.
func TestWhatChangesWhileItIsShownIsLeftAlone(t *testing.T) {
	place := world(t, map[string]string{".mcp.json": "{}"})
	plan, err := Adding(place, []string{"claude"}, Wish{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, place, ".mcp.json", `{"a":1}`)
	if err := plan.Write(); err != nil || len(plan.Left()) != 1 || text(t, place, ".mcp.json") != `{"a":1}` {
		t.Errorf("%v, left %q, %q", err, plan.Left(), text(t, place, ".mcp.json"))
	}
	if _, err := os.Stat(filepath.Join(place.Top, claudeSkill)); err != nil {
		t.Errorf("the others are not written: %v", err)
	}
}

// TestKeepsPermissions: a file keeps its permissions.
func TestKeepsPermissions(t *testing.T) {
	place := world(t, map[string]string{".mcp.json": "{}"})
	path := filepath.Join(place.Top, ".mcp.json")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	add(t, place, false, "claude")
	remove(t, place)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
}

// TestKeepsDirectories: directories that existed before stay, even empty ones.
func TestKeepsDirectories(t *testing.T) {
	place := world(t, nil)
	if err := os.MkdirAll(filepath.Join(place.Top, ".agents", "skills"), 0o755); err != nil {
		t.Fatal(err)
	}
	add(t, place, false, "pi", "claude")
	remove(t, place)
	for dir, want := range map[string]bool{".agents/skills": true, ".agents/skills/git-runr": false, ".claude": false} {
		if got := isThere(filepath.Join(place.Top, dir)); got != want {
			t.Errorf("%s is there: %v", dir, got)
		}
	}
}

// TestSkillOfAnotherVersion: a skill file of another version is replaced, and is removed like ours.
func TestSkillOfAnotherVersion(t *testing.T) {
	place := world(t, nil)
	now := skill
	skill = []byte("an older one\n")
	add(t, place, false, "pi")
	skill = now
	add(t, place, false, "pi")
	if text(t, place, agentsSkill) != string(now) {
		t.Error("it is as it was")
	}
	skill = []byte("a newer one\n")
	defer func() { skill = now }()
	remove(t, place)
	if left, err := os.ReadDir(place.Top); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// FuzzAddAndRemove: whatever a file contains, it is left alone, or gets our entry and has the same bytes after the
// entry is removed. Without a record our entry is removed as well.
func FuzzAddAndRemove(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}", `{"mcpServers":{"x":{}}}`, "{\n\t\"a\":[{}]\n}",
		"a = 1\n[mcp_servers.x]\n", "mcp_servers.a.b=1",
		"{/**/}", "{\"hooks\":{\"Stop\":[1,],},}", "\xef\xbb\xbf{ }", "{\"mcpServers\":{//\n}}", "{\"a\":1//\n}",
		"a=1\r\n# >>> git-runr >>>\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range parts(t.TempDir(), []string{"claude", "codex"}, Wish{Hooks: true}) {
			if p.what == Skill {
				continue
			}
			before := bytes.Clone(data)
			c := &change{path: p.path, before: data, after: data, existed: true}
			if _, err := c.add([]part{p}); err != nil {
				continue
			}
			if !bytes.Equal(before, data) {
				t.Fatalf("%s: changed its input", p.what)
			}
			if _, err := p.add(c.after); err != errPresent {
				t.Fatalf("%s: %q became %q: %v", p.what, data, c.after, err)
			}
			if bytes.Equal(c.after, data) {
				continue // the entry was there already
			}
			again := &change{path: p.path, before: c.after, after: c.after, existed: true, made: c.made}
			if _, err := again.remove([]part{p}); err != nil || !bytes.Equal(again.after, data) {
				t.Fatalf("%s: %q came back as %q: %v", p.what, data, again.after, err)
			}
			without, err := p.remove(c.after, data)
			if err != nil {
				t.Fatalf("%s: %q without a record: %v", p.what, c.after, err)
			}
			if _, err := p.remove(without, nil); err != errAbsent {
				t.Fatalf("%s: %q: ours is left in %q: %v", p.what, c.after, without, err)
			}
		}
	})
}

// TestHooksOfOthersStay: a hook that a person added before or after ours stays.
func TestHooksOfOthersStay(t *testing.T) {
	const mine = `{"type":"command","command":"my-own-guard"}`
	for name, event := range map[string]string{".claude/settings.json": "PreToolUse", ".codex/hooks.json": "SessionStart",
		".gemini/settings.json": "BeforeTool"} {
		for _, before := range []bool{true, false} {
			place := world(t, nil)
			add(t, place, true, "claude", "codex", "gemini")
			now := text(t, place, name)
			at := strings.Index(now, "\""+event+"\"")
			open, shut := at+strings.Index(now[at:], "\"hooks\": [")+len("\"hooks\": ["), 0
			shut = open + strings.Index(now[open:], "}") + 1
			if before {
				now = now[:open] + mine + "," + now[open:]
			} else {
				now = now[:shut] + ", " + mine + now[shut:]
			}
			put(t, place, name, now)
			remove(t, place)
			left := text(t, place, name)
			if !strings.Contains(left, mine) || strings.Contains(left, hookCommand) || !strings.Contains(left, event) {
				t.Errorf("%s, before ours: %v: %s", name, before, left)
			}
			if _, err := readJSON([]byte(left)); err != nil {
				t.Error(err)
			}
			if strings.Count(left, "SessionStart")+strings.Count(left, "Stop") > 1 {
				t.Errorf("groups that were ours alone: %s", left)
			}
		}
	}
}

// TestHookThatSomebodyExtended: a hook of ours to which somebody added commands is left alone.
func TestHookThatSomebodyExtended(t *testing.T) {
	place := world(t, nil)
	add(t, place, true, "claude")
	const name = ".claude/settings.json"
	now := strings.Replace(text(t, place, name), "|| exit 0", "&& my-own-guard", 1)
	put(t, place, name, now)
	plan, err := Removing(place, Names())
	if err == nil {
		err = plan.Write()
	}
	if left := plan.Left(); err != nil || len(left) != 1 || !strings.Contains(left[0], "was changed") {
		t.Errorf("%v, left %q", err, left)
	}
	if text(t, place, name) != now {
		t.Error("it was changed")
	}
}
