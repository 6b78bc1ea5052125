package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"time"
)

// leftGrace is the time between TERM and KILL for the remains of a killed git-runr process.
const leftGrace = time.Second

type noteKey struct{}

// Noted returns a context whose commands are recorded in file while they run, so that StopNoted
// finds their processes if this process is killed. The file belongs to the caller.
func Noted(ctx context.Context, file string) context.Context {
	return context.WithValue(ctx, noteKey{}, file)
}

// noted identifies a command: its mark and, once started, its leader by process id, start in
// clock ticks since boot, and boot id. A process id alone can be reused.
type noted struct {
	Mark  string `json:"mark"`
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	Boot  string `json:"boot,omitempty"`
	Dir   string `json:"dir,omitempty"`   // where it was started
	By    int    `json:"by,omitempty"`    // the process that started it, and adopts what loses its parent
	Ended bool   `json:"ended,omitempty"` // it exited or was stopped: anything it left was left on purpose
}

// note appends n to file, "" for none. A failure is ignored: it only means that StopNoted
// cannot find the command.
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

// StopNoted stops the running processes of the commands recorded in file, with all that they
// started, and returns how many there were. The process that recorded them must be gone.
// Outside Linux ownership cannot be proved, so nothing is stopped.
func StopNoted(file string) (stopped int) {
	for _, n := range notEnded(file) {
		if f := leftFamily(n); f != nil {
			stopped += f.signal(0)
			stop(f.signal, leftGrace)
		}
	}
	return stopped
}

// BelongsTo reports whether a command that is recorded in file started this process, directly or not. A process that
// clears its environment, or starts a session of its own, still belongs to it. Outside Linux it returns false.
func BelongsTo(file string) bool { return slices.ContainsFunc(notEnded(file), belongs) }

// notEnded returns the commands recorded in file that are not recorded as ended.
func notEnded(file string) []noted {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	newest := map[string]noted{} // by mark
	for line := range bytes.Lines(data) {
		var n noted
		if json.Unmarshal(line, &n) == nil && len(n.Mark) >= minMark { // a shorter line was cut off by the kill
			newest[n.Mark] = n
		}
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(newest)), func(n noted) bool { return n.Ended })
}

// minMark is the least length of a mark; a shorter one could match foreign processes.
const minMark = 26
