//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
)

// The wait for an agent's short answer is bounded, and the error contains the tool's own message.
func TestAskEndsSoon(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "codex")
	const script = "#!/bin/sh\ncat >/dev/null\necho '{\"type\":\"error\",\"message\":\"Reconnecting... 2/5: no route to " +
		"host\"}'\nwhile :; do sleep 0.05; done\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"no limit of its own": "",
		"a longer one": "timeout = \"30m\"\nidle_timeout = \"29m\"\n"} {
		c := loaded(t, input{UserFile: []byte("[agents.far]\npreset = \"codex\"\ncommand = [\"" + tool + "\"]\n" + file),
			UserPath: "user"})
		_, failure, err := c.Ask(t.Context(), "far", dir, 2*time.Second)
		if err != nil || failure == nil || failure.Reason != record.ReasonAgentTimeout || failure.Setting != nil ||
			!strings.Contains(failure.Detail, "no answer within 2s: Reconnecting... 2/5: no route to host") {
			t.Errorf("%s: %+v, %v", name, failure, err)
		}
	}
}
