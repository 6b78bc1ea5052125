package agent

import (
	"encoding/json"
	"strings"
)

// Variables that configure a cloud and its credentials.
var (
	amazon = []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_BEARER_TOKEN_BEDROCK",
	}
	google = []string{
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION",
		"VERTEX_LOCATION",
	}
	azure = []string{
		"AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE",
	}
)

// providers are the keys and addresses of common model providers, for tools that support
// many. Users name others in the agent's env.
var providers = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION",
	"AZURE_OPENAI_BASE_URL",
	"AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_RESOURCE_NAME", "AZURE_RESOURCE_NAME",
	"AWS_BEARER_TOKEN_BEDROCK",
	"CEREBRAS_API_KEY", "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
	"GROQ_API_KEY", "MISTRAL_API_KEY",
	"MOONSHOT_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY",
	"ZAI_API_KEY",
}

// xdg are the variables for the place of settings and credentials outside HOME.
var xdg = []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}

// allClouds is for tools without a switch for a cloud: none of its variables is passed on,
// and an authentication failure mentions that.
var allClouds = []cloud{{vars: amazon}, {vars: google}, {vars: azure}}

// presets are the agents that are known without configuration. All that can stream one
// JSON object a line do so, which keeps the idle limit meaningful. Changing an argument
// in hardens changes what a hostile repository can do, and must be tested anew.
var presets = map[string]*preset{
	// codex runs in its own sandbox. If the user trusts a repository, codex also trusts its
	// worktrees and would obey the .codex directory of the commit under review, commands of
	// MCP servers included. So the arguments withdraw the trust for this directory.
	"codex": {
		args: []string{"exec", "--json"},
		reviewer: []string{"--sandbox", "read-only", "-c", "project_doc_max_bytes=0", "-c",
			"skills.include_instructions=false"},
		implementer: []string{"--sandbox", "workspace-write", "-c", "project_doc_max_bytes=0"},
		once:        []string{"--ephemeral"},
		again: []string{"exec", "resume", "--json", "-c", `sandbox_mode="workspace-write"`, "-c",
			"project_doc_max_bytes=0"},
		resume: []string{"{session}"},
		sums:   sums{tokens: true},
		tree:   func(dir string) []string { return []string{"-c", "projects=" + untrusted(dir)} },
		model:  "-m",
		last:   []string{"-"},
		pass: []string{"CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY",
			"AWS_BEARER_TOKEN_BEDROCK"},
		clouds:  allClouds,
		help:    []string{"exec"},
		hardens: []string{"--sandbox", "-c"},
		reader:  func() reader { return &codexReader{} }, edits: true,
		signIn: signIn{vars: []string{"CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY",
			"AWS_BEARER_TOKEN_BEDROCK"}, home: "CODEX_HOME", root: ".codex", files: []string{"auth.json"}},
		uninstructed: []string{"-c", "skills.include_instructions=false"}, proven: true, origin: "0.169.0",
	},
	// claude reads no settings of the repository. An implementer may edit and read history;
	// anything else that would need a person's permission is denied.
	"claude": {
		args: []string{"-p", "--setting-sources", "user", "--strict-mcp-config", "--output-format", "stream-json",
			"--verbose"},
		reviewer: []string{"--tools", "Read,Grep,Glob"},
		implementer: []string{
			"--permission-mode", "acceptEdits", "--allowedTools",
			"Bash(git diff *),Bash(git log *),Bash(git show *),Bash(git status *)",
		},
		resume: []string{"--resume", "{session}"},
		sums:   sums{cost: true},
		model:  "--model",
		set:    []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		pass: []string{
			"USER", // the macOS key chain is queried by user name
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
			"ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL",
			"ANTHROPIC_DEFAULT_HAIKU_MODEL",
		},
		clouds: []cloud{
			{"CLAUDE_CODE_USE_BEDROCK", append([]string{"ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_SKIP_BEDROCK_AUTH"},
				amazon...)},
			{"CLAUDE_CODE_USE_VERTEX",
				append([]string{"ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLAUDE_CODE_SKIP_VERTEX_AUTH"},
					google...)},
			{"CLAUDE_CODE_USE_FOUNDRY",
				append([]string{"ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_RESOURCE"},
					azure...)},
		},
		hardens: []string{"--setting-sources", "--strict-mcp-config", "--tools", "--permission-mode", "--allowedTools"},
		reader:  func() reader { return &claudeReader{} }, edits: true,
		signIn: signIn{
			vars: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
				"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"},
			home: "CLAUDE_CONFIG_DIR", root: ".claude", files: []string{".credentials.json"}, unseen: true,
		},
		proven: true, origin: "2.1.331",
	},
	// gemini skips its question about trust with --skip-trust, but then reads the folder's
	// instructions, so those are moved away. The variable keeps older versions from obeying
	// the folder's settings. Neither mode offers a shell. If the user trusts the folder,
	// gemini reads variables from it, including the address that receives the key.
	"gemini": {
		args:        []string{"--skip-trust", "-o", "stream-json"},
		reviewer:    []string{"--approval-mode", "plan"},
		implementer: []string{"--approval-mode", "auto_edit"},
		model:       "-m",
		set:         []string{"GEMINI_CLI_TRUST_WORKSPACE=false"},
		pass: []string{
			"GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_LOCATION",
			"GOOGLE_CLOUD_PROJECT", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		instructs: []string{"GEMINI.md", "AGENTS.md", "CLAUDE.md", "/.gemini", "/.agents"},
		executes:  []string{"/.env", "/.gemini/.env"}, // variables, including the address that receives the key
		hardens:   []string{"--skip-trust", "--approval-mode"},
		reader:    func() reader { return &geminiReader{} }, edits: true,
		signIn: signIn{vars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"}, root: ".gemini",
			files: []string{"oauth_creds.json"}},
		acp:    &acpForm{args: []string{"--skip-trust", "--acp"}, model: "-m", readsItself: true, proven: true},
		proven: true, origin: "0.61.0",
	},
	// opencode has no sandbox; its permissions deny a reviewer's edits and commands. Only its
	// log mentions retries. No option keeps it from running a project's plugins.
	"opencode": {
		args:        []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"},
		resume:      []string{"--session", "{session}"},
		model:       "--model",
		set:         opencodeSet("OPENCODE"),
		setReviewer: opencodeReview("OPENCODE"),
		pass:        append(opencodePass("OPENCODE"), xdg...),
		clouds:      allClouds,
		help:        []string{"run"},
		hardens:     nil, // all of it is in the environment
		instructs:   []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md", "/.opencode", "/.agents", "/.claude"},
		// opencode has a second loader for plugins, which ignores the variables and --pure
		executes: []string{
			"/opencode.json:plugin", "/opencode.jsonc:plugin", "/.opencode/opencode.json:plugin",
			"/.opencode/opencode.jsonc:plugin",
			"/.opencode/plugin", "/.opencode/plugins", "/.opencode/tool", "/.opencode/tools",
		},
		reader: func() reader { return &opencodeReader{} }, edits: true,
		signIn: signIn{vars: providers, home: "XDG_DATA_HOME", root: ".local/share", files: []string{"opencode/auth.json"},
			unseen: true},
		acp:    &acpForm{args: []string{"acp", "--print-logs", "--log-level", "ERROR"}, proven: true},
		proven: true, origin: "1.18.33",
	},
	// pi loads no extensions, skills, prompt templates or context files, and a reviewer has no
	// tool that writes. It renames directories of a project that it considers outdated.
	"pi": {
		args:      []string{"-p", "--mode", "json", "-ne", "-ns", "-np", "-nc"},
		reviewer:  []string{"--tools", "read,grep,find,ls"},
		once:      []string{"--no-session"},
		resume:    []string{"--session", "{session}"},
		model:     "--model",
		set:       []string{"PI_OFFLINE=1"}, // no downloads at start; requests to the model still work
		pass:      append([]string{"ANTHROPIC_OAUTH_TOKEN", "PI_CODING_AGENT_DIR"}, providers...),
		clouds:    allClouds,
		instructs: []string{"/.pi"},
		executes:  []string{"/.pi/settings.json"}, // npmCommand, if the user has installed a package
		hardens:   []string{"-ne", "-ns", "-np", "-nc", "--tools"},
		reader:    func() reader { return &piReader{} }, edits: true,
		signIn: signIn{vars: append([]string{"ANTHROPIC_OAUTH_TOKEN"}, providers...), home: "PI_CODING_AGENT_DIR",
			root: ".pi/agent", files: []string{"auth.json"}, unseen: true},
		// in place of .pi/SYSTEM.md and similar files
		uninstructed: []string{"--system-prompt", "", "--append-system-prompt", ""},
		proven:       true, origin: "0.74.2",
	},
	// copilot reads a piped prompt from standard input. With the Agent Client Protocol it runs
	// the hooks of the checkout whatever its arguments are, so it has no acp form.
	"copilot": {
		args:        []string{"-s", "--output-format", "json", "--no-auto-update", "--no-ask-user", "--disable-builtin-mcps"},
		reviewer:    []string{"--no-custom-instructions", "--available-tools", "view,grep,glob"},
		implementer: []string{"--available-tools", "view,grep,glob,edit,create", "--allow-tool", "write"},
		resume:      []string{"--resume={session}"},
		model:       "--model",
		pass: []string{
			"COPILOT_GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_MODEL", "COPILOT_OFFLINE", "COPILOT_PROVIDER_API_KEY",
			"COPILOT_PROVIDER_BASE_URL",
			"COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_TYPE", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		},
		clouds:  []cloud{{vars: []string{"GH_TOKEN", "GITHUB_TOKEN"}}},
		hardens: []string{"--no-custom-instructions", "--available-tools", "--disable-builtin-mcps", "--allow-tool"},
		reader:  func() reader { return &copilotReader{} }, edits: true,
		signIn:       signIn{vars: []string{"COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"}, unseen: true},
		uninstructed: []string{"--no-custom-instructions"}, proven: true, origin: "1.0.102",
	},
	// qwen in safe mode runs neither hooks nor servers from the folder's settings, but reads
	// model and address from them and from its .env files, and writes to them.
	"qwen": {
		args:        []string{"--safe-mode", "-o", "stream-json"},
		reviewer:    []string{"--approval-mode", "plan"},
		implementer: []string{"--approval-mode", "auto-edit"},
		resume:      []string{"--resume", "{session}"},
		model:       "-m",
		pass: []string{
			"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "QWEN_HOME",
			"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY",
		},
		clouds:    []cloud{{vars: google}},
		instructs: []string{"/.qwen"},
		executes:  []string{"/.qwen/settings.json", "/.qwen/.env", "/.env"},
		hardens:   []string{"--safe-mode", "--approval-mode"},
		reader:    func() reader { return &claudeReader{} }, edits: true,
		acp: &acpForm{args: []string{"--safe-mode", "--acp"}, model: "-m", proven: true},
		signIn: signIn{vars: []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"},
			root: ".qwen", files: []string{"oauth_creds.json"}, unseen: true},
		proven: true, origin: "0.24.4",
	},
	// kilo is built on opencode and has rule files of its own.
	"kilo": {
		args:        []string{"run", "--format", "json", "--print-logs", "--log-level", "ERROR"},
		resume:      []string{"--session", "{session}"},
		model:       "--model",
		set:         append(opencodeSet("KILO"), "KILO_TELEMETRY_LEVEL=off"),
		setReviewer: opencodeReview("KILO"),
		pass:        append(opencodePass("KILO"), append([]string{"KILO_ORG_ID"}, xdg...)...),
		clouds:      allClouds,
		instructs: []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md", "/.kilocode", "/.kilo", ".kilocoderules", "/.opencode",
			"/.agents", "/.claude"},
		help:   []string{"run"},
		reader: func() reader { return &opencodeReader{} }, edits: true,
		acp: &acpForm{args: []string{"acp", "--print-logs", "--log-level", "ERROR"}, proven: true},
		signIn: signIn{vars: append([]string{"KILO_API_KEY"}, providers...), home: "XDG_DATA_HOME", root: ".local/share",
			files: []string{"kilo/auth.json"}, unseen: true},
		proven: true, origin: "7.7.7",
	},
	"cursor-agent": {
		args:        []string{"-p", "--output-format", "stream-json", "--trust"},
		reviewer:    []string{"--mode", "ask"},
		implementer: []string{"--force", "--sandbox", "enabled"},
		resume:      []string{"--resume", "{session}"},
		model:       "--model",
		pass:        []string{"CURSOR_API_KEY", "XDG_CONFIG_HOME"},
		instructs:   []string{"AGENTS.md", "CLAUDE.md", "/.cursor", ".cursorrules", "/.agents", "/.claude"},
		executes:    []string{"/.cursor/hooks.json", "/.cursor/mcp.json", "/.cursor/cli.json"},
		hardens:     []string{"--mode", "--sandbox"},
		reader:      func() reader { return &claudeReader{} }, edits: true,
		signIn: signIn{vars: []string{"CURSOR_API_KEY"}, unseen: true},
		origin: "2026.09.02",
	},
	// droid is read-only unless its arguments allow more.
	"droid": {
		args:        []string{"exec", "-o", "stream-json", "--disable-builtin-skills"},
		reviewer:    []string{"--only-tools", "Read,LS,Grep,Glob"},
		implementer: []string{"--auto", "low"},
		resume:      []string{"--session-id", "{session}"},
		model:       "-m",
		pass:        []string{"FACTORY_API_KEY"},
		instructs:   []string{"AGENTS.md", "CLAUDE.md", "/.agents", "/.claude", "/.factory"},
		executes: []string{"/.factory/settings.json", "/.factory/settings.local.json", "/.factory/mcp.json",
			"/.factory/hooks.json"},
		help:    []string{"exec"},
		hardens: []string{"--only-tools", "--auto", "--disable-builtin-skills"},
		reader:  func() reader { return &droidReader{} },
		signIn:  signIn{vars: []string{"FACTORY_API_KEY"}, root: ".factory", files: []string{"auth.json"}, unseen: true},
		origin:  "0.215.0",
	},
	// amp has neither an option for the model nor one that keeps it from writing: as for every
	// reviewer, the checkout is compared afterwards.
	"amp": {
		args:        []string{"-x", "--stream-json"},
		implementer: []string{"--dangerously-allow-all"},
		pass:        []string{"AMP_API_KEY", "AMP_URL", "AMP_SETTINGS_FILE"},
		instructs:   []string{"AGENTS.md", "AGENT.md", "CLAUDE.md", "/.agents", "/.claude"},
		executes:    []string{"/.amp/settings.json"},
		reader:      func() reader { return &claudeReader{} }, edits: true,
		signIn: signIn{vars: []string{"AMP_API_KEY"}, unseen: true},
		origin: "0.0.1790712063",
	},
	// goose in chat mode, as a reviewer, has no tools: it sees only what the prompt shows.
	"goose": {
		args:        []string{"run", "--no-session", "--quiet", "--output-format", "stream-json", "-i", "-"},
		model:       "--model",
		set:         []string{"GOOSE_MODE=auto"},
		setReviewer: []string{"GOOSE_MODE=chat", `CONTEXT_FILE_NAMES=["git-runr-reads-none"]`},
		pass: append([]string{"GOOSE_PROVIDER", "GOOSE_MODEL", "DATABRICKS_HOST", "DATABRICKS_TOKEN", "OPENAI_HOST",
			"ANTHROPIC_HOST", "OLLAMA_HOST"}, append(xdg, providers...)...),
		clouds:    allClouds,
		instructs: []string{".goosehints", "AGENTS.md", "/.agents", "/.goose"},
		help:      []string{"run"},
		reader:    func() reader { return &gooseReader{} },
		signIn:    signIn{vars: providers, unseen: true},
		origin:    "1.9",
	},
	// aider has no tools: it writes the model's answer to files. It reads its configuration,
	// and the addresses that receive keys, from files of the checkout.
	"aider": {
		args: []string{
			"--message-file", "{prompt_file}", "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-auto-lint",
			"--no-auto-test",
			"--no-suggest-shell-commands", "--no-check-update", "--no-analytics", "--no-gitignore", "--no-pretty", "--no-stream",
			"--no-detect-urls",
		},
		reviewer:  []string{"--dry-run", "--chat-mode", "ask"},
		model:     "--model",
		set:       []string{"AIDER_CHAT_HISTORY_FILE=/dev/null", "AIDER_INPUT_HISTORY_FILE=/dev/null"},
		pass:      append([]string{"AIDER_MODEL", "OPENAI_API_BASE"}, providers...),
		clouds:    allClouds,
		instructs: []string{"CONVENTIONS.md"},
		executes:  []string{"/.env", "/.aider.conf.yml", "/.aider.model.settings.yml", "/.aider.model.metadata.json"},
		hardens:   []string{"--dry-run", "--no-auto-lint", "--no-auto-test", "--no-suggest-shell-commands"},
		signIn:    signIn{vars: providers, unseen: true},
		origin:    "0.86",
	},
}

// opencodeSet returns the variables, prefixed with the tool's name, that keep opencode and
// its derivatives from the checkout's configuration and skills.
func opencodeSet(tool string) []string {
	return withPrefix(tool+"_DISABLE_", "AUTOUPDATE=1", "EXTERNAL_SKILLS=1", "LSP_DOWNLOAD=1", "PROJECT_CONFIG=1")
}

func opencodeReview(tool string) []string {
	return []string{
		tool + "_DISABLE_CLAUDE_CODE=1",
		tool + `_PERMISSION={"bash":"deny","edit":"deny","skill":"deny","task":"deny","webfetch":"deny"}`,
	}
}

func opencodePass(tool string) []string {
	own := withPrefix(tool+"_", "API_KEY", "AUTH_CONTENT", "CONFIG", "CONFIG_CONTENT", "CONFIG_DIR",
		"DISABLE_MODELS_FETCH")
	return append(own, providers...)
}

func withPrefix(prefix string, names ...string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// untrusted returns a TOML table that marks dir as untrusted, by both names if a symbolic
// link leads to it. A JSON string is a valid TOML string.
func untrusted(dir string) string {
	var entries []string
	for _, name := range namesOf(dir) {
		key, _ := json.Marshal(name)
		entries = append(entries, string(key)+`={trust_level="untrusted"}`)
	}
	return "{" + strings.Join(entries, ",") + "}"
}
