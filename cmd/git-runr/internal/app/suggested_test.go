package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// pastingShells lists the shells into which every suggested line can be pasted.
var pastingShells = []string{"sh", "bash", "zsh", "fish"}

// hostileTexts are used in findings, details, notes, titles and file names.
var hostileTexts = []string{
	`Fix type errors`,
	`Fix $(touch pwned) and ` + "`touch pwned`" + ` in "a" 'b' \ !! #`,
	"Add tests\n$(touch pwned)\ntouch pwned # it",
	"Update \x1b[31mred\x1b[0m \x15touch pwned\x1a \x03 \u202etouch pwned",
	`'; touch pwned; '" && touch pwned | touch pwned & touch pwned > pwned`,
	`Ensure ${IFS}touch${IFS}pwned %s %n ~ * ? [a] {a,b} =cat (touch pwned) ^touch <(touch pwned)`,
	"Prüfe „Zitate“ — 日本語 \U0001f600 missing test coverage",
}

// hostileChecks returns checks with commands that no two shells would parse alike.
func hostileChecks() []runplan.Check {
	return []runplan.Check{
		{Name: "typecheck", Command: "record one two", Match: []string{"type errors"}},
		{Name: "test", Command: `record "it's" '$HOME' "\$x" \\ '#' '!' *.none`, Match: []string{"tests", "coverage"}},
		{Name: "lint", Command: "for i in a b; do record $i; done", Match: []string{"update", "red"}},
		{Name: "docs", Command: "record\tx\x1b[31m", Match: []string{"ensure"}},
	}
}

// TestSuggestedLines runs every line that any stop suggests, in every shell.
func TestSuggestedLines(t *testing.T) {
	var shells []string
	for _, shell := range pastingShells {
		if path, ok := testneed.Look(t, shell); ok {
			shells = append(shells, path)
		}
	}
	if !testtmp.Long() {
		shells = shells[:1] // package safetext tests its quoting in all of them
	}
	w := newPasteWorld(t)
	try := func(code string, text int) {
		run := w.stopped(code, hostileTexts[text], text)
		lines := w.suggested(run)
		if len(lines) == 0 {
			t.Fatalf("%s: nothing is suggested", code)
		}
		for _, line := range lines {
			w.paste(shells, run, line)
		}
	}
	for i, reason := range append(record.Reasons(), record.ReasonOf("of_a_newer_program")) {
		try(reason.Code, i%len(hostileTexts))
	}
	for i := range hostileTexts {
		try(record.ReasonReviewLoop, i)
		try(record.ReasonChecksFailed, i)
	}
	if w.executed < 20 {
		t.Errorf("only %d different lines were suggested", w.executed)
	}
}

// pasteWorld is a repository with stopped runs, and a PATH whose git and checks only record how they were called.
type pasteWorld struct {
	t        *testing.T
	dir, bin string
	repo     *gitstore.Repo
	clock    uint64
	title    string // follows the type in the subjects of events
	runs     int
	seen     map[string]bool // lines that differ only by the run's id are tested once
	executed int
}

func newPasteWorld(t *testing.T) *pasteWorld {
	w := &pasteWorld{t: t, dir: filepath.Join(t.TempDir(), "a repo's \"dir\" $(touch pwned)"), bin: t.TempDir(),
		seen: map[string]bool{}}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "a cache's \"dir\" $(touch pwned)"))
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL": "/dev/null",
		"GIT_AUTHOR_NAME":   "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		t.Setenv(name, value)
	}
	branch := "we'ird\"$(touch${IFS}pwned)`touch`;&|"
	w.git("init", "-q", "-b", branch)
	w.git("commit", "-q", "--allow-empty", "-m", "first")
	w.stub("git", `printf '%s\0' git "$@" >>"$RECORD"`)
	w.stub("record", `printf '%s\0' record "$@" >>"$RECORD"`)
	repo, err := gitstore.Open(context.Background(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	w.repo = repo
	repo.PutTrees(gitstore.TreePlace{Root: config.DefaultTrees(os.Getenv)})
	return w
}

func (w *pasteWorld) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (w *pasteWorld) stub(name, body string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// stopped records a run that two rounds refused and that stopped for reason, with text at every place that somebody
// else could have written.
func (w *pasteWorld) stopped(reason, text string, turn int) record.Run {
	w.t.Helper()
	w.runs++
	id := fmt.Sprintf("20260102030405-%s", suffixOf(w.runs))
	head, err := w.repo.Head(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	branch, _ := w.repo.Branch(context.Background())
	file := "src/" + strings.ReplaceAll(text, "/", "_")
	finding := reply.Finding{Severity: reply.Warning, File: file, Line: 3, Issue: text, Fix: text}
	finding.ID = reply.FindingID(finding)
	report := reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: []reply.Finding{finding},
		Requests: []string{text, "Fix type errors", "Add missing tests"}}
	plan := runplan.Plan{
		Entity: runplan.Entity{Type: "task", Identifier: text, Title: text}, Task: text, Base: head, Branch: "runr/" + id,
		Target: strings.TrimPrefix(branch, "refs/heads/"), Implementer: "impl", Reviewer: "rev", Checks: hostileChecks(),
		Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 1, Threshold: runplan.ThresholdVerdict},
	}
	var events []record.Event
	add := func(eventType string, payload any) {
		var files map[string][]byte
		if eventType == record.EventChecksCompleted.Name {
			files = map[string][]byte{record.CheckLog("typecheck"): []byte(text)}
		}
		events = append(events, w.append(id, eventType, payload, files))
	}
	add(record.EventRunStarted.Name, plan)
	for n := 1; n <= 2; n++ {
		attempt := record.Attempt{Number: n, Step: "implement", Mode: record.ModeImplement, Agent: "impl", From: head,
			Commit: head, Files: []string{file}}
		add(record.EventAttemptStarted.Name, attempt)
		add(record.EventAttemptCompleted.Name, attempt)
		add(record.EventChecksCompleted.Name, record.CheckRun{Step: "check", Attempt: n, Tree: head,
			Results: []record.CheckResult{
				{Name: "typecheck", Command: hostileChecks()[0].Command, ExitCode: 1 + turn, Tree: string(head), Output: text,
					Failures: []record.CheckFailure{{Test: text, File: text, Line: 1, Message: text}}},
				{Name: "lint", Command: hostileChecks()[2].Command, ExitCode: -1, Reason: text, Tree: string(head)},
			}})
		add(record.EventRoundCompleted.Name, struct {
			record.Round
			Step string `json:"step"`
		}{record.Round{Number: n, Attempt: n, Reviewer: "rev", Commit: head, Tree: head, Report: report,
			Census: record.Census{SentLines: 1}}, "review"})
	}
	run, bad := record.FoldRun(events)
	if len(bad) > 0 {
		w.t.Fatal(bad)
	}
	stop := record.Stop{
		Reason: reason, Detail: text, Round: 2, MaxRounds: 1, At: run.UpdatedAt, Said: text, SaidBy: text,
		Setting: &runplan.Setting{Name: "loop.max_retries", Value: text, From: text}, FailingChecks: []string{text},
	}
	if w.runs%2 == 0 { // the others have no worktree here
		if err := os.MkdirAll(w.tree(id), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	stop, files := diagnose.Explain(run, stop)
	events = append(events, w.append(id, record.EventRunStopped.Name, stop, files))
	if run, bad = record.FoldRun(events); len(bad) > 0 || run.Stop == nil {
		w.t.Fatalf("%s: %v", reason, bad)
	}
	return run
}

// tree returns the worktree of a run.
func (w *pasteWorld) tree(id string) string {
	return w.repo.WorktreeDir(id)
}

// append records an event as the program does.
func (w *pasteWorld) append(run, eventType string, payload any, files map[string][]byte) record.Event {
	w.t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock++
	event := record.Event{
		V: record.FormatVersion, Clock: w.clock, Timestamp: time.Date(2026, 1, 2, 3, 4, int(w.clock%60), 0, time.UTC),
		Type: eventType, Source: "runner", Run: run, Payload: body,
	}
	author := gitstore.Identity{Name: "Ada", Email: "ada@example.com"}
	entry, err := w.repo.Append(context.Background(),
		func(_ context.Context, _ gitstore.Tips, writer string) (gitstore.Record, error) {
			event.Writer = writer
			text, err := json.Marshal(event)
			return gitstore.Record{Author: author, When: event.Timestamp,
				Message: eventType + w.title + "\n\n" + string(text) + "\n", Attachments: files}, err
		})
	if err != nil {
		w.t.Fatal(err)
	}
	event.ID = entry.ID
	return event
}

func suffixOf(n int) string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	s := make([]byte, 6)
	for k := range s {
		s[k] = letters[n%len(letters)]
		n /= len(letters)
	}
	return string(s)
}

// suggested returns the lines to paste from everything that is printed about a stop.
func (w *pasteWorld) suggested(run record.Run) []string {
	w.t.Helper()
	var lines []string
	for _, argv := range [][]string{{"show", run.ID}, {"diagnose", run.ID}, {"diagnose", "--md", run.ID},
		{"continue", run.ID}} {
		out := w.output(argv)
		if strings.ContainsAny(out, "\x1b\x03\x15\x1a\r\u202e") {
			w.t.Errorf("%q prints control characters: %q", argv, out)
		}
		lines = append(lines, pasteable(out)...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// output returns what a command prints on both streams, whatever its status is.
func (w *pasteWorld) output(argv []string) string {
	var out bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &out, err: &out, getenv: os.Getenv, now: time.Now}
	p.run(w.t.Context(), append([]string{"git-runr", "-C", w.dir}, argv...))
	return out.String()
}

var labelled = regexp.MustCompile(
	`^ *(?:[0-9]+\. )?(?:Run|Resume|Answer|Intervene|Audit|Report|Show|Log|Abort|Trust|Next|Check|whole output): `)

var shownEvent = regexp.MustCompile(`^git show [0-9a-f]+:`)

// pasteable returns the commands in a text: lines that begin with git runr or a check's command, with the lines that
// a backslash joins to them.
func pasteable(text string) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "\x00")) {
		line = strings.TrimRight(line, "\n")
		line = strings.TrimSpace(labelled.ReplaceAllString(line, ""))
		if slices.ContainsFunc([]string{"git runr ", "git show ", "cd ", "record ", "sh -c "}, func(s string) bool {
			return strings.HasPrefix(line, s)
		}) {
			lines = append(lines, strings.ReplaceAll(line, "\x00", "\\\n"))
		}
	}
	return lines
}

// paste runs line in every shell. Each must see the same words, which must be those of the run and the configuration,
// and nothing else may happen.
func (w *pasteWorld) paste(shells []string, run record.Run, line string) {
	w.t.Helper()
	key := shownEvent.ReplaceAllString(strings.ReplaceAll(line, run.ID, "RUN"), "git show EVENT:")
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.executed++
	var first []string
	for i, shell := range shells {
		words := w.execute(shell, line)
		if i == 0 {
			first = words
			w.check(run, line, words)
		} else if !slices.Equal(words, first) {
			w.t.Errorf("%s reads %q as %q, %s as %q", filepath.Base(shells[0]), line, first, filepath.Base(shell), words)
		}
	}
}

// execute pastes line into a shell and returns the recorded words.
func (w *pasteWorld) execute(shell, line string) []string {
	w.t.Helper()
	scratch := w.t.TempDir()
	record := filepath.Join(scratch, "record")
	cmd := exec.Command(shell)
	cmd.Dir = scratch
	cmd.Stdin = strings.NewReader(line + "\n")
	if strings.HasPrefix(line, "cd ") {
		cmd.Stdin = strings.NewReader(line + "\nrecord in \"$PWD\"\n")
	}
	cmd.Env = []string{"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + scratch, "RECORD=" + record}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("%s: %q: %v\n%s", shell, line, err, out)
	}
	if _, err := os.Stat(filepath.Join(scratch, "pwned")); err == nil {
		w.t.Errorf("%s: %q executed what a reviewer wrote", shell, line)
	}
	words, _ := os.ReadFile(record)
	return strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
}

// check compares the words of a line with what the line may do.
func (w *pasteWorld) check(run record.Run, line string, words []string) {
	w.t.Helper()
	if len(words) < 2 {
		w.t.Errorf("%q ran nothing: %q", line, words)
		return
	}
	if strings.HasPrefix(line, "cd ") {
		if there := []string{"record", "in", w.tree(run.ID)}; len(words) < 3 || !slices.Equal(words[len(words)-3:], there) {
			w.t.Errorf("%q leads to %q", line, words)
		}
		return
	}
	if words[0] == "record" {
		return // a configured check; the shells are compared
	}
	if words[1] == "show" && words[0] == "git" && len(words) == 3 {
		w.git("show", words[2])
		return
	}
	if words[0] != "git" || words[1] != "runr" {
		w.t.Errorf("%q ran %q", line, words)
	}
	if status := w.accepted(words[2:]); status == int(exit.Usage) || status == int(exit.NotFound) ||
		status == int(exit.Bug) {
		w.t.Errorf("%q ends with %d", line, status)
	}
	for i, word := range words {
		if word == "--cmd" && !slices.ContainsFunc(run.Plan.Checks, func(c runplan.Check) bool {
			return c.Command == words[i+1]
		}) {
			w.t.Errorf("%q offers %q, which is not configured", line, words[i+1])
		}
	}
	if words[2] != "trust" && words[2] != "help" && !slices.Contains(words, run.ID) {
		w.t.Errorf("%q does not name the run", line)
	}
}

// accepted runs the words with the real program in a copy of the repository, with agents that do nothing.
func (w *pasteWorld) accepted(argv []string) int {
	copied := filepath.Join(w.t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-a", w.dir, copied).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	config := "[loop]\nimplementer = \"impl\"\nreviewer = \"rev\"\n[agents.impl]\ncommand = [\"true\"]\n[agents.rev]\n" +
		"command = [\"true\"]\n"
	if err := os.WriteFile(filepath.Join(copied, ".runr.toml"), []byte(config), 0o644); err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &out, err: &out, getenv: os.Getenv, now: time.Now}
	p.run(w.t.Context(), []string{"git-runr", "-C", copied, "-q", "trust", "--yes"})
	out.Reset()
	status := p.run(w.t.Context(), append([]string{"git-runr", "-C", copied}, argv...))
	if status == int(exit.Usage) || status == int(exit.NotFound) || status == int(exit.Bug) {
		w.t.Logf("%q: %s", argv, out.String())
	}
	return status
}
