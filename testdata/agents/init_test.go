package agents

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// integrated is what a user has for a tool in a repository before git runr init --agents, and how the tool lists its
// servers.
var integrated = map[string]struct {
	files   map[string]string
	add     []string // makes the tool write a server of its own
	list    []string
	session []string // the prompt is read from standard input
	hooks   bool
}{
	"claude": {
		files: map[string]string{".claude/settings.json": "{\n\t\"permissions\": {\"allow\": [\"Bash(git:*)\"]},\n" +
			"\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}"},
		add: []string{"mcp", "add", "--scope", "project", "other", "--", "cat"}, list: []string{"mcp", "list"},
		session: []string{"-p", "--allowedTools", "Bash"}, hooks: true,
	},
	"codex": {
		files: map[string]string{".codex/config.toml": "# of the team\r\nmodel_reasoning_effort = \"low\"\r\n\r\n" +
			"[mcp_servers.other]\r\ncommand = \"cat\" # it echoes"},
		list:    []string{"mcp", "list"},
		session: []string{"exec", "--json", "--sandbox", "workspace-write", "--dangerously-bypass-hook-trust", "-"},
		hooks:   true,
	},
	"gemini": {
		files: map[string]string{".gemini/settings.json": "{\n   // of the team\n   \"ui\": {\"hideTips\": true}\n}\n"},
		add:   []string{"mcp", "add", "--scope", "project", "other", "cat"}, list: []string{"mcp", "list"},
		session: []string{"--approval-mode", "yolo", "-p", ""}, hooks: true,
	},
	"opencode": {
		files: map[string]string{"opencode.jsonc": "{\n    \"$schema\": \"https://opencode.ai/config.json\",\n" +
			"    /* of the team */\n    \"mcp\": {\n" +
			"        \"other\": {\"type\": \"local\", \"command\": [\"cat\"], \"enabled\": false,}, // off\n    },\n}\n"},
		list: []string{"mcp", "list"},
	},
	"pi": {files: map[string]string{".pi/settings.json": "{\"theme\": \"dark\"}"}},
}

// program returns the path of the installed tool.
func (a tool) program() string { return filepath.Join(os.Getenv("RUNR_AGENTS"), a.name) }

// newIntegrated makes a world of a user who trusts the repository.
func newIntegrated(t *testing.T, a tool, script model.Script) *world {
	w := newWorld(t, a, script)
	w.files(w.home, (&hostile{world: w}).trusting())
	w.files(w.repo, integrated[a.name].files)
	if add := integrated[a.name].add; add != nil {
		if out, status := w.run(a.program(), add...); status != 0 {
			t.Fatalf("%s %v: %d\n%s", a.name, add, status, out)
		}
	}
	return w
}

// checkout returns every file and directory of the checkout.
func (w *world) checkout() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.repo, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == ".git" {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		var text []byte
		if !entry.IsDir() {
			text, err = os.ReadFile(path)
		}
		all[strings.TrimPrefix(path, w.repo)] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestInit adds git-runr to each tool's settings beside the user's, asks the tool for its servers, and removes it
// again. Afterwards the files have the same bytes, also beside another edit.
func TestInit(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		w := newIntegrated(t, a, func(model.Request) model.Reply { return model.Reply{Text: "hello"} })
		before := w.checkout()
		out := w.runr(0, "init", "--agents", "--hooks", "--yes", "--for", a.name)
		has(t, out, "SKILL.md: added skill for "+a.name)
		if list := integrated[a.name].list; list != nil {
			listed, status := w.run(a.program(), list...)
			if status != 0 || !strings.Contains(listed, "other") {
				t.Errorf("%s %v: %d\n%s", a.name, list, status, listed)
			}
			shows(t, listed)
		}
		has(t, w.runr(0, "init", "--agents", "--hooks", "--yes", "--for", a.name), "Nothing to do.")
		w.runr(0, "init", "--agents", "--remove", "--yes")
		after := w.checkout()
		for _, name := range slices.Concat(keys(before), keys(after)) {
			if had, ok := before[name]; !ok || had != after[name] {
				t.Errorf("%s was %q, is %q", name, had, after[name])
			}
		}
		if list := integrated[a.name].list; list != nil {
			if listed, _ := w.run(a.program(), list...); strings.Contains(listed, "runr mcp") {
				t.Errorf("it is still there:\n%s", listed)
			}
		}
	})
}

func keys(m map[string]string) (all []string) {
	for name := range m {
		all = append(all, name)
	}
	return all
}

// shows checks that a list of servers contains ours on a line.
func shows(t *testing.T, listed string) {
	t.Helper()
	for line := range strings.Lines(listed) {
		if strings.Contains(line, "runr") {
			return
		}
	}
	t.Errorf("git runr mcp is not in the list:\n%s", listed)
}

// TestHooks runs a session of each tool with hooks. The session begins with the waiting reviews, open findings are
// handed back once before it ends, and a push is stopped if the gate refuses it.
func TestHooks(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		if !integrated[a.name].hooks {
			t.Skip("has no hooks that run commands")
		}
		said := ""
		w := newIntegrated(t, a, func(r model.Request) model.Reply {
			if len(r.Tools) == 0 {
				return model.Reply{Text: "Sums"}
			}
			if r.Turn == 0 && !r.Told("has no answer") {
				return shellOf(a, "git push --no-verify origin HEAD")
			}
			return model.Reply{Text: "done" + said}
		})
		w.files(w.repo, map[string]string{"sum.go": planted, ".runr.toml": "[hooks]\npre_push = \"refuse\"\n"})
		w.commit("sum")
		w.git("init", "-q", "--bare", filepath.Join(w.home, "remote.git"))
		w.git("remote", "add", "origin", filepath.Join(w.home, "remote.git"))
		w.runr(0, "init", "--agents", "--hooks", "--yes", "--for", a.name)
		w.runr(0, "review", "--reviewer", "human", "--no-serve")
		w.runr(0, "inbox", "comment", "latest", "sum.go:5", "-m", "The first element is never added")
		w.runr(0, "inbox", "submit", "latest", "--request-changes")

		out := w.sessionOf("what is this?")
		var told, pushed, back int
		for _, r := range w.Requests() {
			told = max(told, strings.Count(r.Body, "1 review waits in this repository"))
			pushed += strings.Count(r.Body, "The push is refused")
			if r.Told("has no answer") && r.Told("The first element is never added") {
				back++
			}
		}
		if told == 0 || pushed == 0 || back == 0 {
			t.Errorf("said what waits: %d, refused the push: %d, handed back: %d\n%s\n%s", told, pushed, back, out, w.talk())
		}
		if refs := w.git("ls-remote", "origin"); refs != "" {
			t.Errorf("it was pushed: %s", refs)
		}
		n := len(w.Requests())
		w.sessionOf("and once more?")
		for _, r := range w.Requests()[n:] {
			if r.Told("has no answer") { // each refusal of a push names the finding
				t.Error("it was handed back twice")
			}
		}
	})
}

// shellOf returns a reply that makes the tool run a line in its shell.
func shellOf(a tool, line string) model.Reply {
	names := map[string][2]string{"claude": {"Bash", "command"}, "codex": {"exec_command", "cmd"},
		"gemini": {"run_shell_command", "command"}}
	return model.Reply{Tool: names[a.name][0], Args: map[string]any{names[a.name][1]: line}}
}

// sessionOf runs the tool with a prompt, as its user would.
func (w *world) sessionOf(prompt string) string {
	w.t.Helper()
	cmd := w.command(w.t.Context(), w.tool.program(), integrated[w.tool.name].session...)
	cmd.Stdin = strings.NewReader(prompt)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Errorf("%s: %v\n%s", w.tool.name, err, out)
	}
	return string(out)
}
