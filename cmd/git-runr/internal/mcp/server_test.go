package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// readingTools lists the tools that record nothing, as their annotations tell clients.
var readingTools = []string{"diagnose", "review_diff", "review_get", "review_list", "review_wait"}

// TestTools: each tool has the annotations and descriptions that the known clients need.
func TestTools(t *testing.T) {
	listed, err := newProject(t).chat().ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var reading, writing []string
	for _, tool := range listed.Tools {
		a := tool.Annotations
		if a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if a.ReadOnlyHint {
			reading = append(reading, tool.Name)
		} else {
			writing = append(writing, tool.Name)
		}
		if a.ReadOnlyHint && !a.IdempotentHint {
			t.Errorf("%s reads, and is not the same twice", tool.Name)
		}
		body, _ := json.Marshal(tool.InputSchema)
		schema := string(body)
		if !strings.Contains(schema, `"additionalProperties":false`) || strings.Contains(schema, `"null"`) ||
			strings.Contains(schema, `"type":[`) {
			t.Errorf("%s: schema %s", tool.Name, schema)
		}
		if tool.OutputSchema != nil {
			t.Errorf("%s has a schema of its results, which no model needs", tool.Name)
		}
	}
	if !slices.Equal(reading, readingTools) {
		t.Errorf("tools that read: %v", reading)
	}
	if want := []string{"review", "review_answer", "review_claim", "review_comment", "review_release", "review_reply",
		"review_resolve", "review_submit"}; !slices.Equal(writing, want) {
		t.Errorf("tools that write: %v", writing)
	}
}

// TestReadOnly: a read-only server has no tool that writes, and reading changes nothing.
func TestReadOnly(t *testing.T) {
	p := newProject(t)
	r := p.submitted()
	s := p.server()
	writing, err := connect(t, p.server()).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Tools.ReadOnly = true
	s = New(s.Tools)
	c := connect(t, s)
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, readingTools) {
		t.Errorf("tools: %v", names)
	}
	tips := func() gitstore.Tips {
		tips, err := p.store().Repo.Tips(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tips
	}
	before := tips()
	for _, tool := range writing.Tools {
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name,
			Arguments: args{"id": r.ID, "action": "claim"}})
		if !tool.Annotations.ReadOnlyHint && (err == nil || !strings.Contains(err.Error(), "unknown tool")) {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	for tool, a := range map[string]args{"review_list": {}, "review_get": {"id": r.ID}, "review_diff": {"id": r.ID},
		"review_wait": {"id": r.ID}, "diagnose": {"id": r.ID}} {
		if text := c.call(tool, a); strings.Contains(text, "review_answer") || strings.Contains(text, "review_claim") {
			t.Errorf("%s names a tool that is not there: %s", tool, text)
		}
	}
	if after := tips(); !maps.Equal(before, after) {
		t.Errorf("something was recorded: %v, %v", before, after)
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "why_did_it_stop" {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	if strings.Contains(c.InitializeResult().Instructions, "review_claim") {
		t.Error("the instructions name a tool that is not there")
	}
}

func TestToolsSayThatTheyDoNotBlock(t *testing.T) {
	listed, err := newProject(t).chat().ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		if slices.Contains([]string{"review", "review_list"}, tool.Name) {
			wants(t, tool.Description, "It never blocks", "a person answers later")
		}
	}
}

// TestOutsideARepository: outside of a repository the server runs, and every tool reports the cause.
func TestOutsideARepository(t *testing.T) {
	p := newProject(t)
	home := p.from
	p.from = t.TempDir()
	c := p.chat()
	for tool, a := range map[string]args{"review": {}, "review_inbox": {"action": "list"}, "diagnose": {}} {
		text := c.refused(tool, a)
		wants(t, text, "not a git repository", "start the agent in a git repository")
		if strings.Contains(text, "\n") {
			t.Errorf("%s: more than a line: %q", tool, text)
		}
	}
	p.from = home
	c.call("review_inbox", args{"action": "list"})
}

func TestErrorsShowControlCharacters(t *testing.T) {
	c := newProject(t).chat()
	text := c.refused("review_inbox", args{"action": "get", "id": "\x1b]0;x\x07"})
	wants(t, text, `Review \x1b]0;x\x07 not found.`)
}

// TestServeAnswersBeforeItEnds: a client may write its requests, close its side, and then read the answers.
func TestServeAnswersBeforeItEnds(t *testing.T) {
	p := newProject(t)
	in := strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"review","arguments":{"reviewer":"human"}}}
`)
	var out strings.Builder
	if err := p.server().Run(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	wants(t, out.String(), `"id":1`, `"id":2`, p.review(record.Latest).ID)
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not the protocol: %q", line)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	p := newProject(t)
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	defer writer.Close()
	out, answers := io.Pipe()
	ended := make(chan error)
	go func() { ended <- p.server().Run(ctx, reader, answers) }()
	fmt.Fprintln(writer, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("no answer")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestDiagnoseWithNothing(t *testing.T) {
	c := newProject(t).chat()
	if text := c.call("diagnose", args{}); text != "No run of the loop has stopped here." {
		t.Errorf("got %q", text)
	}
	wants(t, c.refused("diagnose", args{"id": "nonsense"}), `there is no run, review or commit "nonsense" here`)
	wants(t, c.call("diagnose", args{"id": "HEAD"}), "has no stopped run and no open review")
}

// TestGiven: a chat sees who handed a request to whom.
func TestGiven(t *testing.T) {
	p := newProject(t)
	r := p.asked("")
	given := record.Given{People: []string{"Bob <bob@example.com>"}, Actor: "Ann <ann@example.com>"}
	if _, err := p.store().GiveReview(t.Context(), r.ID, given); err != nil {
		t.Fatal(err)
	}
	wants(t, p.chat().call("review_get", args{"id": r.ID}), "given to Bob <bob@example.com> by Ann <ann@example.com> at ",
		"waiting for: Bob <bob@example.com>")
}

func TestDiagnoseReview(t *testing.T) {
	p := newProject(t)
	r := p.submitted()
	c := p.chat()
	for _, id := range []string{r.ID, "HEAD"} {
		wants(t, c.call("diagnose", args{"id": id}), "say two")
		if doc := c.document("diagnose", args{"id": id}); doc["review_id"] != r.ID ||
			doc["stop_reason"] != record.ReasonReviewNotPassed {
			t.Errorf("%s: document %v", id, doc)
		}
	}
	calm := p.asked("")
	wants(t, c.call("diagnose", args{"id": calm.ID}), "is open, and nobody has answered it")
}

func TestDocumentIsBounded(t *testing.T) {
	long := strings.Repeat("x\x1b", 5000)
	doc := document(map[string]any{"text": long, "list": make([]int, 1000), "none": nil, "id": gitstore.ID("abc")},
		maxHalf).(map[string]any)
	if text := doc["text"].(string); len(text) > 2*maxString || strings.Contains(text, "\x1b") {
		t.Errorf("text of %d bytes", len(text))
	}
	if n := len(doc["list"].([]any)); n != maxItems {
		t.Errorf("list of %d", n)
	}
	if _, there := doc["none"]; there {
		t.Error("a null is given")
	}
	huge := map[string]any{}
	for i := range 200 {
		huge[fmt.Sprint(i)] = long
	}
	if n := jsonSize(document(huge, maxHalf)); n > maxHalf || n < maxHalf/4 {
		t.Errorf("a huge document has %d bytes", n)
	}
}
