package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"git-runr/loop"
	"git-runr/loop/record"
)

// instructions tell the agent what the tools are for, all in one place.
const instructions = `Reviews of this git repository, by people and by agents. No tool blocks: "review" asks for a review and returns at once, and the answer comes minutes or days later, perhaps after this conversation. Do not poll or wait for it: go on, and look with "review_inbox" list when the user says that the review is there, or at the start of a conversation. To address a review: claim it, get it, change the code, answer each finding, resolve it. "diagnose" says why a run of the loop stopped and what to do.`

// New is a server with all its tools.
func New(c Config) *Server {
	s := &Server{Config: c, actor: onceNamed()}
	s.claims.held = map[string]record.Hold{}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "git-runr", Title: "git-runr", Version: c.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	sdk.AddTool(s.sdk, reviewTool(), handler(s, s.review))
	sdk.AddTool(s.sdk, inboxTool(), handler(s, s.inbox))
	sdk.AddTool(s.sdk, diagnoseTool(), handler(s, s.diagnose))
	return s
}

// Run serves one client until in ends or ctx does, which is no error. Claims are
// renewed until then and left to lapse.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	shared := &whole{out: out}
	return s.serve(ctx, drained{&sdk.IOTransport{Reader: newMessages(in, shared), Writer: shared}})
}

func (s *Server) serve(ctx context.Context, t sdk.Transport) error {
	if s.Lease > 0 {
		defer loop.Renew(ctx, s.Lease, func(ctx context.Context) (lost bool) { s.renew(ctx); return false })()
	}
	err := s.sdk.Run(ctx, t)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
