package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// firstWrite calls what there is to do when something is printed for the first time.
type firstWrite struct {
	bytes.Buffer
	do func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if do := w.do; do != nil {
		w.do = nil
		do()
	}
	return w.Buffer.Write(p)
}

// The event that ends a run is printed also when it comes while others are printed.
func TestFollowPrintsTheLastEvent(t *testing.T) {
	w := newPasteWorld(t)
	const id = "20260102030405-abcdef"
	head, err := w.repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.append(id, record.EventRunStarted.Name, runplan.Plan{Base: head, Branch: "runr/" + id, Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow()}}, nil)
	out := &firstWrite{do: func() { w.append(id, record.EventRunAborted.Name, struct{}{}, nil) }}
	p := &program{in: strings.NewReader(""), out: out, err: os.Stderr, getenv: os.Getenv, now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if status := p.run(ctx, []string{"git-runr", "-C", w.dir, "log", "-f", id}); status != 0 {
		t.Fatalf("status %d", status)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], record.EventRunAborted.Name) {
		t.Errorf("printed %q", lines)
	}
}
