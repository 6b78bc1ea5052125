package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// After a command exits by itself, the rest of its process group is stopped: processes that hold
// its output open, others, and those that ignore TERM.
func TestRunStopsWhatItLeaves(t *testing.T) {
	for name, child := range map[string]string{
		"pipes":  `sleep 300 & echo $! > "$0"`,
		"silent": `sleep 300 > /dev/null 2>&1 & echo $! > "$0"`,
		"deaf": `sh -c 'trap "" TERM; echo > "$0.deaf"; while :; do sleep 0.05; done' "$0" > /dev/null 2>&1 & echo $! > "$0"
while [ ! -e "$0.deaf" ]; do sleep 0.02; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			killAtEnd(t, pidFile)
			r := mustRun(t, t.Context(), Command{
				Args: []string{"sh", "-c", child + "\necho answer; exit 7", pidFile},
				Env:  []string{"PATH=" + os.Getenv("PATH")}, Grace: 200 * time.Millisecond,
			})
			if r.ExitCode != 7 || string(r.Stdout) != "answer\n" || r.Signal != "" {
				t.Errorf("%+v", r)
			}
			if !gone(t, pidFile) {
				t.Error("it still runs")
			}
		})
	}
}
