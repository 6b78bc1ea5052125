package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest line that is read, in bytes with its end. Every tool's input is far shorter.
const maxLine = 4 << 20

// messages filters standard input for the protocol's library: it passes on lines with one
// message each. The library would end the connection at anything else, so messages answers
// that itself with a JSON-RPC error, with the id of the request if it is known, and reads on.
type messages struct {
	lines  *bufio.Reader
	answer io.Writer
	ready  []byte // complete lines that are not read yet
}

func newMessages(in io.Reader, answer io.Writer) *messages {
	return &messages{lines: bufio.NewReaderSize(in, 64<<10), answer: answer}
}

func (m *messages) Close() error { return nil }

func (m *messages) Read(p []byte) (int, error) {
	for len(m.ready) == 0 {
		line, long, err := m.line()
		switch line = bytes.TrimSpace(line); {
		case long:
			m.refuse(nil, jsonrpc.CodeParseError, "the line is too long")
		case len(line) > 0:
			m.take(line)
		}
		if err != nil && len(m.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// line reads up to the end of a line. If the line is too long, it skips the rest and sets long.
func (m *messages) line() (line []byte, long bool, err error) {
	for {
		part, err := m.lines.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// take passes on the message of a line, or the messages of a batch one by one.
func (m *messages) take(line []byte) {
	var batch []json.RawMessage
	switch {
	case !json.Valid(line):
		m.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
		return
	case line[0] != '[':
		batch = []json.RawMessage{line}
	case json.Unmarshal(line, &batch) != nil || len(batch) == 0:
		m.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		return
	}
	for _, message := range batch {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			m.refuse(message, jsonrpc.CodeInvalidRequest, "this is not a request, notification or response of JSON-RPC 2.0")
			continue
		}
		if !carried(idOf(message)) {
			m.refuse(nil, jsonrpc.CodeInvalidRequest,
				fmt.Sprintf("the id is neither a whole number below 2^53 nor a text of at most %d bytes", maxID))
			continue
		}
		m.ready = append(append(m.ready, message...), '\n')
	}
}

// maxID is how long an id may be, in bytes.
const maxID = 1000

// idOf returns the id of a message, in its raw form.
func idOf(message []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // an invalid message has no id
	return m.ID
}

// carried reports whether the protocol's library returns the same id: it reads a number as a 64-bit float and makes
// that an integer.
func carried(id json.RawMessage) bool {
	number, err := strconv.ParseFloat(string(id), 64)
	if err != nil && (len(id) == 0 || id[0] == '"' || id[0] == 'n') {
		return len(id) <= maxID
	}
	return err == nil && number == math.Trunc(number) && math.Abs(number) < 1<<53
}

// refuse answers something that is not a message, with its id if it has one.
func (m *messages) refuse(message []byte, code int64, why string) {
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", json.RawMessage("null"), jsonrpc.Error{Code: code, Message: line(why, maxString)}}
	if id := idOf(message); len(id) > 0 && len(id) <= maxID && id[0] != '{' && id[0] != '[' {
		answer.ID = id
	}
	if body, err := json.Marshal(answer); err == nil {
		_, _ = m.answer.Write(append(body, '\n')) // nothing can be done if the client has gone
	}
}

// whole is an output for several writers, each of which writes whole lines. Close does nothing: standard output does
// not belong to the protocol.
type whole struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *whole) Close() error { return nil }

// drained is a transport that ends only after all earlier requests are answered: a client
// may send its last request, close its side, and then read.
type drained struct{ sdk.Transport }

func (d drained) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	return &drainedConn{Connection: conn}, err
}

// drainedConn counts the calls that are not answered yet.
type drainedConn struct {
	sdk.Connection
	pending sync.WaitGroup
}

// drainTime is the longest that the end waits.
const drainTime = 10 * time.Second

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if request, ok := msg.(*jsonrpc.Request); ok && request.IsCall() {
		c.pending.Add(1)
	}
	if errors.Is(err, io.EOF) {
		c.await(ctx)
	}
	return msg, err
}

func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	defer c.pending.Done()
	if response.Error != nil {
		response.Error = told(response.Error)
	}
	return c.Connection.Write(ctx, msg)
}

func (c *drainedConn) await(ctx context.Context) {
	idle := make(chan struct{})
	go func() {
		c.pending.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	case <-time.After(drainTime):
	}
}
