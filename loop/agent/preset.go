package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Role is what an agent is asked to do.
type Role string

const (
	Reviewer    Role = "reviewer"    // reads and answers; must not write
	Implementer Role = "implementer" // changes files; git-runr commits for it
)

// Invocation is how one call of an agent is made. The prompt goes to standard input.
type Invocation struct {
	Args     []string
	ExtraEnv []string // KEY=VALUE, set over everything else
	PassEnv  []string // names that the agent needs from the caller's environment

	reader reader // of standard output; nil: the answer is standard output as it is
}

// The argument lists below were measured with codex 0.169.0, claude 2.1.329,
// gemini 0.61.0, opencode 1.18.33 and pi 0.73.1. All of them stream one JSON
// object a line, which keeps the idle limit meaningful, and all take the prompt
// on standard input.

type builder func(role Role, model string, dir string) Invocation

// presets are the agents that are known without configuration.
var presets = map[string]builder{"claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode, "pi": pi}

// Presets are their names, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// codex runs in its own sandbox. A user who trusts a repository trusts its
// worktrees with it, and then the .codex directory of the commit under review
// would be obeyed, commands of MCP servers included; so the trust is taken back
// for this directory. A reviewer does not read the AGENTS.md of the commit.
func codex(role Role, model string, dir string) Invocation {
	args := []string{"codex", "exec", "--json", "--ephemeral", "--sandbox"}
	if role == Implementer {
		args = append(args, "workspace-write")
	} else {
		args = append(args, "read-only", "-c", "project_doc_max_bytes=0")
	}
	args = append(args, "-c", "projects="+untrusted(dir))
	args = withFlag(args, "-m", model)
	return Invocation{
		Args:    append(args, "-"),
		PassEnv: []string{"CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
		reader:  &codexReader{},
	}
}

// untrusted is a TOML table that marks dir, under both its names when it is
// reached through a link. A JSON string is a TOML string.
func untrusted(dir string) string {
	var entries []string
	for _, name := range namesOf(dir) {
		key, _ := json.Marshal(name)
		entries = append(entries, string(key)+`={trust_level="untrusted"}`)
	}
	return "{" + strings.Join(entries, ",") + "}"
}

// claude reads no settings of the repository. An implementer may edit and look
// at history; anything else that its mode asks a person for is denied.
func claude(role Role, model string, _ string) Invocation {
	args := []string{"claude", "-p", "--setting-sources", "user", "--strict-mcp-config", "--output-format", "stream-json", "--verbose"}
	if role == Implementer {
		args = append(args, "--permission-mode", "acceptEdits",
			"--allowedTools", "Bash(git diff *),Bash(git log *),Bash(git show *),Bash(git status *)")
	} else {
		args = append(args, "--tools", "Read,Grep,Glob")
	}
	return Invocation{
		Args:     withFlag(args, "--model", model),
		ExtraEnv: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		PassEnv: []string{
			"USER", // the key chain of macOS is asked by user name
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
		},
		reader: &claudeReader{},
	}
}

// gemini is let past its question about trust by --skip-trust, and the variable
// keeps it from obeying the folder's settings even when the user trusts a folder
// above. Neither mode offers it a shell.
func gemini(role Role, model string, _ string) Invocation {
	mode := "plan"
	if role == Implementer {
		mode = "auto_edit"
	}
	return Invocation{
		Args:     withFlag([]string{"gemini", "--skip-trust", "--approval-mode", mode, "-o", "stream-json"}, "-m", model),
		ExtraEnv: []string{"GEMINI_CLI_TRUST_WORKSPACE=false"},
		PassEnv: []string{
			"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_LOCATION",
			"GOOGLE_CLOUD_PROJECT", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		reader: &geminiReader{},
	}
}

// opencode has no sandbox; its permissions deny a reviewer's edits and commands.
func opencode(role Role, model string, _ string) Invocation {
	inv := Invocation{
		Args: withFlag([]string{"opencode", "run", "--format", "json"}, "--model", model),
		ExtraEnv: []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1",
		},
		PassEnv: append(providerKeys(),
			"OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_MODELS_FETCH",
			"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
		reader: &opencodeReader{},
	}
	if role != Implementer {
		inv.ExtraEnv = append(inv.ExtraEnv, `OPENCODE_PERMISSION={"bash":"deny","edit":"deny","webfetch":"deny"}`)
	}
	return inv
}

// pi loads no extensions, skills, prompt templates or context files, and a
// reviewer has no tool that writes.
func pi(role Role, model string, _ string) Invocation {
	args := []string{"pi", "-p", "--mode", "json", "--no-session", "-ne", "-ns", "-np", "-nc"}
	if role != Implementer {
		args = append(args, "--tools", "read,grep,find,ls")
	}
	return Invocation{
		Args:     withFlag(args, "--model", model),
		ExtraEnv: []string{"PI_OFFLINE=1"}, // no downloads at start; the model is still asked
		PassEnv:  append(providerKeys(), "ANTHROPIC_OAUTH_TOKEN", "PI_CODING_AGENT_DIR"),
		reader:   &piReader{},
	}
}

// providerKeys are the keys of the usual model providers, for agents that speak
// to many. Others are named in the agent's env.
func providerKeys() []string {
	return []string{
		"ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY",
		"MISTRAL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY",
	}
}

func withFlag(args []string, flag, value string) []string {
	if value == "" {
		return args
	}
	return append(args, flag, value)
}
