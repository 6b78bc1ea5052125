package app

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// firstWrite calls do when something is printed for the first time.
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

// The event that ends a run is printed even if it arrives while others are printed.
func TestFollowPrintsTheLastEvent(t *testing.T) {
	w := newPasteWorld(t)
	const id = "20260102030405-abcdef"
	head, err := w.repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.append(id, record.EventRunStarted.Name,
		runplan.Plan{Base: head, Branch: "runr/" + id, Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow()}}, nil)
	out := &firstWrite{do: func() { w.append(id, record.EventRunAborted.Name, struct{}{}, nil) }}
	p := &program{in: strings.NewReader(""), out: out, err: os.Stderr, getenv: os.Getenv, now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if status := p.run(ctx, []string{"git-runr", "-C", w.dir, "log", "-f", id}); status != 0 {
		t.Fatalf("status %d", status)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 ||
		!strings.Contains(lines[1], record.EventRunAborted.Name) {
		t.Errorf("printed %q", lines)
	}
}

// TestOldRunThatRulesChecked: older programs recorded "pass" for a run that only rules had looked at. Such a run is
// shown as checked, and its record is unchanged.
func TestOldRunThatRulesChecked(t *testing.T) {
	w := newPasteWorld(t)
	const byRules, byAgent = "20260102030405-abcdef", "20260102030406-abcdeg"
	head, err := w.repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id, reviewer := range map[string]string{byRules: record.Builtin, byAgent: "rev"} {
		plan := runplan.Plan{Base: head, Branch: "runr/" + id, Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow()}}
		w.append(id, record.EventRunStarted.Name, plan, nil)
		report := record.EmptyReport()
		report.Format, report.Verdict, report.Effective = "json", reply.Pass, reply.Pass
		w.append(id, record.EventRoundCompleted.Name,
			record.Round{Number: 1, Reviewer: reviewer, Commit: head, Report: report, Census: record.Census{SentLines: 1}}, nil)
		w.title = ": pass"
		w.append(id, record.EventRunCompleted.Name, record.CompletedPayload{Result: record.ResultPass, Commit: head}, nil)
		w.title = ""
	}
	for _, args := range [][]string{{"log"}, {"log", "-n", "0"}, {"log", "--json"}, {"log", byRules},
		{"report", byRules}} {
		var out bytes.Buffer
		p := &program{in: strings.NewReader(""), out: &out, err: os.Stderr, getenv: os.Getenv, now: time.Now}
		if status := p.run(t.Context(), append([]string{"git-runr", "-C", w.dir}, args...)); status != 0 {
			t.Fatalf("%v: status %d", args, status)
		}
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "completed: pass") && !strings.Contains(line, byAgent) {
				t.Errorf("%v: %s", args, line)
			}
		}
		if !strings.Contains(out.String(), "completed: checked") {
			t.Errorf("%v: nothing is called checked:\n%s", args, &out)
		}
		if args[len(args)-1] != byRules && strings.Count(out.String(), "run_completed: pass") != 1 {
			t.Errorf("%v: the agent's pass is gone:\n%s", args, &out)
		}
	}
}
