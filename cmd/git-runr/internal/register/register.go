// Package register adds git-runr to the files of the agent tools that are used here: a skill, the server git runr mcp,
// and hooks that call git-runr. All other bytes of these files stay as they are, and removal takes out exactly what was
// added.
package register

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/hooks"
)

// Kinds of entries in a tool's files.
const (
	Skill  = "skill"
	Server = "server"
	Hooks  = "hooks"
)

// Skill file, the same for all who read one.
//
//go:embed SKILL.md
var skill []byte

// hookCommand begins the commands of our hooks; the tool and the event follow.
const hookCommand = "git runr hooks agent "

// tool is an agent tool and the files that it reads. These files are the project's own: our entries contain no path, so
// that they can be committed.
type tool struct {
	name    string
	skill   string
	server  string   // a JSON or TOML file
	key     []string // of the server in the file
	hooks   string
	events  []event
	without string // what it lacks, and what to do instead
	note    string // what it requires before it reads these files
}

// event is a moment at which a tool runs a command.
type event struct {
	name    string // the tool's name for it
	matcher string
	ours    string // argument of our command
}

var (
	serverKey    = []string{"mcpServers", "runr"}
	agentsSkill  = ".agents/skills/git-runr/SKILL.md"
	claudeSkill  = ".claude/skills/git-runr/SKILL.md"
	claudeEvents = []event{{"SessionStart", "", "start"}, {"Stop", "", "stop"}, {"PreToolUse", "Bash", "tool"}}
	geminiEvents = []event{{"SessionStart", "", "start"}, {"AfterAgent", "", "stop"},
		{"BeforeTool", "run_shell_command", "tool"}}
)

var tools = []tool{
	{name: "claude", skill: claudeSkill, server: ".mcp.json", key: serverKey, hooks: ".claude/settings.json",
		events: claudeEvents,
		note:   "claude asks once whether the server of .mcp.json may run"},
	{name: "codex", skill: agentsSkill, server: ".codex/config.toml", key: []string{"mcp_servers", "runr"},
		hooks: ".codex/hooks.json", events: claudeEvents,
		note: "codex reads .codex in projects that it was told to trust, and asks for each hook: /hooks"},
	{name: "gemini", skill: agentsSkill, server: ".gemini/settings.json", key: serverKey, hooks: ".gemini/settings.json",
		events: geminiEvents,
		note:   "gemini starts servers in folders that it was told to trust"},
	{name: "opencode", skill: agentsSkill, server: "opencode.json", key: []string{"mcp", "runr"},
		without: "opencode has no hooks that run commands, only plugins"},
	{name: "pi", skill: agentsSkill, without: "pi has neither MCP servers nor hooks that run commands, only extensions"},
}

// Names returns the names of the supported tools.
func Names() []string {
	return each.Of(tools, func(t tool) string { return t.name })
}

// Notes returns what these tools require in addition, or lack.
func Notes(names []string, hooks bool) (notes []string) {
	for _, t := range tools {
		switch {
		case !slices.Contains(names, t.name):
		case t.note != "":
			notes = append(notes, t.note)
		case hooks || t.server == "":
			notes = append(notes, t.without)
		}
	}
	return notes
}

// Found returns the tools that are used here: those with a file of their own in the repository, or a program on PATH.
func Found(top string, getenv func(string) string) []string {
	var found []string
	for _, t := range tools {
		used := hooks.OnPath(getenv("PATH"), t.name)
		for _, path := range []string{t.server, t.hooks} {
			used = used || path != "" && isThere(filepath.Join(top, path))
		}
		if used {
			found = append(found, t.name)
		}
	}
	return found
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// part is one entry of ours in one file.
type part struct {
	tool, what, path string
	add              func(data []byte) ([]byte, error)
	// remove removes the entry; before is the file's content without it, nil if unknown.
	remove func(data, before []byte) ([]byte, error)
}

// stdioServer is a server in the form that claude, codex and gemini read.
type stdioServer struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

// opencodeServer is a server in the form that opencode reads.
type opencodeServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

// Wish says what to add besides the skill.
type Wish struct {
	Hooks    bool // hooks that call git-runr
	ReadOnly bool // a server without tools that record something
}

// parts returns the entries for these tools, in the order of their files.
func parts(top string, names []string, wish Wish) (all []part) {
	for _, t := range tools {
		if !slices.Contains(names, t.name) {
			continue
		}
		all = append(all, skillPart(t))
		if t.server != "" {
			all = append(all, serverPart(top, t, wish.ReadOnly))
		}
		for _, e := range t.events {
			if wish.Hooks {
				all = append(all, jsonPart(t.name, Hooks, t.hooks, hookEntry(t, e)))
			}
		}
	}
	return all
}

func serverPart(top string, t tool, readOnly bool) part {
	path := t.server
	if t.name == "opencode" && isThere(filepath.Join(top, path+"c")) {
		path += "c"
	}
	e := entry{path: t.key, value: serverValue(t, readOnly)}
	e.ours = func(have any) bool {
		return holds(have, plainOf(serverValue(t, false))) || holds(have, plainOf(serverValue(t, true)))
	}
	if !strings.HasSuffix(path, ".toml") {
		return jsonPart(t.name, Server, path, e)
	}
	return part{t.name, Server, path, func(data []byte) ([]byte, error) { return addTOML(data, e) },
		func(data, _ []byte) ([]byte, error) { return removeTOML(data) }}
}

// serverValue returns the server in the form that a tool reads.
func serverValue(t tool, readOnly bool) any {
	args := []string{"runr", "mcp"}
	if readOnly {
		args = append(args, "--read-only")
	}
	if t.name == "opencode" {
		return opencodeServer{"local", append([]string{"git"}, args...), true}
	}
	return stdioServer{"git", args}
}

func jsonPart(tool, what, path string, e entry) part {
	return part{tool, what, path, func(data []byte) ([]byte, error) { return addJSON(data, e) },
		func(data, before []byte) ([]byte, error) { return removeJSON(data, e, before) }}
}

// hookGroup is one hook of an event, in the form that claude, codex and gemini read.
type hookGroup struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

// hookEntry returns the entry for a hook that never fails, whether or not git-runr is installed.
func hookEntry(t tool, e event) entry {
	ours := hookCommand + t.name + " " + e.ours
	whole := command{"command", ours + " || exit 0"}
	in := inner{name: "hooks", ours: func(c any) bool { return strings.HasPrefix(lineOf(c), ours) },
		written: func(c any) bool { return lineOf(c) == whole.Command }}
	return entry{path: []string{"hooks", e.name}, list: true, value: hookGroup{e.matcher, []command{whole}}, inner: &in,
		ours: func(have any) bool {
			group, _ := have.(map[string]any)
			commands, _ := group[in.name].([]any)
			return slices.ContainsFunc(commands, in.ours)
		}}
}

// lineOf returns the command line of a hook.
func lineOf(hook any) string {
	object, _ := hook.(map[string]any)
	line, _ := object["command"].(string)
	return line
}

// skillPart returns the entry for the skill, a file that is ours as a whole.
func skillPart(t tool) part {
	is := func(absent, present error, otherwise string) func([]byte) error {
		return func(data []byte) error {
			switch {
			case len(data) == 0:
				return absent
			case string(data) == string(skill):
				return present
			}
			return errors.New(otherwise)
		}
	}
	toAdd, toRemove := is(nil, errPresent, "it was changed"), is(errAbsent, nil, "it was changed since it was written")
	return part{t.name, Skill, t.skill, func(data []byte) ([]byte, error) { return skill, toAdd(data) },
		func(data, _ []byte) ([]byte, error) { return nil, toRemove(data) }}
}

// plainOf converts v to the types that JSON decodes to: maps, lists, strings and numbers.
func plainOf(v any) any {
	body, _ := json.Marshal(v)
	var plain any
	_ = json.Unmarshal(body, &plain) // it was just encoded
	return plain
}

// holds reports whether have has all values in want; a user may have added others.
func holds(have, want any) bool {
	object, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range want.(map[string]any) {
		if !reflect.DeepEqual(object[key], value) {
			return false
		}
	}
	return true
}
