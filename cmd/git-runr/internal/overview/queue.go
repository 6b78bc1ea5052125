package overview

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/safetext"
)

// queueShown is the maximum number of waiting agents listed.
const queueShown = 5

func (d Overview) writeQueue(w io.Writer) {
	if len(d.Queue) == 0 {
		return
	}
	safetext.Fprintf(w, "\n%s\n", screen.Strong.Of(fmt.Sprintf("Queue (%d):", len(d.Queue))))
	for _, t := range d.Queue[:min(len(d.Queue), queueShown)] {
		safetext.Fprintf(w, "%s  %s: %s\n", t.Of(), t.Reviewer, turnWords(t))
	}
	render.More(w, "", len(d.Queue)-queueShown)
	if d.idle() {
		fmt.Fprintln(w, "No worker is running; type: git runr work")
	}
}

// turnWords describes the state of an agent in the queue.
func turnWords(t queue.Entry) string {
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }
	switch t.State {
	case queue.StateRunning:
		return strings.TrimSuffix(fmt.Sprintf("at work for %s: %s", time.Duration(t.Elapsed).Truncate(time.Second), t.Line),
			": ")
	case queue.StateElsewhere:
		return fmt.Sprintf("at work in the clone of %s, until %s or longer", t.By, at(t.Until))
	case queue.StateDue:
		return "waits for a worker"
	}
	why := prose.OneLine(cmp.Or(t.Failure.Detail, t.Failure.Reason))
	if t.State == queue.StateLater && !t.Wants() {
		return fmt.Sprintf("waits until %s: %s", at(t.Until), why)
	}
	return fmt.Sprintf("left alone: %s; type: %s", why, strings.Join(t.Failure.Next().Commands, ", then "))
}
