package agent

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/spend"
)

// The argument lists are the hardening: changing one changes what a hostile repository can do,
// and must be tested anew.
func TestPresetArguments(t *testing.T) {
	const (
		trust   = ` -c projects={"/none/tree"={trust_level="untrusted"}}`
		claude  = "claude -p --setting-sources user --strict-mcp-config --output-format stream-json --verbose "
		mayLook = "--permission-mode acceptEdits --allowedTools Bash(git diff *),Bash(git log *),Bash(git show " +
			"*),Bash(git status *)"
		copilot = "copilot -s --output-format json --no-auto-update --no-ask-user --disable-builtin-mcps "
		aider   = "aider --message-file {prompt_file} --yes-always --no-auto-commits --no-dirty-commits --no-auto-lint " +
			"--no-auto-test --no-suggest-shell-commands --no-check-update --no-analytics --no-gitignore --no-pretty " +
			"--no-stream --no-detect-urls"
		implementer = "codex exec --json --sandbox workspace-write -c project_doc_max_bytes=0"
		reviewer    = "codex exec --json --sandbox read-only -c project_doc_max_bytes=0 -c " +
			"skills.include_instructions=false --ephemeral"
	)
	for _, tc := range []struct {
		preset string
		ask    Ask
		want   string
	}{
		{"codex", Ask{Role: Reviewer}, reviewer + trust + " -"},
		{"codex", Ask{Role: Implementer, Model: "m1"}, implementer + " --ephemeral" + trust + " -m m1 -"},
		{"codex", Ask{Role: Implementer, Keep: true}, implementer + trust + " -"},
		{"codex", Ask{Role: Implementer, Uninstructed: true},
			implementer + " -c skills.include_instructions=false --ephemeral" + trust + " -"},
		{"codex", Ask{Role: Implementer, Keep: true, Session: spend.Session{ID: "s1"}},
			`codex exec resume --json -c sandbox_mode="workspace-write" -c project_doc_max_bytes=0` + trust + " s1 -"},
		{"claude", Ask{Role: Reviewer, Model: "opus"}, claude + "--tools Read,Grep,Glob --model opus"},
		{"claude", Ask{Role: Implementer}, claude + mayLook},
		{"claude", Ask{Role: Implementer, Session: spend.Session{ID: "s1"}}, claude + mayLook + " --resume s1"},
		{"claude", Ask{Role: Implementer, Session: spend.Session{ID: "--dangerously-skip-permissions"}}, claude + mayLook},
		{"claude", Ask{Role: Implementer, Session: spend.Session{ID: "a b"}}, claude + mayLook},
		{"gemini", Ask{Role: Reviewer}, "gemini --skip-trust -o stream-json --approval-mode plan"},
		{"gemini", Ask{Role: Implementer, Model: "g", Session: spend.Session{ID: "s1"}},
			"gemini --skip-trust -o stream-json --approval-mode auto_edit -m g"},
		{"gemini by acp", Ask{Role: Reviewer, Model: "g"}, "gemini --skip-trust --acp --approval-mode plan -m g"},
		{"gemini by acp", Ask{Role: Implementer}, "gemini --skip-trust --acp --approval-mode auto_edit"},
		{"opencode by acp", Ask{Role: Reviewer, Model: "p/m", Session: spend.Session{ID: "s1"}},
			"opencode acp --print-logs --log-level ERROR"},
		{"opencode", Ask{Role: Reviewer, Model: "p/m"},
			"opencode run --format json --print-logs --log-level ERROR --model p/m"},
		{"opencode", Ask{Role: Implementer, Session: spend.Session{ID: "s1"}},
			"opencode run --format json --print-logs --log-level ERROR --session s1"},
		{"pi", Ask{Role: Reviewer}, "pi -p --mode json -ne -ns -np -nc --tools read,grep,find,ls --no-session"},
		{"pi", Ask{Role: Implementer, Model: "p/m:high"}, "pi -p --mode json -ne -ns -np -nc --no-session --model p/m:high"},
		{"pi", Ask{Role: Implementer, Session: spend.Session{ID: "s1"}, Keep: true},
			"pi -p --mode json -ne -ns -np -nc --session s1"},
		{"pi", Ask{Role: Implementer, Uninstructed: true},
			"pi -p --mode json -ne -ns -np -nc --system-prompt  --append-system-prompt  --no-session"},
		{"pi", Ask{Role: Reviewer, Uninstructed: true},
			"pi -p --mode json -ne -ns -np -nc --tools read,grep,find,ls --no-session"},
		{"copilot", Ask{Role: Reviewer}, copilot + "--no-custom-instructions --available-tools view,grep,glob"},
		{"copilot", Ask{Role: Implementer, Session: spend.Session{ID: "s1"}},
			copilot + "--available-tools view,grep,glob,edit,create --allow-tool write --resume=s1"},
		{"copilot", Ask{Role: Implementer}, copilot + "--available-tools view,grep,glob,edit,create --allow-tool write"},
		{"qwen", Ask{Role: Reviewer}, "qwen --safe-mode -o stream-json --approval-mode plan"},
		{"qwen", Ask{Role: Implementer}, "qwen --safe-mode -o stream-json --approval-mode auto-edit"},
		{"kilo", Ask{Role: Reviewer}, "kilo run --format json --print-logs --log-level ERROR"},
		{"kilo", Ask{Role: Implementer}, "kilo run --format json --print-logs --log-level ERROR"},
		{"cursor-agent", Ask{Role: Reviewer}, "cursor-agent -p --output-format stream-json --trust --mode ask"},
		{"cursor-agent", Ask{Role: Implementer},
			"cursor-agent -p --output-format stream-json --trust --force --sandbox enabled"},
		{"droid", Ask{Role: Reviewer}, "droid exec -o stream-json --disable-builtin-skills --only-tools Read,LS,Grep,Glob"},
		{"droid", Ask{Role: Implementer}, "droid exec -o stream-json --disable-builtin-skills --auto low"},
		{"amp", Ask{Role: Reviewer, Model: "ignored"}, "amp -x --stream-json"},
		{"amp", Ask{Role: Implementer}, "amp -x --stream-json --dangerously-allow-all"},
		{"goose", Ask{Role: Reviewer}, "goose run --no-session --quiet --output-format stream-json -i -"},
		{"goose", Ask{Role: Implementer, Model: "m"},
			"goose run --no-session --quiet --output-format stream-json -i - --model m"},
		{"aider", Ask{Role: Reviewer}, aider + " --dry-run --chat-mode ask"},
		{"aider", Ask{Role: Implementer, Model: "m"}, aider + " --model m"},
	} {
		tc.ask.Dir = "/none/tree"
		spec := Spec{Name: "x", Preset: tc.preset}
		if preset, ok := strings.CutSuffix(tc.preset, " by acp"); ok {
			spec.Preset, spec.Protocol = preset, ACP
		}
		inv, err := spec.Invocation(tc.ask)
		if err != nil {
			t.Errorf("%s %s: %v", tc.preset, tc.ask.Role, err)
		}
		if got := strings.Join(inv.Args, " "); got != tc.want {
			t.Errorf("%s %+v:\ngot  %s\nwant %s", tc.preset, tc.ask, got, tc.want)
		}
	}
}

// The user's own arguments follow the preset's, and precede the place of the prompt.
func TestOwnArguments(t *testing.T) {
	inv, err := Spec{Name: "codex", Args: []string{"-c", "x=1"}}.Invocation(Ask{Role: Implementer, Dir: "/none/tree",
		Model: "m"})
	if err != nil || !strings.HasSuffix(strings.Join(inv.Args, " "), " -m m -c x=1 -") {
		t.Errorf("%q, %v", inv.Args, err)
	}
	inv, err = Spec{Name: "mine", Command: []string{"my-agent"}, Args: []string{"--fast"}}.Invocation(Ask{Role: Reviewer})
	if err != nil || !slices.Equal(inv.Args, []string{"my-agent", "--fast"}) {
		t.Errorf("%q, %v", inv.Args, err)
	}
}

func TestPresetEnvironment(t *testing.T) {
	deny := func(tool string) []string {
		return []string{tool + "_DISABLE_CLAUDE_CODE=1",
			tool + `_PERMISSION={"bash":"deny","edit":"deny","skill":"deny","task":"deny","webfetch":"deny"}`}
	}
	project := func(tool string) []string {
		return []string{tool + "_DISABLE_AUTOUPDATE=1", tool + "_DISABLE_EXTERNAL_SKILLS=1", tool + "_DISABLE_LSP_DOWNLOAD=1",
			tool + "_DISABLE_PROJECT_CONFIG=1"}
	}
	quiet := "KILO_TELEMETRY_LEVEL=off"
	for _, tc := range []struct {
		preset string
		role   Role
		want   []string
	}{
		{"codex", Reviewer, nil},
		{"claude", Reviewer, []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}},
		{"gemini", Implementer, []string{"GEMINI_CLI_TRUST_WORKSPACE=false"}},
		{"opencode", Reviewer, append(project("OPENCODE"), deny("OPENCODE")...)},
		{"opencode", Implementer, project("OPENCODE")},
		{"kilo", Reviewer, append(append(project("KILO"), quiet), deny("KILO")...)},
		{"kilo", Implementer, append(project("KILO"), quiet)},
		{"pi", Reviewer, []string{"PI_OFFLINE=1"}},
		{"goose", Implementer, []string{"GOOSE_MODE=auto"}},
	} {
		inv, err := Spec{Name: tc.preset}.Invocation(Ask{Role: tc.role, Dir: "/none"})
		if err != nil || !slices.Equal(inv.ExtraEnv, tc.want) {
			t.Errorf("%s %s: %q, %v", tc.preset, tc.role, inv.ExtraEnv, err)
		}
		if !slices.Contains(inv.PassEnv, "HTTPS_PROXY") {
			t.Errorf("%s does not get the proxy", tc.preset)
		}
	}
	inv, err := Spec{Name: "goose"}.Invocation(Ask{Role: Reviewer})
	if err != nil || lastValue(inv.ExtraEnv, "GOOSE_MODE") != "chat" {
		t.Errorf("a reviewer of goose: %q, %v", inv.ExtraEnv, err)
	}
}

// Every preset passes its own key, and none passes the key of a forge, or of a cloud that the
// user did not switch it to.
func TestPresetKeys(t *testing.T) {
	keys := map[string]string{
		"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "opencode": "ANTHROPIC_API_KEY",
		"pi":      "ANTHROPIC_API_KEY",
		"copilot": "COPILOT_GITHUB_TOKEN", "qwen": "OPENAI_API_KEY", "kilo": "KILO_API_KEY", "cursor-agent": "CURSOR_API_KEY",
		"droid": "FACTORY_API_KEY",
		"amp":   "AMP_API_KEY", "goose": "ANTHROPIC_API_KEY", "aider": "ANTHROPIC_API_KEY",
	}
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, Presets()) {
		t.Fatalf("presets %q, keys of %q", Presets(), got)
	}
	for name, key := range keys {
		inv, err := Spec{Name: name}.Invocation(Ask{Role: Reviewer})
		if err != nil || !slices.Contains(inv.PassEnv, key) {
			t.Errorf("%s: %q, %v", name, inv.PassEnv, err)
		}
		for _, foreign := range []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AZURE_CLIENT_SECRET",
			"SSH_AUTH_SOCK"} {
			if slices.Contains(inv.PassEnv, foreign) {
				t.Errorf("%s gets %s", name, foreign)
			}
		}
	}
}

func TestCloudSwitch(t *testing.T) {
	for _, tc := range []struct{ base, passed, not string }{
		{"CLAUDE_CODE_USE_BEDROCK=1",
			"CLAUDE_CODE_USE_BEDROCK AWS_PROFILE AWS_REGION AWS_SECRET_ACCESS_KEY ANTHROPIC_BEDROCK_BASE_URL",
			"GOOGLE_APPLICATION_CREDENTIALS"},
		{"CLAUDE_CODE_USE_VERTEX=1",
			"CLAUDE_CODE_USE_VERTEX GOOGLE_APPLICATION_CREDENTIALS ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION", "AWS_PROFILE"},
		{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_API_KEY AZURE_CLIENT_ID", "AWS_PROFILE"},
		{"CLAUDE_CODE_USE_BEDROCK=", "ANTHROPIC_API_KEY", "AWS_PROFILE"},
	} {
		inv, err := Spec{Name: "claude"}.Invocation(Ask{Role: Reviewer, Base: []string{tc.base}})
		if err != nil || slices.Contains(inv.PassEnv, tc.not) {
			t.Errorf("%s: %q, %v", tc.base, inv.PassEnv, err)
		}
		for name := range strings.FieldsSeq(tc.passed) {
			if !slices.Contains(inv.PassEnv, name) {
				t.Errorf("%s: %s is not passed", tc.base, name)
			}
		}
	}
}

// A codex reviewer distrusts the directory under its real name too.
func TestCodexUntrustedLink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, `a "link"`)
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	want := `{"` + base + `/a \"link\""={trust_level="untrusted"},"` + base + `"={trust_level="untrusted"}}`
	if got := untrusted(link); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCustomCommand(t *testing.T) {
	s := Spec{Name: "mine", Command: []string{"my-agent", "--model={model}", "{model}/{model}", "plain"},
		Env: []string{"KEY"}}
	inv, err := s.Invocation(Ask{Role: Reviewer, Model: "big"})
	if err != nil || !slices.Equal(inv.Args, []string{"my-agent", "--model=big", "big/big", "plain"}) ||
		inv.reader != nil || len(inv.PassEnv) != 0 {
		t.Errorf("%+v, %v", inv, err)
	}
	if s.Command[1] != "--model={model}" {
		t.Error("the spec was changed")
	}
	if _, err := s.Invocation(Ask{Role: Reviewer}); !errors.Is(err, errNoModel) {
		t.Errorf("no model: %v", err)
	}
}

func TestCommandForPreset(t *testing.T) {
	s := Spec{Name: "c", Preset: "pi", Command: []string{"npx", "the-package"}}
	inv, err := s.Invocation(Ask{Role: Implementer})
	if err != nil || strings.Join(inv.Args, " ") != "npx the-package -p --mode json -ne -ns -np -nc --no-session" ||
		inv.reader == nil {
		t.Errorf("%+v, %v", inv, err)
	}
}

func TestInvocationErrors(t *testing.T) {
	for _, tc := range []struct {
		spec  Spec
		model string
		want  string
	}{
		{Spec{Name: "human"}, "", errReserved.Error()},
		{Spec{Name: "builtin"}, "", errReserved.Error()},
		{Spec{Name: "x", Preset: "builtin"}, "", errReserved.Error()},
		{Spec{Name: "cursor"}, "", `no command and no preset "cursor"; presets are aider, amp, claude`},
		{Spec{Name: "x", Preset: "y"}, "", `"y"`},
		{Spec{Name: "codex"}, "--dangerous", "not the name of a model"},
		{Spec{Name: "codex"}, "a b", "not the name of a model"},
		{Spec{Name: "codex"}, "a\nb", "not the name of a model"},
	} {
		_, err := tc.spec.Invocation(Ask{Role: Reviewer, Model: tc.model})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v %q: %v", tc.spec, tc.model, err)
		}
	}
	if !role.Reserved("human") || !role.Reserved("builtin") || role.Reserved("codex") {
		t.Error("reserved names")
	}
}

// No preset sets a model: an unconfigured model is the tool's choice.
func TestModelFor(t *testing.T) {
	own := Spec{Name: "c", Preset: "claude", Model: "mine",
		Models: map[string]string{"quality": "best", "balanced": "middle"}}
	for _, tc := range []struct {
		spec          Spec
		profile, want string
	}{
		{Spec{Name: "claude"}, "quality", ""},
		{Spec{Name: "claude"}, "balanced", ""},
		{Spec{Name: "claude"}, "budget", ""},
		{Spec{Name: "claude", Model: "opus"}, "budget", "opus"},
		{own, "quality", "best"},
		{own, "", "middle"},
		{own, "budget", "mine"},
		{own, "no such profile", "mine"},
	} {
		if got := tc.spec.ModelFor(tc.profile); got != tc.want {
			t.Errorf("%q of %+v: %q, want %q", tc.profile, tc.spec, got, tc.want)
		}
	}
}

// Every file of presets can be read, and the groups of variables that it names exist.
func TestPresetFiles(t *testing.T) {
	for _, name := range Presets() {
		text, err := presetFiles.ReadFile("presets/" + name + ".toml")
		if err != nil || presetCalled(name).Origin == "" {
			t.Errorf("%s: %v", name, err)
		}
		for _, m := range regexp.MustCompile(`"@(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			if len(variables()[m[1]]) == 0 {
				t.Errorf("%s: no variables are called %s", name, m[1])
			}
		}
	}
}
