package mcp

import (
	"context"
	"errors"
	"io"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/loop/queue"
)

// instructions tell the agent what the tools are for.
const instructions = `Reviews of this git repository, by people and by agents. Request a review with "review", which returns at once. The answer comes minutes or days later, perhaps after this conversation. Do not poll, and do not wait for people: continue your work, and call "review_list" at the start of a conversation or when the user says that the review is there. To address a review: review_claim, review_get, change the code, review_answer with all answers, then review with again for another round. To review yourself: review_diff, review_comment, review_submit. "diagnose" says why a run of the loop stopped and what to do. Long answers come in pages: if one says that there is more, pass its cursor.`

// readOnly replaces the instructions on a read-only server.
const readOnly = `Reviews of this git repository, by people and by agents. You can read them with "review_list", "review_get" and "review_diff". "diagnose" says why a run of the loop stopped. This server records nothing: the user acts on a review, or an agent whose server was started without --read-only. Long answers come in pages: if one says that there is more, pass its cursor.`

// New is a server with all its tools, or those that read.
func New(c screens.Tools) *Server {
	s := &Server{Tools: c, actor: onceNamed()}
	s.schemas = map[string]*jsonschema.Schema{}
	options := &sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{
		Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{},
	}}
	if c.ReadOnly {
		options.Instructions = readOnly
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "git-runr", Title: "git-runr", Version: c.Version}, options)
	s.sdk.AddReceivingMiddleware(s.checked)
	s.addPrompts()
	s.addReading()
	if !c.ReadOnly {
		s.addWriting()
	}
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
		defer queue.Renew(ctx, s.Lease, func(ctx context.Context) (lost bool) { s.renew(ctx); return false })()
	}
	err := s.sdk.Run(ctx, t)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
