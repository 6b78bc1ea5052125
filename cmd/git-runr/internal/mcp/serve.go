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

// instructions tell the agent what the tools are for, all in one place.
const instructions = `Reviews of this git repository, by people and by agents. A review is asked for with "review", which returns at once; the answer comes minutes or days later, perhaps after this conversation. Do not poll or wait for people: go on, and look with "review_list" when the user says that the review is there, or at the start of a conversation. To address a review: review_claim, review_get, change the code, review_answer with all answers, and review with again to have it looked at once more. To review yourself: review_diff, review_comment, review_submit. "diagnose" says why a run of the loop stopped and what to do. Answers are cut into pages: where one says that there is more, ask with its cursor.`

// readOnly tells it where it may only look.
const readOnly = `Reviews of this git repository, by people and by agents, to be read: "review_list", "review_get", "review_diff", and "diagnose", which says why a run of the loop stopped. This server records nothing: what is to be done about a review the user does, or a server that was started without --read-only. Answers are cut into pages: where one says that there is more, ask with its cursor.`

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
