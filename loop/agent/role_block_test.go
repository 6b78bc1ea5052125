package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
)

// TestAskedForTheBlock: a reviewer whose answer lacks the block is asked once more. The second question is asked in
// the session of the first answer if the tool can continue a session as a reviewer, and in a new session if the tool
// has lost the first.
func TestAskedForTheBlock(t *testing.T) {
	const block = "```runr-review " +
		"n0nce\\n{\\\"verdict\\\":\\\"PASS\\\",\\\"summary\\\":\\\"fine\\\",\\\"findings\\\":[]}\\n```"
	claude := func(text string) string {
		return `printf '%s\n' '{"type":"result","subtype":"success","session_id":"s1","result":"` + text + `"}'`
	}
	codex := func(text string) string {
		return `printf '%s\n' '{"type":"thread.started","thread_id":"s1"}' ` +
			`'{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}' '{"type":"turn.completed"}'`
	}
	for _, tc := range []struct {
		preset string
		says   func(string) string
		gone   bool // the tool has lost the session
		calls  string
	}{
		{"claude", claude, false, "new resumed"},
		{"claude", claude, true, "new resumed new"},
		{"codex", codex, false, "new new"},
	} {
		dir := t.TempDir()
		calls := filepath.Join(dir, "calls")
		script := `case " $* " in *" --resume s1 "*|*" resume "*) how=resumed ;; *) how=new ;; esac
[ -e ` + calls + ` ] && again=1; echo $how >>` + calls + "\n"
		if tc.gone {
			script += "[ $how = new ] || { echo 'No conversation found' >&2; exit 1; }\n"
		}
		script += `if [ "${again-}" ]; then ` + tc.says(block) + "; else " + tc.says("I could not find anything.") + "; fi"
		spec := Spec{Name: "x", Preset: tc.preset, Command: []string{"sh", "-c", script, "sh"}}
		job := role.ReviewJob{Dir: dir, Block: true, Nonce: "n0nce", Prompt: func() string { return "review" }}
		answer, err := Caller{Spec: spec}.Reviewer().Review(context.Background(), job)
		if err != nil || answer.Failure != nil || answer.Report.Effective != reply.Pass || answer.Usage.Calls < 2 {
			t.Errorf("%s: %+v, %v", tc.preset, answer, err)
		}
		data, err := os.ReadFile(calls)
		if got := strings.Join(strings.Fields(string(data)), " "); err != nil || got != tc.calls {
			t.Errorf("%s, session gone %v: calls %q, want %q", tc.preset, tc.gone, got, tc.calls)
		}
	}
}
