package runrimport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// importNow is the time at which the cases' timelines are imported.
var importNow = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// TestImportCases imports the timelines of testdata/import. An archive contains the timeline,
// the expected result in want, and optionally checks (one "NAME: COMMAND" per line) and
// options ("crlf", "bom").
func TestImportCases(t *testing.T) {
	casetest.Run(t, "import", func(t *testing.T, c casetest.Case) {
		var got strings.Builder
		timeline, err := Read(strings.NewReader(timeline(c)))
		if err != nil {
			fmt.Fprintf(&got, "error: %v\n", err)
		}
		for _, warning := range timeline.Warnings {
			fmt.Fprintf(&got, "warning: %s\n", warning)
		}
		if err == nil {
			writeImportedRun(t, &got, c, timeline)
		}
		if casetest.Update() {
			writeText(t, c, got.String())
		} else if want := c.File("want"); got.String() != want {
			t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
		}
	})
}

// timeline returns the case's input. Bytes that a text file should not contain are written as
// (BAD BYTE) and (ESC).
func timeline(c casetest.Case) string {
	text, options := c.File("timeline"), c.File("options")
	text = strings.NewReplacer("(BAD BYTE)", "\xff", "(ESC)", "\x1b").Replace(text)
	if strings.Contains(options, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.Contains(options, "bom") {
		text = "\uFEFF" + text
	}
	return text
}

func writeText(t *testing.T, c casetest.Case, want string) {
	t.Helper()
	files := c.Archive.Files[:0:0]
	for _, f := range c.Archive.Files {
		if f.Name != "want" {
			files = append(files, f)
		}
	}
	c.Archive.Files = append(files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(c.Path, txtar.Format(c.Archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

// importTestPlan returns the local configuration for a case.
func importTestPlan(c casetest.Case) runplan.Plan {
	plan := runtest.Plan()
	for line := range strings.Lines(c.File("checks")) {
		name, command, _ := strings.Cut(strings.TrimSpace(line), ": ")
		plan.Checks = append(plan.Checks, runplan.Check{Name: name, Command: command})
	}
	return plan
}

// importForTest imports a timeline as a run, without a repository.
func importForTest(t testing.TB, timeline Timeline, plan runplan.Plan) ([]record.NewEvent, record.Run) {
	t.Helper()
	timeline.describe(&plan)
	start := runtest.EventAt(1, record.EventRunStarted.Name, plan)
	_, at := timeline.began(importNow)
	start.Run, start.Timestamp = runtest.Run, at
	run, bad := record.FoldRun([]record.Event{start})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	drafts, err := importRun(run, timeline, importNow, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range drafts {
		event := runtest.EventAt(i+2, d.Type, d.Payload)
		event.Run, event.Timestamp = runtest.Run, d.At
		if err := run.Apply(event); err != nil {
			t.Fatal(err)
		}
	}
	if len(run.Lost) > 0 || !run.Done() {
		t.Fatalf("status %s, lost %+v", run.Status, run.Lost)
	}
	return drafts, run
}

// writeImportedRun writes a description of an imported run, for a case's want.
func writeImportedRun(t *testing.T, w io.Writer, c casetest.Case, source Timeline) {
	drafts, run := importForTest(t, source, importTestPlan(c))
	fmt.Fprintf(w, "run %q: %d events, %d kept as text; %s %q, max_retries %d\n", markless(source, source.ID), source.Read,
		source.Kept,
		markless(source, run.Plan.Entity.Identifier), run.Plan.Entity.Title, run.Plan.Policy.MaxRetries)
	for _, d := range drafts {
		fmt.Fprintf(w, "  %s %s: %s%s\n", d.At.Format("15:04:05"), d.Type, prose.OneLine(d.Title), attachedNames(d))
		writeDraft(w, d)
	}
	fmt.Fprintf(w, "  = %s %s; %s\n", run.Status, run.Result, afterImport(run))
}

// markless returns id, or (mark) for the name that a timeline without an id gets.
func markless(source Timeline, id string) string {
	if !source.named && id == source.ID {
		return "(mark)"
	}
	return id
}

func attachedNames(d record.NewEvent) string {
	text := ""
	for _, name := range []string{"executor.md", "review.md", keptFile} {
		if d.Attachments[name] != nil {
			text += " [" + name + "]"
		}
	}
	return text
}

func writeDraft(w io.Writer, d record.NewEvent) {
	switch p := d.Payload.(type) {
	case record.Attempt:
		if d.Type == record.EventAttemptCompleted.Name {
			fmt.Fprintf(w, "    %s by %s, %s; files %q claimed %q; %s\n", p.Status, p.Agent, time.Duration(p.Duration), p.Files,
				p.Claimed, p.Commit)
			fmt.Fprintf(w, "    showed %q\n", p.Verification)
		}
	case record.CheckRun:
		for _, r := range p.Results {
			fmt.Fprintf(w, "    attempt %d: %s = %q exit %d %s\n", p.Attempt, r.Name, r.Command, r.ExitCode, r.Reason)
		}
	case record.RoundPayload:
		fmt.Fprintf(w, "    attempt %d, %s, %s\n", p.Attempt, p.Report.Format, time.Duration(p.Duration))
		for _, r := range p.Report.Requests {
			fmt.Fprintf(w, "    asks %q\n", r)
		}
	case record.StopPayload:
		fmt.Fprintf(w, "    %s %d/%d; %q; last activity %s; note on %q\n", p.Reason, p.Round, p.MaxRounds, p.Detail,
			p.LastActivity.Format("15:04:05"), p.Commit)
		for _, r := range p.Unmet {
			fmt.Fprintf(w, "    unmet %q\n", r)
		}
	}
}

// afterImport returns the first step of a resumed run.
func afterImport(run record.Run) string {
	if run.Status == record.RunCompleted {
		return "nothing follows"
	}
	if err := run.Apply(runtest.EventAt(1, record.EventRunResumed.Name, struct{}{})); err != nil {
		return err.Error()
	}
	step := runner.Next(run, run.Plan.Policy)
	return fmt.Sprintf("resumes with %s %d %s", step.Action, step.Number, step.Mode)
}

// TestImportedRunsNeverPassByThemselves: resuming a run never reviews, undoes or passes work that
// is not here.
func TestImportedRunsNeverPassByThemselves(t *testing.T) {
	for _, c := range casetest.Read(t, "import") {
		timeline, err := Read(strings.NewReader(timeline(c)))
		if err != nil {
			continue
		}
		_, run := importForTest(t, timeline, importTestPlan(c))
		if next := afterImport(run); run.Status != record.RunCompleted && !strings.HasPrefix(next, "resumes with attempt") {
			t.Errorf("%s: %s", c.Path, next)
		}
	}
}

func TestReadTimelineReportsTheReader(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := io.MultiReader(strings.NewReader("{\"type\":\"run_started\"}\n"), errReader{broken})
	if _, err := Read(r); !errors.Is(err, broken) || errors.Is(err, ErrNoTimeline) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestTimelineIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range maxRecorded {
		fmt.Fprintf(&b, `{"seq":%d,"type":"implement_complete","payload":{"handoff_memo":"done"}}`+"\n", i+2)
	}
	timeline, err := Read(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	run, _ := record.FoldRun([]record.Event{runtest.EventAt(1, record.EventRunStarted.Name, runtest.Plan())})
	if made, err := importRun(run, timeline, importNow, nil); err == nil || len(made) > maxRecorded {
		t.Errorf("%d events, %v", len(made), err)
	}
}

func TestReadTimelineNamesOneLine(t *testing.T) {
	timeline, err := Read(strings.NewReader(strings.Repeat("no\n", 100) + `{"type":"stop"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"100 lines could not be read, first line 1: not a JSON object"}
	if !slices.Equal(timeline.Warnings, want) || !strings.HasPrefix(string(timeline.kept), "no\nno\n") {
		t.Errorf("warnings %q, kept %q", timeline.Warnings, string(timeline.kept))
	}
}

func TestNativeReason(t *testing.T) {
	known := map[string]bool{}
	for _, r := range record.Reasons() {
		known[r.Code] = true
	}
	for code, want := range map[string]string{
		"review_loop_detected": record.ReasonReviewLoop, "verification_failed": record.ReasonChecksFailed,
		"max_ticks_reached":   record.ReasonBudget,
		"ownership_violation": record.ReasonScope, "stalled_timeout": record.ReasonAgentIdle, "": record.ReasonInterrupted,
		"parallel_file_collision": "parallel_file_collision", "$(rm -rf ~) \x1b[2J": "rm__rf______2j",
	} {
		if got := nativeReason(code); got != want {
			t.Errorf("nativeReason(%q) = %q, want %q", code, got, want)
		}
	}
	for _, reason := range sourceReasons {
		if !known[reason] {
			t.Errorf("%q is not in the registry", reason)
		}
	}
}

// seedTimeline is a run that stopped in a loop, with times before importNow.
const seedTimeline = `{"seq":1,"timestamp":"2026-01-06T12:00:00Z","type":"run_started","source":"cli","payload":{"task":"tasks/add.md"}}
{"seq":2,"timestamp":"2026-01-06T12:00:01Z","type":"phase_start","source":"supervisor","payload":{"phase":"IMPLEMENT"}}
{"seq":3,"timestamp":"2026-01-06T12:05:00Z","type":"implement_complete","source":"codex","payload":{"changed_files":["a.ts"],"handoff_memo":"token ghp_0123456789abcdefghijABCDEFGHIJ012345"}}
{"seq":4,"timestamp":"2026-01-06T12:06:00Z","type":"verification","source":"verifier","payload":{"tier":"tier0","ok":false,"commands":["npm run typecheck"],"command_results":[{"command":"npm run typecheck","exit_code":2,"output":"Found 3 errors."}],"duration_ms":10}}
{"seq":5,"timestamp":"2026-01-06T12:07:00Z","type":"review_complete","source":"claude","payload":{"status":"request_changes","changes":["Fix type errors"]}}
{"seq":6,"timestamp":"2026-01-06T12:07:01Z","type":"review_loop_detected","source":"supervisor","payload":{"milestone_index":0,"review_rounds":3,"max_review_rounds":2,"reviewer_requests":["Fix type errors"],"commands_to_satisfy":["npm run typecheck; rm -rf ~"]}}
{"seq":7,"timestamp":"2026-01-06T12:07:02Z","type":"stop","source":"supervisor","payload":{"reason":"review_loop_detected"}}
`

// importOf imports text into s.
func importOf(t *testing.T, s *store.Store, text string, again bool) (record.Run, bool) {
	t.Helper()
	ctx := context.Background()
	timeline, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plan := runtest.Plan()
	if plan.Base, err = s.Repo.Head(ctx); err != nil {
		t.Fatal(err)
	}
	plan.Checks = []runplan.Check{{Name: "typecheck", Command: "npm run typecheck"}}
	timeline.ID = "20260106120000"
	run, imported, err := Import(ctx, s, timeline, plan, again,
		func(_ record.Run, stop record.Stop) (record.Stop, map[string][]byte) {
			return stop, map[string][]byte{"stop_diagnostics.json": []byte("{}\n")}
		})
	if err != nil {
		t.Fatal(err)
	}
	return run, imported
}

func importStore(t *testing.T) *store.Store {
	t.Helper()
	s := runtest.NewStore(t)
	s.Now = func() time.Time { return importNow }
	s.Redact = func(text string) string {
		return strings.ReplaceAll(text, "ghp_0123456789abcdefghijABCDEFGHIJ012345", "(secret)")
	}
	ref, err := s.Repo.Branch(context.Background())
	if err == nil {
		err = s.Repo.SwapRef(context.Background(), ref, runtest.Commit(t, s, "first"), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestImportRecordsWhatHappened(t *testing.T) {
	s, ctx := importStore(t), context.Background()
	made, _ := importOf(t, s, seedTimeline, false)
	run, err := s.Run(ctx, "20260106120000") // the other system's id finds it
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 6, 12, 0, 0, 0, time.UTC)
	if run.ID != made.ID || run.Status != record.RunReviewing || run.Plan.Imported != "20260106120000" ||
		!run.CreatedAt.Equal(at) {
		t.Errorf("run %s is %s of %q, from %s", run.ID, run.Status, run.Plan.Imported, run.CreatedAt)
	}
	if a := run.Attempts[0]; !a.StartedAt.Equal(at.Add(time.Second)) || !a.EndedAt.Equal(at.Add(5*time.Minute)) ||
		a.Verification != "token (secret)" {
		t.Errorf("attempt %+v", a)
	}
	if stop := run.Stop; stop.Round != 3 || stop.MaxRounds != 2 ||
		!reflect.DeepEqual(stop.Unmet, []string{"Fix type errors"}) || stop.Commands != nil ||
		!stop.LastActivity.Equal(at.Add(7*time.Minute)) {
		t.Errorf("stop %+v", stop)
	}
	events, err := s.RunEvents(ctx, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	last := events[len(events)-1].ID
	if text, err := s.Attachment(ctx, last, "stop_diagnostics.json"); err != nil || string(text) != "{}\n" {
		t.Errorf("stop_diagnostics.json: %q, %v", text, err)
	}
	entry, err := s.Repo.Entry(ctx, last)
	if err != nil || !strings.Contains(entry.Message, "Runr-Status: reviewing\n") || !entry.When.Equal(importNow) {
		t.Errorf("entry of %s: %v\n%s", entry.When, err, entry.Message)
	}
}

func TestImportTwice(t *testing.T) {
	s := importStore(t)
	first, _ := importOf(t, s, seedTimeline, false)
	if second, imported := importOf(t, s, seedTimeline, false); second.ID != first.ID || imported {
		t.Errorf("second import: %s after %s", second.ID, first.ID)
	}
	if third, imported := importOf(t, s, seedTimeline, true); third.ID == first.ID || !imported {
		t.Errorf("again: %s after %s", third.ID, first.ID)
	}
	other := strings.Replace(seedTimeline, "2026-01-06T12:06", "2026-01-06T12:05", 1)
	if _, imported := importOf(t, s, other, false); imported {
		t.Error("a timeline that says something else of the same run was imported")
	}
}

// TestUnknownEventsAreKept: a type that is not known, and a line that cannot be read, are text of the last event.
func TestUnknownEventsAreKept(t *testing.T) {
	s, ctx := importStore(t), context.Background()
	unknown := `{"seq":8,"type":"run_landed","payload":{"commit":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`
	run, _ := importOf(t, s, unknown+"\nnot json\n"+seedTimeline, false)
	events, err := s.RunEvents(ctx, run.ID)
	if err != nil || run.Landed != nil {
		t.Fatal(run.Landed, err)
	}
	kept, err := s.Attachment(ctx, events[len(events)-1].ID, keptFile)
	if want := `{"seq":8,"type":"run_landed","payload":{"commit":"(secret)"}}` + "\nnot json\n"; string(kept) != want ||
		err != nil {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// FuzzReadTimeline: any bytes give events of bounded size, in valid UTF-8, the same each time,
// and a run that needs no repair.
func FuzzReadTimeline(f *testing.F) {
	for _, c := range casetest.Read(f, "import") {
		if text := timeline(c); len(text) < 64<<10 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		timeline, err := Read(bytes.NewReader(data))
		again, errAgain := Read(bytes.NewReader(data))
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(timeline, again) {
			t.Fatalf("two readings differ:\n%+v\n%+v", timeline, again)
		}
		if err == nil && timeline.Read == 0 || err != nil && !errors.Is(err, ErrNoTimeline) {
			t.Fatalf("%d events, %v", timeline.Read, err)
		}
		if len(timeline.Warnings) > 2 || !utf8.ValidString(strings.Join(timeline.Warnings, "")+string(timeline.kept)) {
			t.Fatalf("warnings %q", timeline.Warnings)
		}
		if err == nil {
			checkForeignRun(t, timeline, len(data))
		}
	})
}

func checkForeignRun(t *testing.T, source Timeline, size int) {
	if source.ID == "" || len(source.ID) > 200 || source.Read != len(source.events) || source.Kept > source.Read {
		t.Fatalf("run %+v", source)
	}
	drafts, run := importForTest(t, source, runtest.Plan())
	for _, d := range drafts {
		body, err := record.Event{Type: d.Type, Payload: runtest.EventAt(1, d.Type, d.Payload).Payload,
			Title: d.Title}.CommitText("")
		if err != nil || !utf8.ValidString(body) || len(body) > 8*size+32<<10 {
			t.Fatalf("event of %d bytes from %d, %v", len(body), size, err)
		}
	}
	if next := afterImport(run); run.Status != record.RunCompleted && !strings.HasPrefix(next, "resumes with attempt") {
		t.Fatalf("a stopped run %s", next)
	}
	if len(run.Plan.Checks) > 0 || run.Stop != nil && len(run.Stop.Commands) > 0 {
		t.Fatalf("a command out of nowhere: %+v", run.Plan)
	}
}
