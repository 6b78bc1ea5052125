package agent

import (
	"os"
	"strings"
	"testing"
)

// After an authentication failure the detail names the variables that are set and were not passed on.
func TestNotPassed(t *testing.T) {
	const said = `echo '{"type":"result","is_error":true,"result":"401 Unauthorized"}'`
	for _, tc := range []struct {
		name string
		spec Spec
		base []string
		want string // part of the detail; "" for none of it
	}{
		{"claude", Spec{Name: "claude", Preset: "claude", Command: []string{"sh", "-c", said, "sh"}},
			[]string{"AWS_PROFILE=work", "AWS_REGION=eu"},
			"; set here, but not passed on to it: AWS_PROFILE, AWS_REGION (name them in env under [agents.claude], or set " +
				"CLAUDE_CODE_USE_BEDROCK)"},
		{"passed", Spec{Name: "c", Preset: "claude", Command: []string{"sh", "-c", said, "sh"}, Env: []string{"AWS_PROFILE"}},
			[]string{"AWS_PROFILE=work"}, ""},
		{"switched", Spec{Name: "c", Preset: "claude", Command: []string{"sh", "-c", said, "sh"}},
			[]string{"AWS_PROFILE=work", "CLAUDE_CODE_USE_BEDROCK=1"}, ""},
		{"a preset without a switch", Spec{Name: "codex", Preset: "codex",
			Command: []string{"sh", "-c", "echo not logged in; exit 1", "sh"}}, []string{"AWS_PROFILE=work"},
			"not passed on to it: AWS_PROFILE (name them in env under [agents.codex])"},
		{"custom", Spec{Name: "mine", Command: []string{"sh", "-c", "echo no API key; exit 1"}}, []string{"OPENAI_API_KEY=k"},
			"not passed on to it: OPENAI_API_KEY (name them in env under [agents.mine])"},
		{"another fault", Spec{Name: "mine", Command: []string{"sh", "-c", "echo out of memory; exit 1"}},
			[]string{"OPENAI_API_KEY=k"}, ""},
		{"nothing set", Spec{Name: "mine", Command: []string{"sh", "-c", "echo no API key; exit 1"}},
			[]string{"OPENAI_API_KEY="}, ""},
	} {
		answer, _, err := Call(t.Context(), tc.spec,
			Ask{Role: Reviewer, Dir: t.TempDir(), Base: append(tc.base, "PATH="+os.Getenv("PATH"))}, CallOptions{})
		_, rest, found := strings.Cut(answer.Detail, "; set here")
		if err != nil || answer.Problem == "" || found != (tc.want != "") || !strings.HasSuffix(answer.Detail, tc.want) {
			t.Errorf("%s: %+v %q, %v", tc.name, answer, rest, err)
		}
	}
}
