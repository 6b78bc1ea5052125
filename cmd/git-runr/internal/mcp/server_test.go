package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// TestTools: what clients of several makers need of a tool's description.
func TestTools(t *testing.T) {
	listed, err := newProject(t).chat().ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		a := tool.Annotations
		if a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if a.ReadOnlyHint != (tool.Name == "diagnose") {
			t.Errorf("%s: read only %v", tool.Name, a.ReadOnlyHint)
		}
		body, _ := json.Marshal(tool.InputSchema)
		schema := string(body)
		if !strings.Contains(schema, `"additionalProperties":false`) || strings.Contains(schema, `"null"`) || strings.Contains(schema, `"type":[`) {
			t.Errorf("%s: schema %s", tool.Name, schema)
		}
	}
	slices.Sort(names)
	if want := []string{"diagnose", "review", "review_inbox"}; !slices.Equal(names, want) {
		t.Errorf("tools %v", names)
	}
}

func TestToolsSayThatTheyDoNotBlock(t *testing.T) {
	for _, tool := range []string{reviewTool().Description, inboxTool().Description} {
		wants(t, tool, "It never blocks", "a person answers later")
	}
}

// TestOutsideARepository: the server lives and every tool says what is wrong.
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

// TestServeAnswersBeforeItEnds: a client may ask, close its side, and then read.
func TestServeAnswersBeforeItEnds(t *testing.T) {
	p := newProject(t)
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
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
	wants(t, c.refused("diagnose", args{"id": "nonsense"}), `"nonsense" is no run, review or commit here`)
	wants(t, c.call("diagnose", args{"id": "HEAD"}), "speaks of commit")
}

func TestDiagnoseReview(t *testing.T) {
	p := newProject(t)
	r := p.submitted()
	c := p.chat()
	for _, id := range []string{r.ID, "HEAD"} {
		wants(t, c.call("diagnose", args{"id": id}), "say two")
		if doc := c.document("diagnose", args{"id": id}); doc["review_id"] != r.ID || doc["stop_reason"] != record.ReasonReviewNotPassed {
			t.Errorf("%s: document %v", id, doc)
		}
	}
	calm := p.asked("")
	wants(t, c.call("diagnose", args{"id": calm.ID}), "is open and asks for nothing")
}

func TestDocumentIsBounded(t *testing.T) {
	long := strings.Repeat("x\x1b", 5000)
	doc := document(map[string]any{"text": long, "list": make([]int, 1000), "id": gitstore.ID("abc")}).(map[string]any)
	if text := doc["text"].(string); len(text) > 2*maxString || strings.Contains(text, "\x1b") {
		t.Errorf("text of %d bytes", len(text))
	}
	if n := len(doc["list"].([]any)); n != maxItems {
		t.Errorf("list of %d", n)
	}
	huge := map[string]any{}
	for i := range 200 {
		huge[fmt.Sprint(i)] = long
	}
	if document(huge) != nil {
		t.Error("a huge document is given")
	}
}
