package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

func diffOf(s record.Subject) gitstore.DiffSpec { return gitstore.DiffSpec{From: s.Base, To: s.Tree} }

// TestReviewByAnAgent: an agent drafts comments, submits them, and handles the result, as a person does.
func TestReviewByAnAgent(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\ntwo\n")
	p.commit("second")
	id := p.asked("").ID
	c := p.chat()
	text := c.call("review_comment", args{"id": id, "file": "a.txt", "line": 2, "severity": "critical",
		"text": "not three"})
	wants(t, text, "to your draft of review "+id+", on a.txt:2 (1 comment)")
	if r := p.review(id); r.Status != record.ReviewOpen {
		t.Errorf("a draft made the review %s", r.Status)
	}
	doc := c.document("review_submit", args{"id": id, "verdict": "request_changes", "message": "nearly",
		"comments": []args{{"file": "a.txt", "text": "a file"}, {"text": "on the whole", "severity": "note"},
			{"file": "a.txt", "line": 1, "side": "old", "text": "it was so"}}})
	if doc["status"] != "submitted" || len(doc["unanswered"].([]any)) != 4 {
		t.Errorf("document %v", doc)
	}
	r := p.review(id)
	sub := r.Submissions[0]
	if !strings.HasPrefix(sub.Reviewer, "tester/1-") || sub.Decision != record.RequestChanges ||
		sub.Report.Summary != "nearly" || len(sub.Comments) != 4 {
		t.Errorf("submission %+v", sub)
	}
	if first := sub.Comments[0]; first.SelectedText != "two" || first.Severity != reply.Critical || first.Blob == "" {
		t.Errorf("comment %+v", first)
	}
	if p.closed.Load() == 0 {
		t.Error("the notes were not brought up to date: the step was another one than the command's")
	}
	if text := c.refused("review_submit", args{"id": id, "verdict": "comment"}); !strings.Contains(text,
		"nothing to submit") {
		t.Errorf("the draft is still there: %s", text)
	}
}

func TestReviewByAnAgentRefuses(t *testing.T) {
	p := newProject(t)
	id := p.asked("").ID
	c := p.chat()
	for _, tt := range []struct {
		tool string
		args args
		want string
	}{
		{"review_comment", args{"id": id, "file": "a.txt", "line": 9, "text": "x"}, `"a.txt" has 1 line, no line 9`},
		{"review_comment", args{"id": id, "file": "gone.txt", "text": "x"}, "gone.txt"},
		{"review_comment", args{"id": id, "line": 1, "text": "x"}, "file is required with line"},
		{"review_comment", args{"id": id, "file": "a.txt", "text": " "}, "text is missing"},
		{"review_comment", args{"id": id, "file": "a.txt", "severity": "awful", "text": "x"}, "severity"},
		{"review_submit", args{"id": id, "verdict": "approve"}, "only people approve"},
		{"review_submit", args{"id": id, "verdict": "maybe"}, "verdict"},
		{"review_submit", args{"id": id, "verdict": "comment", "comments": []args{{"file": "a.txt", "line": 7, "text": "x"}}},
			"comments[0]: "},
		{"review_submit", args{"id": "nothing", "verdict": "comment"}, "Review nothing not found"},
	} {
		wants(t, c.refused(tt.tool, tt.args), tt.want)
	}
	if r := p.review(id); r.Status != record.ReviewOpen {
		t.Errorf("the review is %s", r.Status)
	}
}

// waitingFor returns a review that is requested from an agent.
func (p *project) waitingFor(agent string) string {
	p.t.Helper()
	store := p.store()
	subject, err := store.Subject(p.t.Context(), "HEAD")
	if err != nil {
		p.t.Fatal(err)
	}
	review, err := store.RequestReview(p.t.Context(), record.ReviewRequest{Subject: subject, Reviewer: agent}, "cli")
	if err != nil {
		p.t.Fatal(err)
	}
	return review.ID
}

// TestWait: a wait reports progress and ends with the review.
func TestWait(t *testing.T) {
	p := newProject(t)
	id := p.waitingFor("builtin")
	told := make(chan *sdk.ProgressNotificationParams, 100)
	c := p.chatOf(
		&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			told <- req.Params
		}})
	params := &sdk.CallToolParams{Name: "review_wait", Arguments: args{"id": id, "timeout_seconds": 600}}
	params.SetProgressToken("here")
	ended := make(chan string)
	go func() {
		result, err := c.CallTool(t.Context(), params)
		if err != nil {
			ended <- err.Error()
			return
		}
		ended <- result.Content[0].(*sdk.TextContent).Text
	}()
	if first := <-told; first.ProgressToken != "here" || first.Message != "waiting for builtin" || first.Total != 600 {
		t.Errorf("progress %+v", first)
	}
	sub := record.Submission{Reviewer: "builtin", Outcome: record.OutcomeFailed,
		Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix,
			Findings: []reply.Finding{{Severity: reply.Warning, File: "a.txt", Line: 1, Issue: "Hm"}}}}
	reply.Identify(sub.Report.Findings)
	if _, err := p.store().SubmitReview(t.Context(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	wants(t, <-ended, "is submitted: NEEDS_FIX.\n\n# Review ", "warning, a.txt:1: Hm")

	// Reviews of people are not waited for, and a timeout must be valid.
	asked := p.asked("").ID
	wants(t, c.call("review_wait", args{"id": asked}), "waits for human. This tool does not wait for people")
	if doc := c.document("review_wait", args{"id": asked}); doc["done"] != false ||
		fmt.Sprint(doc["waiting_for"]) != "[human]" {
		t.Errorf("a review that waits for a person: %v", doc)
	}
	p.submit(asked, record.Person{Decision: record.Approve})
	if doc := c.document("review_wait", args{"id": asked}); doc["done"] != true {
		t.Errorf("a review that a person approved: %v", doc)
	}
	late := p.waitingFor("builtin")
	wants(t, c.call("review_wait", args{"id": late, "timeout_seconds": 1}), "is not done after 1s: it waits for builtin")
	if doc := c.document("review_wait", args{"id": late, "timeout_seconds": 1}); doc["done"] != false {
		t.Errorf("document %v", doc)
	}
}

// TestWaitForRun: a wait for a run lasts until the run ends, as long as a process works on it.
func TestWaitForRun(t *testing.T) {
	p := newProject(t)
	store := p.store()
	head, err := store.Repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.BeginRun(t.Context(), "cli", "task", runplan.Plan{Base: head},
		func(now time.Time) (time.Time, time.Time) { return now, now })
	if err != nil {
		t.Fatal(err)
	}
	c := p.chat()
	wants(t, c.call("review_wait", args{"id": run.ID}), "nothing works on it in this clone", "git runr resume "+run.ID)
	free, err := workspace.HoldRun(store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, c.call("review_wait", args{"id": run.ID, "timeout_seconds": 1}),
		"Run "+run.ID+" is not done after 1s: it goes on")
	if doc := c.document("review_wait", args{"id": run.ID, "timeout_seconds": 1}); doc["done"] != false ||
		doc["run_id"] != run.ID || doc["status"] != "running" {
		t.Errorf("a run that goes on: %v", doc)
	}
	if _, err := store.RunEvent(t.Context(), run, record.EventRunAborted.New("cli", "", struct{}{})); err != nil {
		t.Fatal(err)
	}
	free()
	wants(t, c.call("review_wait", args{"id": run.ID[len(record.IDTime)+1:]}), "Run "+run.ID+" is aborted")
	if doc := c.document("review_wait", args{"id": run.ID}); doc["done"] != true {
		t.Errorf("a run that ended: %v", doc)
	}
	wants(t, c.refused("review_wait", args{"id": "nonsense"}), "nonsense not found")
}

// TestWaitIsCancelled: a cancelled wait ends on the server, which answers the next call.
func TestWaitIsCancelled(t *testing.T) {
	p := newProject(t)
	id := p.waitingFor("builtin")
	s := p.server()
	open, closed := s.Open, make(chan bool, 10)
	s.Tools.Open = func(ctx context.Context) (*screens.Project, error) {
		project, err := open(ctx)
		if err == nil {
			end := project.Close
			project.Close = func() { end(); closed <- true }
		}
		return project, err
	}
	c := connect(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "review_wait", Arguments: args{"id": id, "timeout_seconds": 600}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	<-closed
	c.call("review_list", args{})
}

func TestPrompts(t *testing.T) {
	p := newProject(t)
	c := p.chat()
	prompt := func(name string, a map[string]string) (string, error) {
		got, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: a})
		if err != nil {
			return "", err
		}
		return got.Messages[0].Content.(*sdk.TextContent).Text, nil
	}
	if _, err := prompt("address_review", nil); err == nil ||
		!strings.Contains(err.Error(), "No review waits to be addressed") {
		t.Errorf("nothing to address: %v", err)
	}
	first, second := p.submitted(), p.submitted()
	for id, a := range map[string]map[string]string{second.ID: nil, first.ID: {"id": first.ID}} {
		text, err := prompt("address_review", a)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, text, "Address review "+id, `review_claim {"id": "`+id+`"}`, "review_answer", "review_resolve")
	}
	text, err := prompt("review_change", map[string]string{"revision": "HEAD~1"})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, text, `review {"reviewer":"human","revision":"HEAD~1"}`, "review_diff", "review_submit")
	if text, err = prompt("why_did_it_stop", nil); err != nil ||
		text != "Tell the user: No run of the loop has stopped here." {
		t.Errorf("%q, %v", text, err)
	}
	if text, err = prompt("why_did_it_stop", map[string]string{"id": first.ID}); err != nil {
		t.Fatal(err)
	}
	wants(t, text, "say two", "Change nothing")
}

// TestCancelledCallIsOver: a cancelled call is answered as cancelled. If the server's input then ends, the server
// does not wait for the call's result.
func TestCancelledCallIsOver(t *testing.T) {
	p := newProject(t)
	wait := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"review_wait","arguments":{"id":"` +
		p.waitingFor("builtin") + `","timeout_seconds":600}}}`
	for _, answer := range talk(t, p.server(), wait,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"no more"}}`) {
		if string(answer.ID) == "2" {
			if answer.Error.Message == "" { // otherwise it was cancelled before it began
				wants(t, string(answer.Result), "Error: cancelled.", `"isError":true`)
			} else {
				wants(t, answer.Error.Message, "canceled")
			}
			return
		}
	}
	t.Error("it is still waited for")
}
