package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// stubborn is an implementer that writes another line each time, and a reviewer that never passes it.
type stubborn struct {
	turns  int
	during func(role.ImplementJob) // called while it writes, if not nil
	mumble bool                    // nobody can read its reviews
}

func (b *stubborn) Implement(_ context.Context, job role.ImplementJob) (role.ImplementAnswer, error) {
	b.turns++
	if b.during != nil {
		b.during(job)
	}
	text := fmt.Sprintf("one\n%d\nthree\n", b.turns+10)
	return role.ImplementAnswer{Text: "## TASK COMPLETE <script>xss()</script>",
			Usage: spend.Usage{Calls: 1, Input: 1000, Output: 200, Cost: 0.25}},
		os.WriteFile(filepath.Join(job.Dir, "a.txt"), []byte(text), 0o644)
}

func (b *stubborn) Review(context.Context, role.ReviewJob) (role.ReviewAnswer, error) {
	if b.mumble {
		return role.ReviewAnswer{Raw: "Hm.", Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix,
			Format: reply.FormatUnreadable, Summary: "Hm."}}, nil
	}
	finding := reply.Finding{ID: "f-0123456789", Severity: reply.Warning, File: "a.txt", Line: 2,
		Issue: "no test for <b>xss</b>"}
	return role.ReviewAnswer{Raw: "raw <script>xss()</script>", Report: reply.Report{
		Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: []reply.Finding{finding},
		Requests: []string{finding.Issue}, Warnings: []string{},
	}}, nil
}

func (b *stubborn) Limits() role.Limits { return role.Limits{} }
func (b *stubborn) NeedsCheckout() bool { return false }
func (b *stubborn) Step(string, string) {}
func (b *stubborn) Line(string)         {}
func (b *stubborn) Say(string)          {}
func (b *stubborn) ReportsEdits() bool  { return false }

// stopped returns a run that stopped after its retries.
func (s *site) stopped() record.Run { return s.watched(nil) }

// watched is like stopped, and calls during while the implementer works.
func (s *site) watched(during func(role.ImplementJob)) record.Run {
	return s.carriedOut(&stubborn{during: during})
}

func (s *site) carriedOut(b *stubborn) record.Run {
	s.Helper()
	head, err := s.repo.Head(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	runner := &runner.Runner{
		Store: s.Store, Progress: b, Explain: diagnose.Explain,
		Implementer: func(string) (role.Implementer, *record.Failure) { return b, nil },
		Reviewer:    func(string) (role.Reviewer, *record.Failure) { return b, nil },
		Checker: checking.Checker{
			Run: func(_ context.Context, c runplan.Check, _ string, tree gitstore.ID) record.CheckResult {
				if c.Name == "lint" {
					return record.CheckResult{Name: c.Name, Command: c.Command, ExitCode: 1, Said: "1 <old>", FailsOnBase: true}
				}
				return record.CheckResult{Name: c.Name, Command: c.Command, ExitCode: 1, Said: "2 <failed>", Output: "out\x1b[31m",
					Tree: string(tree)}
			},
			Judge: func(result record.CheckResult, _ *record.CheckResult, _ []string) record.CheckResult { return result },
		},
	}
	run, err := runner.Start(context.Background(), runplan.Plan{
		Entity: runplan.Entity{Type: "task", Identifier: "t", Title: "A task </title><script>xss()</script>"},
		Task:   "# Do <script>xss()</script>",
		Base:   head, Implementer: "bot", Reviewer: "other bot",
		Checks: []runplan.Check{{Name: "test", Command: "go test ./... && echo '<x>'"}, {Name: "lint", Command: "linter"}},
		Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 2, Threshold: runplan.ThresholdVerdict,
			OnExhausted: runplan.ChoiceAsk},
	}, "cli")
	if err != nil {
		s.Fatal(err)
	}
	return run
}

func TestRunPage(t *testing.T) {
	s := newSite(t)
	shows(t, s.page("/runs"), "No run yet")
	run := s.stopped()
	list := s.page("/runs")
	checkHTML(t, list)
	shows(t, list, "/run/"+run.ID, "A task", "needs fix")
	page := s.page("/run/" + run.ID)
	text := checkHTML(t, page)
	shows(t, page, "<svg", "Stopped:", "git runr resume "+run.ID, `class="bad"`, "#entry-1", `id="entry-1"`, "a.txt",
		"<span>agents: 3,600 tokens, $0.75", `<br><span class="meta">1,200 tokens, $0.25</span>`,
		`<span class="tag bad">test: exit 1 (2 &lt;failed&gt;)</span>`,
		`<span class="tag ">lint: exit 1 (1 &lt;old&gt;), as on the base</span>`)
	if !strings.Contains(text, "no test for <b>xss</b>") {
		t.Error("the request is not shown as it was written")
	}
	commands := regexp.MustCompile(`<code>([^<]*)</code><button`).FindAllStringSubmatch(page, -1)
	if len(commands) < 3 {
		t.Errorf("commands to copy: %q", commands)
	}
	for _, left := range regexp.MustCompile(`/run/[^"]*/left/[^"]*`).FindAllString(page, -1) {
		kept := s.page(strings.ReplaceAll(left, "&amp;", "&"))
		checkHTML(t, kept)
		if strings.ContainsRune(kept, '\x1b') {
			t.Errorf("%s holds an escape", left)
		}
	}
	s.ask("GET", "/run/"+run.ID+"/left/"+string(run.Plan.Base)+"?name=a.txt", "", s.asPerson()).want(404)
	s.ask("GET", "/run/nix", "", s.asPerson()).want(404)
}

// A run whose review could not be read says so in the words of the terminal. There is no verdict to show.
func TestRunWithoutVerdict(t *testing.T) {
	s := newSite(t)
	run := s.carriedOut(&stubborn{mumble: true})
	list, page := s.page("/runs"), s.page("/run/"+run.ID)
	shows(t, list, `<span class="pill stopped">stopped</span>`, `<span class="bad">review_parse_failed</span>`,
		">unreadable</span>")
	shows(t, page, `<span class="pill stopped">stopped</span>`, `<span>review_parse_failed</span>`)
	for _, text := range []string{list, page} {
		checkHTML(t, text)
		hides(t, text, ">reviewing<", "needs fix")
	}
}

// While a run is in progress, its page shows the step and the agent's output.
func TestRunNow(t *testing.T) {
	s := newSite(t)
	looked := 0
	run := s.watched(func(job role.ImplementJob) {
		looked++
		fmt.Fprintf(job.Transcript, "begin\n%s\nlook <b>at</b> it\x1b[31m\n", strings.Repeat("é", nowLine))
		latest, err := s.Store.Run(context.Background(), record.Latest)
		if err != nil {
			t.Fatal(err)
		}
		id := latest.ID
		page := s.page("/run/" + id)
		checkHTML(t, page)
		now := s.ask("GET", "/run/"+id+"/now", "", s.asPerson()).want(200).text
		for _, text := range []string{page, now} {
			shows(t, text, fmt.Sprintf("Attempt %d (", looked), "by <b>bot</b>", "look &lt;b&gt;at&lt;/b&gt; it", "é…\n")
			hides(t, text, "\x1b", "\ufffd")
		}
		shows(t, page, ": going on", `<span class="pill running">live`)
		hides(t, page, "begun, not finished", "/do/")
	})
	if looked != 3 {
		t.Errorf("looked %d times", looked)
	}
	s.ask("GET", "/run/"+run.ID+"/now", "", s.asPerson()).want(204)
	s.ask("GET", "/run/nix/now", "", s.asPerson()).want(404)
	page := s.page("/run/" + run.ID)
	shows(t, page, "Attempt 3 of 3.", "(attempt 3 of 3)")
	hides(t, page, "round 3 of 3", `class="now"`)

	// After a resume is requested, the page says so until the run begins, with the process's output.
	events, err := s.Store.RunEvents(context.Background(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.repo.StateDir(), "web"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, s.repo.StateDir(), "web/resume-"+run.ID+".log", "git-runr: there is no agent <bot>\n")
	page = s.page(fmt.Sprintf("/run/%s?resumed=%d", run.ID, len(events)))
	checkHTML(t, page)
	shows(t, page, "resumed in the background", "there is no agent &lt;bot&gt;")
	hides(t, s.page(fmt.Sprintf("/run/%s?resumed=%d", run.ID, len(events)-1)), "resumed in the background",
		"there is no agent")
}

func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if got := lastLines(path, time.Time{}); got != "" {
		t.Errorf("no file: %q", got)
	}
	long := strings.Repeat("0123456789\n", 10_000) + "the end"
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(lastLines(path, time.Time{}), "\n")
	if len(got) != nowSaid || got[0] != "0123456789" || got[nowSaid-1] != "the end" {
		t.Errorf("%q", got)
	}
	if got := lastLines(path, time.Now().Add(time.Hour)); got != "" {
		t.Errorf("of an earlier attempt: %q", got)
	}
}

func TestInterdiff(t *testing.T) {
	s := newSite(t)
	run := s.stopped()
	if len(run.Attempts) < 2 {
		t.Fatalf("%d attempts", len(run.Attempts))
	}
	base := "/run/" + run.ID
	page := s.page(base + "?from=1&to=2")
	checkHTML(t, page)
	shows(t, section(t, page, "a.txt"), ">11</td>", ">12</td>")
	hides(t, section(t, page, "a.txt"), "/comment", "Viewed")
	shows(t, page, `<option value="1" selected>attempt 1`, `<option value="2" selected>attempt 2`)
	shows(t, section(t, s.page(base+"?from=0&to=1"), "a.txt"), "2</", "11</")
	shows(t, s.page(base+"?from=1&to=1"), "Nothing changed")
	shows(t, s.page(base+"?from=x&to=99"), `<option value="0" selected>base`)
	shows(t, s.page(base+"/diff?from=1&to=2&path=a.txt&fragment=1"), ">12</td>")
	shows(t, s.page(base+"/file?from=1&to=2&path=a.txt"), "after the change")
	shows(t, s.page(base+"/diff?from=1&to=2&path=a.txt&blame=1"), `<td class="bl"`,
		"<code>"+run.Attempts[1].Commit.Short()+"</code>")
	s.ask("GET", base+"/diff?from=1&to=2&path=b.txt", "", s.asPerson()).want(404)
}

// Commands that only another clone's log names are not offered for pasting.
func TestForeignCommandsAreNotOffered(t *testing.T) {
	s := newSite(t)
	run := s.stopped()
	v := runView{Run: run}
	pages := &pages{Server: s.Server}
	offered := func(checks ...runplan.Check) bool {
		pages.Checks = checks
		pages.diagnosis(t.Context(), &v)
		for _, a := range v.Diagnosis.SuggestedActions {
			if strings.Contains(a.Command, "go test") {
				return true
			}
		}
		return false
	}
	if !offered() {
		t.Error("the own run's check is not offered")
	}
	v.Run.Writer = "somebody-else"
	if offered() {
		t.Error("a foreign check is offered")
	}
	if !offered(run.Plan.Checks...) {
		t.Error("a check that is trusted here is not offered")
	}
}

func entry(kind string, offset, took time.Duration) diagnose.ReportEntry {
	return diagnose.ReportEntry{Kind: kind, Offset: duration.Duration(offset), Duration: duration.Duration(took),
		Title: kind}
}

func TestPicture(t *testing.T) {
	p := newPicture([]diagnose.ReportEntry{
		entry("started", 0, 0), entry("attempt", time.Second, 10*time.Second), entry("checks", 11*time.Second, 0),
		entry("review", 12*time.Second, 5*time.Second),
		entry("stopped", 17*time.Second, 0), entry("resumed", 20*time.Hour, 0), entry("attempt", 20*time.Hour, time.Second),
		entry("unknown", 20*time.Hour, 0),
	})
	if len(p.Shapes) != 7 || len(p.Lanes) != 4 {
		t.Fatalf("%+v", p)
	}
	last := 0.0
	for _, s := range p.Shapes {
		if s.X < last || s.End() > 100 {
			t.Errorf("%q from %g, %g wide, after %g", s.Title, s.X, s.Width, last)
		}
		last = s.X
	}
	if p.Shapes[1].Width < 33 {
		t.Errorf("the night pushes the work together: %+v", p.Shapes[1])
	}
	if p.Shapes[6].Width < minBar || p.Shapes[2].Width != 0 {
		t.Errorf("%+v", p.Shapes)
	}
	if empty := newPicture(nil); len(empty.Shapes) != 0 || len(empty.Ticks) != 0 {
		t.Errorf("%+v", empty)
	}
	newPicture([]diagnose.ReportEntry{entry("started", 0, 0)})
}

// Beside an attempt stand its prompt and its transcript, folded by the events of its agent.
func TestRunKept(t *testing.T) {
	s := newSite(t)
	run := s.watched(func(job role.ImplementJob) {
		fmt.Fprintln(job.Transcript,
			`{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"cat <a>","aggregated_output":"one\ntwo <b>\u001b[31m","exit_code":0,"status":"completed"}}`)
	})
	page := s.page("/run/" + run.ID)
	checkHTML(t, page)
	at := "/run/" + run.ID + "/kept/"
	shows(t, page, at+"attempt-1.prompt.md", at+"attempt-3.log", "<summary>Transcript</summary>")
	prompt := s.page(at + "attempt-1.prompt.md")
	checkHTML(t, prompt)
	shows(t, prompt, "# Do &lt;script&gt;xss()&lt;/script&gt;")
	transcript := s.page(at + "attempt-1.log")
	checkHTML(t, transcript)
	shows(t, transcript, `<details class="told"><summary>`, "cat &lt;a&gt;</summary>", "two &lt;b&gt;")
	hides(t, transcript, "\x1b")
	hides(t, s.page(at+"attempt-1.log?fragment=1"), "<html")
	for _, name := range []string{"attempt-9.log", "attempt-0.log", "started", "..%2Fx", "review-1.prompt.md"} {
		s.ask("GET", at+name, "", s.asPerson()).want(404)
	}
	s.ask("GET", at+"attempt-1.log", "").want(401)
	write(t, s.repo.StateDir(), "runs/"+run.ID+"/attempt-1.log", strings.Repeat("0123456789\n", 200_000))
	long := s.page(at + "attempt-1.log")
	shows(t, long, "bytes before</a>")
	hides(t, s.page(at+"attempt-1.log?until=100"), "bytes before")
}

// A review that a run asks for names the run, the round, and how the run's checks of the change ended.
func TestReviewOfRun(t *testing.T) {
	s := newSite(t)
	run := s.stopped()
	subject, err := s.Store.Subject(context.Background(), string(run.Head()))
	if err != nil {
		t.Fatal(err)
	}
	request := record.ReviewRequest{Reviewer: record.Human, Subject: subject, Run: run.ID, Round: 2}
	made, err := s.Store.RequestReview(context.Background(), request, "run")
	if err != nil {
		t.Fatal(err)
	}
	page := s.page("/review/" + made.ID)
	checkHTML(t, page)
	shows(t, page, `round 2 of <a href="/run/`+run.ID, `<span class="tag bad">test: exit 1`,
		`<span class="tag ">lint: exit 1`)
	request.Run = "20260101000000-absent"
	if made, err = s.Store.RequestReview(context.Background(), request, "run"); err != nil {
		t.Fatal(err)
	}
	hides(t, s.page("/review/"+made.ID), "test: exit 1")
}
