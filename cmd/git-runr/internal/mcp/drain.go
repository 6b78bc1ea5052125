package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drained is a transport that ends only after all earlier requests are answered: a client
// may send its last request, close its side, and then read.
type drained struct{ sdk.Transport }

func (d drained) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	return &drainedConn{Connection: conn, idle: make(chan struct{}, 1)}, err
}

// drainedConn counts the calls that are not answered yet.
type drainedConn struct {
	sdk.Connection
	mu      sync.Mutex
	pending int
	idle    chan struct{} // receives a value when pending becomes 0
}

// drainTime is the longest that the end waits.
const drainTime = 10 * time.Second

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if request, ok := msg.(*jsonrpc.Request); ok && request.IsCall() {
		c.count(1)
	}
	if errors.Is(err, io.EOF) {
		c.await(ctx)
	}
	return msg, err
}

func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	response, ok := msg.(*jsonrpc.Response)
	if ok && response.Error != nil {
		response.Error = told(response.Error)
	}
	err := c.Connection.Write(ctx, msg)
	if ok {
		c.count(-1)
	}
	return err
}

func (c *drainedConn) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += n
	if c.pending > 0 {
		return
	}
	select {
	case c.idle <- struct{}{}:
	default:
	}
}

func (c *drainedConn) await(ctx context.Context) {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	busy := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.pending > 0
	}
	for busy() {
		select {
		case <-c.idle:
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		}
	}
}
