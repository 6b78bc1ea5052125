package agents

import (
	"maps"
	"strings"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// key is the provider's key of every tool.
const key = "the-key-that-stays-home"

// tool is one of the agent tools: its user's settings, and how a model calls the tool's own functions.
type tool struct {
	name string
	form string // format of its requests
	// byACP says that this test uses the Agent Client Protocol.
	byACP bool
	// model is the user's choice in the tool's own configuration.
	model string
	// env returns the variables that its user exports.
	env func(url string) []string
	// home returns the files of its user's home.
	home func(url string) map[string]string
	// read and write return the call that reads or writes a file.
	read, write func(path, text string) model.Reply
	// overwrite returns the call that changes an existing file; nil: write does.
	overwrite func(path, old, text string) model.Reply
	// reads lists what its model may call as a reviewer at most, writes what it may call as an implementer at least.
	reads, writes []string
	refusal       string // how an implementer learns that an edit was refused
	unsandboxed   bool   // can write wherever its user can
	crew          []tool // members of a panel; nil: a single tool
	acp           bool   // speaks the Agent Client Protocol
	command       string // settings of a tool without a preset
}

// edit overwrites a file that contains old.
func (a tool) edit(path, old, text string) model.Reply {
	if a.overwrite != nil {
		return a.overwrite(path, old, text)
	}
	return a.write(path, text)
}

// panel returns all tools set up for one user, to run at the same time.
func panel(of ...tool) tool {
	var names []string
	for _, a := range of {
		names = append(names, a.name)
	}
	return tool{
		name: strings.Join(names, ","), crew: of,
		env: func(url string) (all []string) {
			for _, a := range of {
				all = append(all, a.env(url)...)
			}
			return all
		},
		home: func(url string) map[string]string {
			all := map[string]string{}
			for _, a := range of {
				maps.Copy(all, a.home(url))
			}
			return all
		},
	}
}

// each returns the members of a panel, or the tool itself.
func (a tool) each() []tool {
	if a.crew == nil {
		return []tool{a}
	}
	return a.crew
}

// asks returns the member that sent a request, or nil if the request matches the user's settings of none.
func (a tool) asks(r model.Request) *tool {
	for _, one := range a.each() {
		if r.Form == one.form && r.Model == one.model {
			return &one
		}
	}
	return nil
}

// call returns a function that replies with a call of that name, with the names of its arguments for path and text.
func call(name, path, text string) func(path, text string) model.Reply {
	return func(p, t string) model.Reply {
		args := map[string]any{path: p}
		if text != "" {
			args[text] = t
		}
		return model.Reply{Tool: name, Args: args}
	}
}

// shell replies with codex's one tool for everything.
func shell(command func(path, text string) string) func(path, text string) model.Reply {
	return func(path, text string) model.Reply {
		return model.Reply{Tool: "exec_command", Args: map[string]any{"cmd": command(path, text)}}
	}
}

var tools = []tool{
	{
		name: "codex", form: "responses", model: "codex-of-the-user", refusal: "no_change", // its events contain no denial
		env: func(string) []string { return []string{"OPENAI_API_KEY=" + key} },
		home: func(url string) map[string]string {
			return map[string]string{".codex/config.toml": `model = "codex-of-the-user"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "` + url + `/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
`}
		},
		read:   shell(func(path, _ string) string { return "cat '" + path + "'" }),
		write:  shell(func(path, text string) string { return "printf '" + text + "' >'" + path + "'" }),
		writes: []string{"exec_command"},
	},
	{
		name: "claude", form: "messages", model: "claude-opus-5-5", refusal: "permission denied",
		env: func(url string) []string {
			return []string{"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + url}
		},
		home: func(string) map[string]string {
			return map[string]string{".claude/settings.json": `{"model":"claude-opus-5-5"}`}
		},
		read: call("Read", "file_path", ""), write: call("Write", "file_path", "content"),
		reads: []string{"Read", "Grep", "Glob", "DeferredToolPlaceholder"}, writes: []string{"Write", "Edit"},
	},
	{
		// its events contain no denial
		name: "gemini", acp: true, form: "gemini", model: "gemini-of-the-user", refusal: "no_change",
		env: func(string) []string {
			return []string{"GEMINI_API_KEY=" + key}
		},
		home: func(url string) map[string]string {
			return map[string]string{".gemini/.env": "GOOGLE_GEMINI_BASE_URL=" + url + "\n",
				".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-of-the-user"},"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
		},
		read: call("read_file", "file_path", ""), write: call("write_file", "file_path", "content"),
		writes: []string{"write_file", "replace"},
	},
	{
		name: "opencode", acp: true, form: "chat", model: "opencode-of-the-user", refusal: "permission denied",
		env: func(string) []string {
			return []string{"OPENAI_API_KEY=" + key, "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		home: func(url string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"model":"scripted/opencode-of-the-user","small_model":"scripted/opencode-of-the-user",
"autoupdate":false,"share":"disabled","enabled_providers":["scripted"],"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible",
"options":{"baseURL":"` + url + `/v1","apiKey":"{env:OPENAI_API_KEY}"},"models":{"opencode-of-the-user":{}}}}}`}
		},
		read: call("read", "filePath", ""), write: call("write", "filePath", "content"),
		writes: []string{"write", "edit"},
	},
	{
		name: "pi", form: "chat", model: "pi-of-the-user", unsandboxed: true,
		env: func(string) []string { return []string{"OPENAI_API_KEY=" + key} },
		home: func(url string) map[string]string {
			return map[string]string{
				".pi/agent/models.json": `{"providers":{"scripted":{"baseUrl":"` + url + `/v1","api":"openai-completions",
"apiKey":"` + key + `","models":[{"id":"pi-of-the-user"},{"id":"planted"}]}}}`,
				".pi/agent/settings.json": `{"defaultProvider":"scripted","defaultModel":"pi-of-the-user","packages":["npm:pi-package-of-the-user"]}`,
			}
		},
		read: call("read", "path", ""), write: call("write", "path", "content"),
		reads: []string{"read", "grep", "find", "ls"}, writes: []string{"write", "edit"},
	}, {
		name: "copilot", form: "chat", model: "copilot-of-the-user", refusal: "permission denied",
		env: func(url string) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1",
				"COPILOT_PROVIDER_API_KEY=" + key, "COPILOT_MODEL=copilot-of-the-user"}
		},
		home: func(string) map[string]string { return nil },
		read: call("view", "path", ""), write: call("create", "path", "file_text"),
		overwrite: func(path, old, text string) model.Reply {
			return model.Reply{Tool: "edit", Args: map[string]any{"path": path, "old_str": old, "new_str": text}}
		},
		reads: []string{"view", "grep", "glob"}, writes: []string{"create", "edit"},
	},
	{
		name: "qwen", acp: true, form: "chat", model: "qwen-of-the-user", unsandboxed: true,
		env: func(string) []string { return []string{"OPENAI_API_KEY=" + key} },
		home: func(url string) map[string]string {
			return map[string]string{".qwen/settings.json": `{"model":{"name":"qwen-of-the-user"},"security":{"auth":{"selectedType":"openai","baseUrl":"` + url + `/v1"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
		},
		read: call("read_file", "file_path", ""), write: call("write_file", "file_path", "content"),
		writes: []string{"write_file", "edit"},
	},
	{
		name: "kilo", acp: true, form: "chat", model: "kilo-of-the-user", refusal: "permission denied",
		env: func(string) []string {
			return []string{"OPENAI_API_KEY=" + key, "KILO_DISABLE_MODELS_FETCH=1"}
		},
		home: func(url string) map[string]string {
			return map[string]string{".config/kilo/kilo.json": `{"model":"scripted/kilo-of-the-user","small_model":"scripted/kilo-of-the-user",
"autoupdate":false,"share":"disabled","enabled_providers":["scripted"],"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible",
"options":{"baseURL":"` + url + `/v1","apiKey":"{env:OPENAI_API_KEY}"},"models":{"kilo-of-the-user":{}}}}}`}
		},
		read: call("read", "filePath", ""), write: call("write", "filePath", "content"),
		writes: []string{"write", "edit"},
	},
}
