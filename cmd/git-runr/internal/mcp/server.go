// Package mcp offers the inbox of a repository to coding agents as tools of the Model Context Protocol, on standard
// input and output: review, review_get, review_answer, diagnose and others. The tools do the same as the commands. No
// tool but review_wait waits: an agent requests a review and reads it when it is there.
package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
)

// Server answers the agent at the other end of one connection.
type Server struct {
	screens.Tools
	sdk     *sdk.Server
	schemas map[string]*jsonschema.Schema // of the arguments of each tool
	actor   func(client string) string
	claims  claims
}

// call is one call of a tool.
type call struct {
	*screens.Project
	actor string                                       // the name under which this server acts
	tell  func(message string, done, of time.Duration) // reports progress, if the client requested it
}

// outcome is the result of a tool: text for the model, and a document for clients that prefer one. Both have the same
// content.
type outcome struct {
	text string
	doc  any
}

// handler makes a tool of do. Errors of do are results for the model; only protocol errors are errors of the protocol.
func handler[In any](s *Server, do func(context.Context, call, In) (outcome, error)) sdk.ToolHandlerFor[In, any] {
	return func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		project, err := s.Open(ctx)
		if err != nil {
			return nil, nil, explain(err)
		}
		defer project.Close()
		got, err := do(ctx, call{project, s.actor(clientOf(req)), teller(ctx, req)}, in)
		if err != nil {
			return nil, nil, explain(err)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: bounded(got.text, maxAnswer)}}}, got.doc, nil
	}
}

// ofReview makes a tool of do that works on the review that the arguments name.
func ofReview[In interface{ id() string }](do func(context.Context, call, record.Review, In) (outcome, error),
) func(context.Context, call, In) (outcome, error) {
	return func(ctx context.Context, c call, in In) (outcome, error) {
		review, err := c.Store.Review(ctx, in.id())
		if err != nil {
			return outcome{}, err
		}
		return do(ctx, c, review, in)
	}
}

// teller returns a function that reports the progress of a call, if the client requested that.
func teller(ctx context.Context, req *sdk.CallToolRequest) func(message string, done, of time.Duration) {
	token := req.Params.GetProgressToken()
	return func(message string, done, of time.Duration) {
		if token != nil { // the client may be gone
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message,
				Progress: done.Seconds(), Total: of.Seconds()})
		}
	}
}

// clientOf returns the name of the client program.
func clientOf(req *sdk.CallToolRequest) string {
	info := req.ClientInfo()
	if info == nil || plainName(info.Name) == "" {
		return "agent"
	}
	if version := plainName(info.Version); version != "" {
		return plainName(info.Name) + "/" + version
	}
	return plainName(info.Name)
}

// plainName returns a client's name for itself as one short word.
func plainName(name string) string {
	word := notPlain().ReplaceAllString(strings.ReplaceAll(name, " ", "-"), "")
	return word[:min(len(word), 40)]
}

// notPlain matches what is no part of a plain name.
var notPlain = lazyre.Compile(`[^a-zA-Z0-9._-]+`)

// onceNamed returns a function that names the actor of this process: the same at every call, and different from that
// of every other process, so that two chats cannot share a claim.
func onceNamed() func(client string) string {
	var once sync.Once
	var name string
	return func(client string) string {
		once.Do(func() {
			name = fmt.Sprintf("%s-%d-%s", client, os.Getpid(), strings.ToLower(rand.Text()[:8]))
		})
		return name
	}
}

// claims are the reviews that this process has claimed: id to record.Hold, with actor and claim.
type claims struct{ sync.Map }

// under returns the claim under which actor acts here, or "".
func (c *claims) under(review, actor string) gitstore.ID {
	held, _ := c.Load(review)
	if by, ok := held.(record.Hold); ok && by.Actor == actor {
		return by.Claim
	}
	return ""
}

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

// renew renews every claim once, and forgets those that are no longer ours.
func (s *Server) renew(ctx context.Context) {
	var project *screens.Project
	s.claims.Range(func(key, value any) bool {
		review := key.(string)
		if project == nil {
			var err error
			if project, err = s.Open(ctx); err != nil {
				s.Log("claims are not renewed: %v", err)
				return false
			}
		}
		err := s.renewOne(ctx, project, review, value.(record.Hold))
		if errors.As(err, new(*record.StateError)) || errors.Is(err, gitstore.ErrNotFound) {
			s.claims.Delete(review)
		}
		if err != nil && ctx.Err() == nil {
			s.Log("the claim of review %s is not renewed: %v", review, err)
		}
		return true
	})
	if project != nil {
		project.Close()
	}
}

// renewOne reads the review first, so that a claim taken away by a person is not taken again.
func (s *Server) renewOne(ctx context.Context, p *screens.Project, id string, by record.Hold) error {
	review, err := p.Store.Review(ctx, id)
	if err != nil {
		return err
	}
	if review.Status != record.ReviewClaimed || review.Claim == nil || review.Claim.ID != by.Claim {
		return &record.StateError{What: "review " + id, Status: string(review.Status), Cannot: "renewed"}
	}
	_, provisional, err := p.Claim(ctx, id, by)
	if provisional != "" {
		s.Log("the claim of review %s is renewed in this clone only: %s", id, provisional)
	}
	return err
}
