package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"
)

// leftGrace is what a command that a killed process has left gets between TERM and KILL.
const leftGrace = time.Second

type noteKey struct{}

// Noted gives a context whose commands are noted in file while they run, so that StopNoted
// finds what is left of them when this process is killed. The file belongs to who asks for it.
func Noted(ctx context.Context, file string) context.Context {
	return context.WithValue(ctx, noteKey{}, file)
}

// noted is what identifies a command: its mark, and, once it is started, its leader by the
// number, the start in clock ticks since boot, and that boot. A number alone is given to
// others again.
type noted struct {
	Mark  string `json:"mark"`
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	Boot  string `json:"boot,omitempty"`
	Dir   string `json:"dir,omitempty"`   // where it was started
	Ended bool   `json:"ended,omitempty"` // by itself, or was stopped: what it left was left on purpose
}

// note appends to file, "" for none. Where it cannot be written, what is left of a
// killed command is found by nobody, which is no reason not to start it.
func note(file string, n noted) {
	line, err := json.Marshal(n)
	if err != nil || file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// StopNoted stops what still runs of the commands noted in file, with all that they
// started, and returns how many processes that were. Whoever noted them must be gone.
// Outside Linux nothing proves whose a process is, and none is stopped.
func StopNoted(file string) (stopped int) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	newest := map[string]noted{} // by mark
	for line := range bytes.Lines(data) {
		var n noted
		if json.Unmarshal(line, &n) == nil && len(n.Mark) >= minMark { // else it was cut short by the kill
			newest[n.Mark] = n
		}
	}
	for _, n := range newest {
		if f := leftFamily(n); f != nil && !n.Ended {
			stopped += f.signal(0)
			stop(f.signal, leftGrace)
		}
	}
	return stopped
}

// minMark is how long a mark is at least; a shorter one could be anybody's.
const minMark = 26
