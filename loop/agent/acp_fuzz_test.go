package agent

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzACP answers each of our messages with a piece of the data: the conversation ends
// without a panic, and returns an answer only if a response said that the turn ended well.
func FuzzACP(f *testing.F) {
	const hello, session = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"authMethods":[]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`
	const fine = `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"fine"}}}}`
	for _, last := range []string{
		fine + "\n" + `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}`, `{"jsonrpc":"2.0","id":3}`,
		`{"jsonrpc":"2.0","id":3,"result":7}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"x","data":{}}}`, `{"jsonrpc":"2.0","id":"3","result":{}}`,
		`{"jsonrpc":"2.0","id":{},"method":"fs/read_text_file","params":{"path":"/"}}`,
		`{"jsonrpc":"2.0","id":1e999,"method":"x"}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"options":null,"toolCall":{"kind":"edit","locations":[{"path":"/a"}]}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"","kind":"edit","locations":null}}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"7"}}`, "half a mess",
	} {
		f.Add([]byte(hello + "\x00" + session + "\x00" + last))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newConversation(Ask{Role: Implementer, Dir: "/nowhere/at/all", Prompt: "p"}, false, acpForm{})
		server := &fuzzedServer{pieces: bytes.Split(data, []byte{0}), asked: make(chan string, 16)}
		over := make(chan struct{})
		well := false
		go func() {
			defer close(over)
			well = c.talk(server)
		}()
		server.serve(c, over)
		<-over
		answer := c.answer()
		switch {
		case answer.Text != "" && answer.Problem != "", answer.Text == "" && answer.Problem == "":
			t.Errorf("answer %+v", answer)
		case answer.Problem == "" && (!well || !saysEnd(data)):
			t.Errorf("an answer without an end: %q", answer.Text)
		}
	})
}

// saysEnd reports whether a line of data is a response that ends a turn well.
func saysEnd(data []byte) bool {
	for _, line := range bytes.FieldsFunc(data, func(r rune) bool { return r == 0 || r == '\n' }) {
		var m struct{ Result struct{ StopReason string } }
		if json.Unmarshal(line, &m) == nil && m.Result.StopReason == "end_turn" {
			return true
		}
	}
	return false
}

// fuzzedServer sends the next piece for each request, and hangs up after the last piece, or
// after one without an answer.
type fuzzedServer struct {
	pieces [][]byte
	asked  chan string // ids of our requests
}

func (s *fuzzedServer) Write(p []byte) (int, error) {
	var m message
	if json.Unmarshal(p, &m) == nil && m.Method != "" {
		s.asked <- string(m.ID)
	}
	return len(p), nil
}

func (s *fuzzedServer) serve(c *conversation, over <-chan struct{}) {
	defer c.hangUp()
	for _, piece := range s.pieces {
		select {
		case id := <-s.asked:
			if !s.say(c, piece, id) {
				return
			}
		case <-over:
			return
		}
	}
}

// say sends a piece, and reports whether it answered the request.
func (s *fuzzedServer) say(c *conversation, piece []byte, id string) (answered bool) {
	for line := range bytes.Lines(piece) {
		var m message
		if decode(line, &m) && m.Version == "2.0" && m.Method == "" && string(m.ID) == id {
			answered = true
		}
		c.event(bytes.TrimSuffix(line, []byte("\n")))
	}
	return answered
}
