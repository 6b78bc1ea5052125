package agent

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-runr/loop/role"
)

// The argument lists are the hardening: a change of one of them is a change of
// what a hostile repository can do, and must be measured anew.
func TestPresetArguments(t *testing.T) {
	const trust = ` -c projects={"/none/tree"={trust_level="untrusted"}}`
	for _, tc := range []struct {
		preset      string
		role        Role
		model, want string
	}{
		{"codex", Reviewer, "", "codex exec --json --ephemeral --sandbox read-only -c project_doc_max_bytes=0" + trust + " -"},
		{"codex", Implementer, "m1", "codex exec --json --ephemeral --sandbox workspace-write" + trust + " -m m1 -"},
		{"claude", Reviewer, "opus", "claude -p --setting-sources user --strict-mcp-config --output-format stream-json --verbose --tools Read,Grep,Glob --model opus"},
		{"claude", Implementer, "", "claude -p --setting-sources user --strict-mcp-config --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash(git diff *),Bash(git log *),Bash(git show *),Bash(git status *)"},
		{"gemini", Reviewer, "", "gemini --skip-trust --approval-mode plan -o stream-json"},
		{"gemini", Implementer, "g", "gemini --skip-trust --approval-mode auto_edit -o stream-json -m g"},
		{"opencode", Reviewer, "p/m", "opencode run --format json --model p/m"},
		{"opencode", Implementer, "", "opencode run --format json"},
		{"pi", Reviewer, "", "pi -p --mode json --no-session -ne -ns -np -nc --tools read,grep,find,ls"},
		{"pi", Implementer, "p/m:high", "pi -p --mode json --no-session -ne -ns -np -nc --model p/m:high"},
	} {
		inv, err := Spec{Name: "x", Preset: tc.preset}.Invocation(tc.role, tc.model, "/none/tree")
		if err != nil {
			t.Errorf("%s %s: %v", tc.preset, tc.role, err)
		}
		if got := strings.Join(inv.Args, " "); got != tc.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tc.preset, tc.role, got, tc.want)
		}
	}
}

func TestPresetEnvironment(t *testing.T) {
	deny := `OPENCODE_PERMISSION={"bash":"deny","edit":"deny","webfetch":"deny"}`
	project := []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1"}
	for _, tc := range []struct {
		preset string
		role   Role
		want   []string
	}{
		{"codex", Reviewer, nil},
		{"claude", Reviewer, []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}},
		{"gemini", Implementer, []string{"GEMINI_CLI_TRUST_WORKSPACE=false"}},
		{"opencode", Reviewer, append(slices.Clone(project), deny)},
		{"opencode", Implementer, project},
		{"pi", Reviewer, []string{"PI_OFFLINE=1"}},
	} {
		inv, err := Spec{Name: tc.preset}.Invocation(tc.role, "", "/none")
		if err != nil || !slices.Equal(inv.ExtraEnv, tc.want) {
			t.Errorf("%s %s: %q, %v", tc.preset, tc.role, inv.ExtraEnv, err)
		}
		if !slices.Contains(inv.PassEnv, "HTTPS_PROXY") {
			t.Errorf("%s does not get the proxy", tc.preset)
		}
	}
}

// Every preset passes its own key and no preset the key of a forge or a cloud.
func TestPresetKeys(t *testing.T) {
	keys := map[string]string{
		"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY",
		"opencode": "ANTHROPIC_API_KEY", "pi": "ANTHROPIC_API_KEY",
	}
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, Presets()) {
		t.Fatalf("presets %q, keys of %q", Presets(), got)
	}
	for name, key := range keys {
		inv, err := Spec{Name: name}.Invocation(Reviewer, "", "")
		if err != nil || !slices.Contains(inv.PassEnv, key) {
			t.Errorf("%s: %q, %v", name, inv.PassEnv, err)
		}
		for _, foreign := range []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"} {
			if slices.Contains(inv.PassEnv, foreign) {
				t.Errorf("%s gets %s", name, foreign)
			}
		}
	}
}

// A codex reviewer is distrusted under the real name of the directory too.
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
	s := Spec{Name: "mine", Command: []string{"my-agent", "--model={model}", "{model}/{model}", "plain"}, Env: []string{"KEY"}}
	inv, err := s.Invocation(Reviewer, "big", "")
	if err != nil || !slices.Equal(inv.Args, []string{"my-agent", "--model=big", "big/big", "plain"}) || inv.reader != nil || len(inv.PassEnv) != 0 {
		t.Errorf("%+v, %v", inv, err)
	}
	if s.Command[1] != "--model={model}" {
		t.Error("the spec was changed")
	}
	if _, err := s.Invocation(Reviewer, "", ""); !errors.Is(err, errNoModel) {
		t.Errorf("no model: %v", err)
	}
}

func TestCommandForPreset(t *testing.T) {
	s := Spec{Name: "c", Preset: "pi", Command: []string{"npx", "the-package"}}
	inv, err := s.Invocation(Implementer, "", "")
	if err != nil || strings.Join(inv.Args, " ") != "npx the-package -p --mode json --no-session -ne -ns -np -nc" || inv.reader == nil {
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
		{Spec{Name: "cursor"}, "", `no command and no preset "cursor"; presets are claude, codex`},
		{Spec{Name: "x", Preset: "y"}, "", `"y"`},
		{Spec{Name: "codex"}, "--dangerous", "not the name of a model"},
		{Spec{Name: "codex"}, "a b", "not the name of a model"},
		{Spec{Name: "codex"}, "a\nb", "not the name of a model"},
	} {
		_, err := tc.spec.Invocation(Reviewer, tc.model, "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v %q: %v", tc.spec, tc.model, err)
		}
	}
	if !role.Reserved("human") || !role.Reserved("builtin") || role.Reserved("codex") {
		t.Error("reserved names")
	}
}

// The default models, and what overrides them.
func TestModel(t *testing.T) {
	claude := Spec{Name: "claude"}
	own := Spec{Name: "c", Preset: "claude", Models: map[string]string{"quality": "mine", "budget": ""}}
	for _, tc := range []struct {
		spec          Spec
		role          Role
		profile, want string
	}{
		{claude, Implementer, "quality", "opus"},
		{claude, Implementer, "balanced", "sonnet"},
		{claude, Implementer, "budget", "sonnet"},
		{claude, Reviewer, "quality", "opus"},
		{claude, Reviewer, "balanced", "sonnet"},
		{claude, Reviewer, "budget", "haiku"},
		{claude, Reviewer, "", "sonnet"},
		{claude, Reviewer, "no such profile", ""},
		{own, Reviewer, "quality", "mine"},
		{own, Reviewer, "budget", ""},
		{own, Reviewer, "balanced", "sonnet"},
		{Spec{Name: "codex"}, Reviewer, "quality", ""},
		{Spec{Name: "claude", Command: []string{"my-claude"}}, Reviewer, "quality", ""},
	} {
		if got := Model(tc.role, tc.profile, tc.spec); got != tc.want {
			t.Errorf("%s %q of %+v: %q, want %q", tc.role, tc.profile, tc.spec, got, tc.want)
		}
	}
}
