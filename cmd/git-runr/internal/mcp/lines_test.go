package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	helloLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"lines","version":"1"}}}`
	readyLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// talk writes lines to a server and reads its answers.
func talk(t *testing.T, s *Server, lines ...string) []wireAnswer {
	t.Helper()
	var out bytes.Buffer
	in := strings.Join(append([]string{helloLine, readyLine}, lines...), "\n")
	if err := s.Run(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Errorf("%.80q: the server ended with %v", lines, err)
	}
	var all []wireAnswer
	for line := range strings.Lines(out.String()) {
		var a wireAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Version != "2.0" {
			t.Errorf("%v in %q", err, line)
		}
		all = append(all, a)
	}
	return all
}

type wireAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// TestLinesThatAreNoMessages: each invalid line is answered, and so is the next message.
func TestLinesThatAreNoMessages(t *testing.T) {
	p := newProject(t)
	for _, c := range []struct {
		line string
		code int    // 0: no answer
		id   string // id of the answer
	}{
		{"hello", -32700, "null"},
		{"{", -32700, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"`, -32700, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"} {"jsonrpc":"2.0","id":8,"method":"ping"}`, -32700, "null"},
		{"\x00\xff\x1b[31m", -32700, "null"},
		{strings.Repeat("[", 100_000), -32700, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", maxLine) + `"}}`, -32700, "null"},
		{"42", -32600, "null"},
		{"null", -32600, "null"},
		{"{}", -32600, "null"},
		{"[]", -32600, "null"},
		{"[1]", -32600, "null"},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
		{`{"jsonrpc":"2.0","id":"a","method":3}`, -32600, `"a"`},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, -32600, "1e999"},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "true"},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 100_000) + `","method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 100_000) + `"}`, -32601, "7"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 100_000) + `"}}`, -32602,
			"7"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":7}`, -32602, "7"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":3}}`, -32602, "7"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"review_get","arguments":[1]}}`, -32602, "7"},
		{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":[]}`, -32602, "7"},
		{`{"jsonrpc":"2.0","id":7}`, 0, ""},
		{`{"jsonrpc":"2.0","id":99,"result":{}}`, 0, ""},
		{`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"no"}}`, 0, ""},
		{`{"jsonrpc":"2.0","method":"notifications/unheard-of"}`, 0, ""},
		{"", 0, ""},
		{"  \t\r", 0, ""},
	} {
		got := talk(t, p.server(), c.line, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\r")
		got = slices.DeleteFunc(got, func(a wireAnswer) bool { return string(a.ID) == "1" })
		last := slices.IndexFunc(got, func(a wireAnswer) bool {
			return string(a.ID) == "2" && strings.Contains(string(a.Result), "review_submit")
		})
		if last < 0 {
			t.Errorf("%.80q: what came after it was not answered: %+v", c.line, got)
			continue
		}
		got = slices.Delete(got, last, last+1)
		switch {
		case c.code == 0 && len(got) > 0:
			t.Errorf("%.80q: %+v, want no answer", c.line, got)
		case c.code != 0 &&
			(len(got) != 1 || got[0].Error.Code != c.code || string(got[0].ID) != c.id || !plainSentence(got[0].Error.Message)):
			t.Errorf("%.80q: %+v, want %d for %s", c.line, got, c.code, c.id)
		}
	}
}

// plainSentence reports whether an error is one short sentence without names of Go types.
func plainSentence(text string) bool {
	return text != "" && len(text) <= 2*maxString &&
		!regexp.MustCompile(`Go |jsonrpc2|struct|unmarshal|\n`).MatchString(text)
}

// TestBeforeInitialize: a request before initialize is refused with an error code of the standard.
func TestBeforeInitialize(t *testing.T) {
	var out bytes.Buffer
	if err := newProject(t).server().Run(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`),
		&out); err != nil {
		t.Error(err)
	}
	wants(t, out.String(), `"id":3`, `"code":-32600`, "initialize comes first")
}

// TestLinesInBatches: several messages in one line are answered one by one.
func TestLinesInBatches(t *testing.T) {
	got := talk(t, newProject(t).server(),
		`[{"jsonrpc":"2.0","id":2,"method":"ping"},7,{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":3}]`)
	var ids []string
	for _, a := range got {
		ids = append(ids, fmt.Sprintf("%s %d", a.ID, a.Error.Code))
	}
	slices.Sort(ids)
	if want := []string{"1 0", "2 0", "3 0", "null -32600"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}

// FuzzMessages: whatever a client writes, each line is either passed on or answered. Each passed line is one message.
func FuzzMessages(f *testing.F) {
	for _, line := range []string{helloLine, readyLine, "hello", "[]", "[" + readyLine + ",7]",
		`{"jsonrpc":"2.0","id":{},"method":"x"}`, " \r\n\n", "\x00\xff", `{"id":1}` + "\n" + helloLine} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var answers bytes.Buffer
		passed, err := io.ReadAll(newMessages(bytes.NewReader(in), &answers))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(passed)) {
			if _, err := jsonrpc.DecodeMessage([]byte(line)); err != nil || !strings.HasSuffix(line, "\n") {
				t.Errorf("%q was passed on: %v", line, err)
			}
			n++
		}
		for line := range strings.Lines(answers.String()) {
			var a wireAnswer
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.Error.Code == 0 || a.Error.Message == "" {
				t.Errorf("answered with %q: %v", line, err)
			}
			n++
		}
		said := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimSpace(line)) > 0 {
				said++
			}
		}
		if n < said {
			t.Errorf("%d lines came to %d messages and answers", said, n)
		}
	})
}
